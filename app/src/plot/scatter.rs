//! Draws a [`Scatter`] as plain SVG: two equal logarithmic axes, the line of agreement with its error bands, points.

use std::fmt::Write;

use cascade_scene::chart::GPU_COLORS;
use cascade_scene::compare::scatter::{INNER, OUTER, Point, Scatter};
use cascade_scene::format;

/// Height of the chart in px.
pub(crate) const HEIGHT: u32 = 380;
/// Room left of the frame for marks, px.
const LEFT: f64 = 64.0;
/// Room right of the frame, px.
const RIGHT: f64 = 16.0;
/// Room above the frame, px.
const TOP: f64 = 12.0;
/// Room below the frame for marks and the axis's name, px.
const BOTTOM: f64 = 40.0;
/// A point this near the pointer is meant, px.
const NEAR: f64 = 16.0;
/// Marks nearer than this would run into each other, px.
const MARK_PX: f64 = 46.0;

/// Times on the screen.
struct Axes {
    low: f64,
    span: f64,
    width: f64,
    height: f64,
}

impl Axes {
    fn new(scatter: &Scatter, width: u32) -> Self {
        let (low, high) = scatter.decades();
        Self {
            low: f64::from(low),
            span: f64::from(high - low),
            width: (f64::from(width) - LEFT - RIGHT).max(1.0),
            height: f64::from(HEIGHT) - TOP - BOTTOM,
        }
    }

    fn x(&self, ns: f64) -> f64 {
        LEFT + (ns.log10() - self.low) / self.span * self.width
    }

    fn y(&self, ns: f64) -> f64 {
        TOP + self.height - (ns.log10() - self.low) / self.span * self.height
    }
}

/// Where a point stands, in px from the chart's upper left corner.
pub(crate) fn place(scatter: &Scatter, width: u32, point: &Point) -> (f64, f64) {
    let axes = Axes::new(scatter, width);
    (axes.x(point.real_ns), axes.y(point.simulated_ns))
}

/// The point under a pointer.
pub(crate) fn nearest(scatter: &Scatter, width: u32, x: f64, y: f64) -> Option<usize> {
    let axes = Axes::new(scatter, width);
    let far = |point: &Point| {
        let (dx, dy) = (axes.x(point.real_ns) - x, axes.y(point.simulated_ns) - y);
        dx * dx + dy * dy
    };
    let all = scatter.points.iter().map(far).enumerate();
    let (at, far) = all.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (far <= NEAR * NEAR).then_some(at)
}

/// The chart as SVG, `width` px wide and [`HEIGHT`] px high, in the theme's colours.
pub(crate) fn svg(scatter: &Scatter, width: u32) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    _ = draw(scatter, width, &mut out);
    out
}

fn draw(scatter: &Scatter, width: u32, out: &mut String) -> std::fmt::Result {
    let axes = Axes::new(scatter, width);
    let (low, high) = (10_f64.powf(axes.low), 10_f64.powf(axes.low + axes.span));
    let (left, right, top, floor) = (axes.x(low), axes.x(high), axes.y(high), axes.y(low));
    write!(
        out,
        "<svg width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\" font-size=\"11\" fill=\"var(--text-2)\">"
    )?;
    for (band, opacity) in [(OUTER, 0.10), (INNER, 0.16)] {
        let corners = [
            (low, low),
            (low, low * (1.0 + band)),
            (high / (1.0 + band), high),
            (high, high),
            (high, high * (1.0 - band)),
            (low / (1.0 - band), low),
        ];
        write!(
            out,
            "<polygon fill=\"var(--good)\" fill-opacity=\"{opacity}\" points=\""
        )?;
        for (real, simulated) in corners {
            write!(out, "{:.1},{:.1} ", axes.x(real), axes.y(simulated))?;
        }
        write!(out, "\"/>")?;
    }
    let every = (MARK_PX / (axes.width / axes.span)).ceil().max(1.0) as usize;
    for decade in 0..=axes.span as usize {
        let ns = 10_f64.powf(axes.low + decade as f64);
        let (x, y) = (axes.x(ns), axes.y(ns));
        let text = format::duration_ns(ns);
        write!(
            out,
            "<path stroke=\"var(--line)\" d=\"M{left:.1} {y:.1}H{right:.1}M{x:.1} {top:.1}V{floor:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            left - 8.0,
            y + 4.0
        )?;
        if decade % every == 0 {
            // The last mark would stand beyond the edge.
            let anchor = if x + 20.0 > f64::from(width) {
                "end"
            } else {
                "middle"
            };
            write!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>",
                floor + 16.0
            )?;
        }
    }
    write!(
        out,
        "<path stroke=\"var(--line-strong)\" fill=\"none\" d=\"M{left:.1} {floor:.1}L{right:.1} {top:.1}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">real</text>\
         <text transform=\"translate(10 {:.1}) rotate(-90)\" text-anchor=\"middle\">simulated</text>",
        f64::midpoint(left, right),
        floor + 34.0,
        f64::midpoint(top, floor)
    )?;
    for point in &scatter.points {
        write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"var(--series-{})\" fill-opacity=\"0.8\" \
             stroke=\"var(--surface)\"/>",
            axes.x(point.real_ns),
            axes.y(point.simulated_ns),
            point.side % GPU_COLORS
        )?;
    }
    write!(out, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter() -> Scatter {
        let point = |side: usize, real_ns: f64, simulated_ns: f64| Point {
            side,
            name: "<k>".into(),
            launches: 1,
            real_ns,
            simulated_ns,
        };
        Scatter {
            points: vec![point(0, 10.0, 100.0), point(9, 1000.0, 1000.0)],
            ..Scatter::default()
        }
    }

    #[test]
    fn points_stand_on_equal_axes_and_no_name_is_drawn() {
        let svg = svg(&scatter(), 500);
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert!(svg.contains("var(--series-1)"), "colours repeat: {svg}");
        assert!(!svg.contains("<k>"), "names are read out, never drawn");
        let (x, y) = place(&scatter(), 500, &scatter().points[1]);
        assert!((x - 484.0).abs() < 0.1 && (y - TOP).abs() < 0.1, "{x} {y}");
    }

    #[test]
    fn a_pointer_finds_the_nearest_point() {
        let scatter = scatter();
        let (x, y) = place(&scatter, 500, &scatter.points[0]);
        assert_eq!(nearest(&scatter, 500, x + 5.0, y - 5.0), Some(0));
        assert_eq!(nearest(&scatter, 500, x + 50.0, y), None);
    }
}
