//! Marks of the time axis.

use super::scene::{Align, Scene};
use super::view::View;
use crate::format;

/// Room for one mark's label, in px.
const LABEL_PX: f64 = 96.0;

/// A mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where, in ns.
    pub time: f64,
    /// What stands there.
    pub label: String,
}

/// Marks of a view that is `width` px wide: round times, or kernel numbers where lanes are lined up by them.
pub fn ticks(scene: &Scene, view: View, width: f64) -> Vec<Tick> {
    match scene.align() {
        Align::Time => by_time(view, width),
        Align::Kernel => by_kernel(scene.slots(), view, width),
    }
}

/// Round times.
fn by_time(view: View, width: f64) -> Vec<Tick> {
    let most = (width / LABEL_PX).floor().max(1.0);
    let step = step(view.span() / most);
    let first = (view.from / step).ceil();
    let mut ticks = Vec::new();
    for i in 0..=most as u32 {
        let time = (first + f64::from(i)) * step;
        if time > view.to {
            break;
        }
        ticks.push(Tick {
            time,
            label: label(time, step),
        });
    }
    ticks
}

/// Kernel numbers at the places where they begin.
fn by_kernel(slots: &[f64], view: View, width: f64) -> Vec<Tick> {
    let apart = view.span() / width.max(1.0) * LABEL_PX;
    let mut ticks = Vec::new();
    let last = slots.len().saturating_sub(1);
    let mut at = slots.partition_point(|slot| *slot < view.from);
    while let Some(time) = slots
        .get(at)
        .copied()
        .filter(|time| at < last && *time <= view.to)
    {
        ticks.push(Tick {
            time,
            label: format!("#{}", format::launch(at as u64)),
        });
        at = slots.partition_point(|slot| *slot < time + apart).max(at + 1);
    }
    ticks
}

/// The next of 1, 2 and 5 times a power of ten.
fn step(raw: f64) -> f64 {
    let raw = raw.max(1e-3);
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let steps = [1.0, 2.0, 5.0].map(|n| n * power);
    steps
        .into_iter()
        .find(|step| *step >= raw)
        .unwrap_or(10.0 * power)
}

/// A time with as many decimals as the marks differ in.
fn label(time: f64, step: f64) -> String {
    let (unit, size) = match time.max(step) {
        t if t < 1e3 => ("ns", 1.0),
        t if t < 1e6 => ("µs", 1e3),
        t if t < 1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let decimals = (0..9).find(|n| step / size * libm::pow(10.0, f64::from(*n)) >= 0.999);
    format::fixed(time / size, decimals.unwrap_or(9) as usize, unit)
}
