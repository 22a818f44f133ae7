//! Draws charts as SVG with plotters: a [`BarChart`] here, stacked bars in [`stack`]. Called in the browser only: plotters measures text there, so a
//! server would lay the same chart out differently.

pub(crate) mod line;
pub(crate) mod scatter;
pub(crate) mod stack;

use cascade_scene::chart::{BarChart, GPU_COLORS, Hue};
use cascade_scene::format;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Height of a chart in px.
pub(crate) const HEIGHT: u32 = 240;
/// Narrowest bar in px.
pub(crate) const MIN_BAR: f64 = 3.0;
/// Room for the marks of the time axis, px.
const LEFT: u32 = 64;
/// Room right of the bars, px.
const RIGHT: u32 = 8;
/// Room above the highest mark, px.
const TOP: u32 = 10;
/// Room for the kernels' numbers, px.
const BOTTOM: u32 = 24;
/// A number below the bars takes about this many px, with the space around it.
const LABEL_PX: f64 = 48.0;

/// Stand-ins for the theme's colours: the SVG is made with them and then refers to the style sheet instead, so
/// that a chart follows the theme without being drawn again.
const GPUS: [RGBColor; GPU_COLORS] = [
    RGBColor(1, 0, 0),
    RGBColor(1, 0, 1),
    RGBColor(1, 0, 2),
    RGBColor(1, 0, 3),
    RGBColor(1, 0, 4),
    RGBColor(1, 0, 5),
    RGBColor(1, 0, 6),
    RGBColor(1, 0, 7),
];
const REAL: RGBColor = RGBColor(1, 1, 0);
const GRID: RGBColor = RGBColor(2, 0, 0);
const TEXT: RGBColor = RGBColor(3, 0, 0);

/// Why a chart could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("plotters: {0}")]
pub(crate) struct PlotError(String);

/// Width that is left for the bars.
pub(crate) fn inner_width(width: u32) -> f64 {
    f64::from(width.saturating_sub(LEFT + RIGHT))
}

/// The group under a pointer at `x` px from the chart's left edge.
pub(crate) fn group_at(x: f64, width: u32, groups: usize) -> Option<usize> {
    let place = (x - f64::from(LEFT)) / inner_width(width).max(1.0);
    let group = (place * groups as f64) as usize;
    (0.0..1.0).contains(&place).then_some(group)
}

/// The chart as SVG, `width` px wide and [`HEIGHT`] px high.
///
/// # Errors
/// What plotters could not do.
pub(crate) fn svg(chart: &BarChart, width: u32) -> Result<String, PlotError> {
    let mut text = String::new();
    draw(chart, width, &mut text).map_err(|error| PlotError(error.to_string()))?;
    Ok(with_theme(text))
}

/// Draws with stand-in colours: marks and lines of the time axis, a bar for each value, numbers below.
fn draw(chart: &BarChart, width: u32, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, (width, HEIGHT)).into_drawing_area();
    let groups = chart.groups.len().max(1) as f64;
    let left = f64::from(LEFT);
    let floor = f64::from(HEIGHT - BOTTOM);
    let x = |place: f64| (left + place / groups * inner_width(width)).round() as i32;
    let y = |ns: f64| (floor - ns / chart.top_ns * (floor - f64::from(TOP))).round() as i32;
    let label = |at: Pos| ("sans-serif", 11).into_font().color(&TEXT).pos(at);

    let beside = label(Pos::new(HPos::Right, VPos::Center));
    for ns in &chart.ticks {
        root.draw(&PathElement::new(
            vec![(x(0.0), y(*ns)), (x(groups), y(*ns))],
            GRID,
        ))?;
        root.draw(&Text::new(
            format::duration_ns(*ns),
            (x(0.0) - 8, y(*ns)),
            beside.clone(),
        ))?;
    }
    // One bar's width is left between groups.
    let bar = 1.0 / (chart.series.len() + 1) as f64;
    for (group, place) in chart.groups.iter().zip(0_u32..) {
        for (i, value) in group.values.iter().enumerate() {
            let Some(ns) = value else { continue };
            let color = stand_in(chart.color(i));
            let from = f64::from(place) + bar * (i as f64 + 0.5);
            let (from, to) = (x(from), x(from + bar).max(x(from) + 1));
            root.draw(&Rectangle::new([(from, y(*ns)), (to, y(0.0))], color.filled()))?;
        }
    }
    let below = label(Pos::new(HPos::Center, VPos::Top));
    let every = (LABEL_PX * groups / inner_width(width).max(1.0)).ceil().max(1.0) as usize;
    for (place, group) in chart.groups.iter().enumerate().step_by(every) {
        let number = group
            .label
            .split([' ', '–'])
            .next()
            .unwrap_or_default()
            .to_owned();
        root.draw(&Text::new(
            number,
            (x(place as f64 + 0.5), y(0.0) + 8),
            below.clone(),
        ))?;
    }
    root.present()?;
    Ok(())
}

/// The stand-in for a colour of the theme.
fn stand_in(color: Hue) -> RGBColor {
    match color {
        Hue::Real => REAL,
        Hue::Gpu(n) => GPUS.get(n).copied().unwrap_or(REAL),
        Hue::Host => RGBColor(4, 0, 0),
        Hue::Gap => RGBColor(4, 0, 1),
        Hue::Unmodeled => RGBColor(4, 0, 2),
        Hue::Rest => RGBColor(4, 0, 3),
    }
}

/// Puts the style sheet's colours in place of the stand-ins.
fn with_theme(mut text: String) -> String {
    let hex = |RGBColor(r, g, b): RGBColor| format!("#{r:02X}{g:02X}{b:02X}");
    let parts = [Hue::Real, Hue::Host, Hue::Gap, Hue::Unmodeled, Hue::Rest];
    for color in (0..GPU_COLORS).map(Hue::Gpu).chain(parts) {
        text = text.replace(&hex(stand_in(color)), &format!("var(--{})", color.name()));
    }
    text.replace(&hex(GRID), "var(--line)")
        .replace(&hex(TEXT), "var(--text-2)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cascade_scene::chart::Group;

    #[test]
    fn a_chart_has_a_bar_for_each_value_and_only_theme_colours() {
        let chart = BarChart {
            series: vec!["H100".into(), "H200".into()],
            groups: vec![
                Group {
                    label: "0 a".into(),
                    values: vec![Some(1.0), Some(2.0)],
                },
                Group {
                    label: "1 b".into(),
                    values: vec![Some(3.0), None],
                },
            ],
            kernels_per_group: 1,
            top_ns: 4.0,
            ticks: vec![0.0, 2.0, 4.0],
        };
        let svg = svg(&chart, 600).unwrap();
        assert_eq!(svg.matches("fill=\"var(--series-0)\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("fill=\"var(--series-1)\"").count(), 1);
        assert!(
            !svg.contains("#01000") && !svg.contains("#02000"),
            "a stand-in colour is left: {svg}"
        );
        assert!(svg.contains("2\u{a0}ns"), "the axis is marked");
    }

    #[test]
    fn a_pointer_finds_its_group() {
        assert_eq!(group_at(0.0, 572, 10), None, "left of the bars");
        assert_eq!(group_at(64.0, 572, 10), Some(0));
        assert_eq!(group_at(563.9, 572, 10), Some(9));
        assert_eq!(group_at(572.0, 572, 10), None);
    }
}
