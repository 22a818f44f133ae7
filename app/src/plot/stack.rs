//! Draws a [`StackChart`]: a bar across the chart for each GPU, its name and total above it.

use cascade_scene::format;
use cascade_scene::request::stack::StackChart;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{GRID, PlotError, TEXT, stand_in, with_theme};

/// Room left of the bars and right of them, for half a mark of the axis, px.
const SIDE: u32 = 26;
/// Height of a bar's name, px.
const NAME: u32 = 20;
/// Height of a bar, px.
const BAR: u32 = 22;
/// Room below a bar, px.
const BELOW: u32 = 12;
/// Room for the marks of the time axis, px.
const AXIS: u32 = 22;
/// A mark of the axis takes about this many px, with the space around it.
const MARK_PX: f64 = 70.0;

/// Height of a chart with so many bars, px.
pub(crate) fn height(bars: usize) -> u32 {
    u32::try_from(bars)
        .unwrap_or(u32::MAX)
        .saturating_mul(NAME + BAR + BELOW)
        .saturating_add(AXIS)
}

/// Bar and layer under a pointer at `x`, `y` px from the chart's upper left corner.
pub(crate) fn part_at(chart: &StackChart, width: u32, x: f64, y: f64) -> Option<(usize, usize)> {
    let row = (y / f64::from(NAME + BAR + BELOW)).floor();
    let bar = (row >= 0.0).then_some(row as usize)?;
    let place = (x - f64::from(SIDE)) / inner(width);
    let ns = (place >= 0.0).then_some(place * chart.top_ns)?;
    Some((bar, chart.bars.get(bar)?.layer_at(ns)?))
}

/// The chart as SVG, `width` px wide and [`height`] px high.
///
/// # Errors
/// What plotters could not do.
pub(crate) fn svg(chart: &StackChart, width: u32) -> Result<String, PlotError> {
    let mut text = String::new();
    draw(chart, width, &mut text).map_err(|error| PlotError(error.to_string()))?;
    Ok(with_theme(text))
}

/// Width of the longest bar there can be.
fn inner(width: u32) -> f64 {
    f64::from(width.saturating_sub(2 * SIDE)).max(1.0)
}

/// Draws with stand-in colours: the axis with its lines, then each bar with its name and total.
fn draw(chart: &StackChart, width: u32, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let height = height(chart.bars.len());
    let root = SVGBackend::with_string(text, (width, height)).into_drawing_area();
    let x = |ns: f64| (f64::from(SIDE) + ns / chart.top_ns * inner(width)).round() as i32;
    let label = |at: Pos| ("sans-serif", 11).into_font().color(&TEXT).pos(at);
    let floor = (height - AXIS) as i32;

    let every = (MARK_PX * chart.ticks.len() as f64 / inner(width))
        .ceil()
        .max(1.0) as usize;
    for ns in chart.ticks.iter().step_by(every) {
        root.draw(&PathElement::new(vec![(x(*ns), 0), (x(*ns), floor)], GRID))?;
        let below = label(Pos::new(HPos::Center, VPos::Top));
        root.draw(&Text::new(format::duration_ns(*ns), (x(*ns), floor + 6), below))?;
    }
    let mut top = 0;
    for bar in &chart.bars {
        let line = top + (NAME / 2) as i32;
        let (left, right) = (HPos::Left, HPos::Right);
        root.draw(&Text::new(
            bar.label.clone(),
            (x(0.0), line),
            label(Pos::new(left, VPos::Center)),
        ))?;
        root.draw(&Text::new(
            chart.unit().text(bar.total_ns()),
            (x(chart.top_ns), line),
            label(Pos::new(right, VPos::Center)),
        ))?;
        let (upper, lower) = (top + NAME as i32, top + (NAME + BAR) as i32);
        let mut from = 0.0;
        for (part, layer) in bar.parts.iter().zip(&chart.layers) {
            let to = from + part.unwrap_or(0.0);
            if x(to) > x(from) {
                let color = stand_in(layer.hue).filled();
                root.draw(&Rectangle::new([(x(from), upper), (x(to), lower)], color))?;
            }
            from = to;
        }
        top += (NAME + BAR + BELOW) as i32;
    }
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cascade_scene::chart::Hue;
    use cascade_scene::request::stack::{Bar, Layer};

    fn chart() -> StackChart {
        let layer = |name: &str, hue| Layer {
            name: name.into(),
            hue,
        };
        let bar = |label: &str, parts: [f64; 3]| Bar {
            label: label.into(),
            real: false,
            parts: parts.map(Some).to_vec(),
        };
        StackChart {
            layers: vec![
                layer("Host", Hue::Host),
                layer("Attention", Hue::Gpu(7)),
                layer("rest", Hue::Rest),
            ],
            bars: vec![bar("Real", [700.0, 200.0, 0.0]), bar("H100", [700.0, 300.0, 0.0])],
            top_ns: 1000.0,
            ticks: vec![0.0, 500.0, 1000.0],
        }
    }

    #[test]
    fn each_part_is_drawn_in_a_theme_colour_and_an_empty_one_is_not() {
        let svg = svg(&chart(), 652).unwrap();
        assert_eq!(svg.matches("fill=\"var(--part-host)\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("fill=\"var(--series-7)\"").count(), 2);
        assert_eq!(svg.matches("var(--part-rest)").count(), 0);
        assert!(!svg.contains("#01000") && !svg.contains("#04000"), "{svg}");
        assert!(svg.contains("1.0\u{a0}µs"), "the total is written: {svg}");
    }

    #[test]
    fn a_pointer_finds_bar_and_part() {
        let chart = chart();
        let x = |ns: f64| 26.0 + ns / 1000.0 * 600.0;
        assert_eq!(part_at(&chart, 652, x(10.0), 30.0), Some((0, 0)));
        assert_eq!(part_at(&chart, 652, x(950.0), 60.0), Some((1, 1)));
        assert_eq!(
            part_at(&chart, 652, x(950.0), 30.0),
            None,
            "right of the shorter bar"
        );
        assert_eq!(part_at(&chart, 652, x(10.0), 500.0), None);
        assert_eq!(part_at(&chart, 652, 3.0, 30.0), None);
    }
}
