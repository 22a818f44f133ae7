//! Draws the explorer's [`Chart`]s: lines, or layers that stand on each other.

use cascade_scene::explorer::Chart;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{BOTTOM, GRID, HEIGHT, LEFT, PlotError, RIGHT, TEXT, TOP, stand_in, with_theme};

/// A mark of the axis below takes about this many px, with the space around it.
const MARK_PX: f64 = 70.0;

/// The chart as SVG, `width` px wide and [`HEIGHT`] px high.
///
/// # Errors
/// What plotters could not do.
pub(crate) fn svg(chart: &Chart, width: u32) -> Result<String, PlotError> {
    let mut text = String::new();
    draw(chart, width, &mut text).map_err(|error| PlotError(error.to_string()))?;
    Ok(with_theme(text))
}

/// The place along the axis below that a pointer at `x` px stands over: an index of the first line's points.
pub(crate) fn point_at(chart: &Chart, width: u32, x: f64) -> Option<usize> {
    let right = chart.x_ticks.last().copied().filter(|right| *right > 0.0)?;
    let share = (x - f64::from(LEFT)) / super::inner_width(width).max(1.0);
    let place = (-0.01..=1.01).contains(&share).then_some(share * right)?;
    let points = chart.places.first()?.iter().enumerate();
    let nearest = points.min_by(|(_, a), (_, b)| (*a - place).abs().total_cmp(&(*b - place).abs()));
    nearest.map(|(at, _)| at)
}

fn draw(chart: &Chart, width: u32, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, (width, HEIGHT)).into_drawing_area();
    let inner = super::inner_width(width);
    let floor = HEIGHT - BOTTOM;
    let right = chart.x_ticks.last().copied().unwrap_or(1.0);
    let top = chart.y_ticks.last().copied().unwrap_or(1.0);
    let x = |value: f64| (f64::from(LEFT) + value / right * inner).round() as i32;
    let y = |value: f64| (f64::from(floor) - value / top * f64::from(floor - TOP)).round() as i32;
    let label = |at: Pos| ("sans-serif", 11).into_font().color(&TEXT).pos(at);

    for mark in &chart.y_ticks {
        let line = vec![
            (LEFT as i32, y(*mark)),
            ((width - RIGHT.min(width)) as i32, y(*mark)),
        ];
        root.draw(&PathElement::new(line, GRID))?;
        let beside = label(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(
            chart.y_unit.text(*mark),
            (LEFT as i32 - 8, y(*mark)),
            beside,
        ))?;
    }
    let every = (MARK_PX * chart.x_ticks.len() as f64 / inner.max(1.0))
        .ceil()
        .max(1.0) as usize;
    for mark in chart.x_ticks.iter().step_by(every) {
        // The last mark would stand beyond the edge.
        let anchor = if x(*mark) + 24 > width as i32 {
            HPos::Right
        } else {
            HPos::Center
        };
        let below = label(Pos::new(anchor, VPos::Top));
        root.draw(&Text::new(
            chart.x_unit.text(*mark),
            (x(*mark), floor as i32 + 8),
            below,
        ))?;
    }
    let mut ground: Vec<f64> = Vec::new();
    for (line, places) in chart.lines.iter().zip(&chart.places) {
        if !chart.stacked {
            for run in runs(places, &line.heights) {
                let points: Vec<_> = run
                    .into_iter()
                    .map(|(place, height)| (x(place), y(height)))
                    .collect();
                root.draw(&PathElement::new(points, stand_in(line.hue).stroke_width(2)))?;
            }
            continue;
        }
        ground.resize(places.len().max(ground.len()), 0.0);
        let mut outline = Vec::with_capacity(2 * places.len() + 2);
        let mut below = Vec::with_capacity(places.len());
        for ((place, height), base) in places.iter().zip(&line.heights).zip(&mut ground) {
            below.push((x(*place), y(*base)));
            *base += height.unwrap_or(0.0);
            outline.push((x(*place), y(*base)));
        }
        outline.extend(below.into_iter().rev());
        root.draw(&Polygon::new(outline, stand_in(line.hue).filled()))?;
    }
    root.present()?;
    Ok(())
}

/// The parts of a line between its gaps.
fn runs(places: &[f64], heights: &[Option<f64>]) -> Vec<Vec<(f64, f64)>> {
    let mut runs: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for (place, height) in places.iter().zip(heights) {
        match (height, runs.last_mut()) {
            (Some(height), Some(run)) => run.push((*place, *height)),
            (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    // A point by itself would not be seen.
    for run in &mut runs {
        if let [(place, height)] = run[..] {
            run.push((place, height));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use cascade_scene::explorer::{
        Figures, Latency, Over, PerStep, StepLines, TimeLines, cdf, over_time, per_step,
    };

    fn figures() -> Figures {
        Figures {
            quantiles: [vec![1.0, 2.0, 4.0], vec![], vec![], vec![]],
            time: TimeLines {
                at_s: vec![1.0, 2.0, 3.0, 4.0],
                ttft_ms: vec![Some(5.0), None, Some(6.0), Some(7.0)],
                ..TimeLines::default()
            },
            per_step: StepLines {
                steps_per_point: 1,
                prefill: vec![4.0, 0.0],
                decode: vec![1.0, 2.0],
                ..StepLines::default()
            },
            ..Figures::default()
        }
    }

    #[test]
    fn lines_and_layers_are_drawn_in_the_colours_of_the_theme() {
        let figures = figures();
        let sides = [(0, "A", &figures), (1, "B", &figures)];
        let lines = svg(&cdf(&sides, Latency::Ttft), 600).unwrap();
        assert_eq!(
            lines.matches("<polyline").count(),
            2 + 6,
            "a line for each and the grid: {lines}"
        );
        assert!(
            lines.contains("stroke=\"var(--series-1)\"") && !lines.contains("#01000"),
            "{lines}"
        );
        let layers = svg(&per_step(&figures, PerStep::Batch), 600).unwrap();
        assert_eq!(layers.matches("<polygon").count(), 2, "{layers}");
        let gap = svg(&over_time(&sides[..1], Over::Ttft), 600).unwrap();
        assert_eq!(
            gap.matches("stroke-width=\"2\"").count(),
            2,
            "a gap parts the line: {gap}"
        );
    }

    #[test]
    fn a_pointer_finds_the_nearest_point() {
        let figures = figures();
        let chart = over_time(&[(0, "A", &figures)], Over::Ttft);
        assert_eq!(point_at(&chart, 572, 0.0), None);
        assert_eq!(point_at(&chart, 572, 64.0), Some(0));
        assert_eq!(point_at(&chart, 572, 564.0), Some(3));
    }
}
