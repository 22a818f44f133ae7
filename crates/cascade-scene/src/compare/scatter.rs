//! Simulated against real time on logarithmic axes, for columns whose GPU is the measured one.

use cascade_api::{GpuName, StepDigest, TraceSummary};

use super::Side;
use super::lines::Lines;

/// Points shown for one column; the longest kernels come first.
pub const MOST_POINTS: usize = 250;
/// The inner error band, as a fraction of real time.
pub const INNER: f64 = 0.10;
/// The outer error band.
pub const OUTER: f64 = 0.20;

/// Said where the measured GPU is another one.
const OTHER_GPU: &str = "the real times are of another GPU, so nothing says how far off this one is";
/// Said where the trace came from no GPU.
const SYNTHETIC: &str = "the trace is synthetic, so there are no real times";
/// Said where nothing was measured.
const NOTHING: &str = "no real timing came with the trace";

/// One kernel or kernel group of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Place of the column.
    pub side: usize,
    /// What it is.
    pub name: String,
    /// Launches behind it.
    pub launches: u64,
    /// Mean measured time of a launch in ns.
    pub real_ns: f64,
    /// Mean simulated time of a launch in ns.
    pub simulated_ns: f64,
}

impl Point {
    /// `(simulated - real) / real`.
    pub fn error(&self) -> f64 {
        (self.simulated_ns - self.real_ns) / self.real_ns
    }
}

/// How well one column agrees with real time.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Mean of |simulated − real| / real, over `count` of what `basis` says.
    pub mean_abs_error: f64,
    /// Fraction of them within the inner band.
    pub within_inner: f64,
    /// Fraction of them within the outer band.
    pub within_outer: f64,
    /// How many were compared.
    pub count: usize,
    /// What was compared, and where the real times come from.
    pub basis: String,
}

/// Every column's points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// The points, column by column, the longest real time first.
    pub points: Vec<Point>,
    /// For each column how well it agrees, or why that cannot be said.
    pub columns: Vec<Result<Agreement, String>>,
    /// Points that are left out as there are too many.
    pub left_out: usize,
}

/// What a column offers for the scatter.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its kernels.
    pub side: Side<'a>,
    /// Its trace.
    pub trace: &'a TraceSummary,
    /// Its predicted steps, which measured means of groups come with.
    pub digest: Option<&'a StepDigest>,
}

impl Source<'_> {
    /// The GPU it simulates.
    const fn gpu(&self) -> &GpuName {
        &self.side.column.gpu_config
    }
}

impl Scatter {
    /// The points of all columns. Measured kernels come first; without any, the group means of a step timeline.
    pub fn new(sources: &[Source<'_>]) -> Self {
        let mut scatter = Self::default();
        for (place, source) in sources.iter().enumerate() {
            let other = source
                .trace
                .real_gpu_config
                .as_ref()
                .is_some_and(|gpu| gpu != source.gpu());
            let kernels = kernels(place, &source.side);
            let found = if source.trace.synthetic {
                Err(SYNTHETIC.to_owned())
            } else if other {
                Err(OTHER_GPU.to_owned())
            } else if let Some((points, agreement)) = kernels {
                Ok((points, agreement))
            } else {
                groups(place, source.digest)
            };
            match found {
                Ok((mut points, agreement)) => {
                    points.sort_by(|a, b| b.total_ns().total_cmp(&a.total_ns()));
                    scatter.left_out += points.len().saturating_sub(MOST_POINTS);
                    points.truncate(MOST_POINTS);
                    scatter.points.extend(points);
                    scatter.columns.push(Ok(agreement));
                }
                Err(why) => scatter.columns.push(Err(why)),
            }
        }
        scatter
    }

    /// The ends of both axes in ns: powers of ten around every point, at least one decade.
    pub fn decades(&self) -> (i32, i32) {
        let all = || {
            self.points
                .iter()
                .flat_map(|point| [point.real_ns, point.simulated_ns])
        };
        let low = all().fold(f64::INFINITY, f64::min);
        let high = all().fold(0.0, f64::max);
        if !(low > 0.0 && low.is_finite() && high.is_finite()) {
            return (0, 1);
        }
        let low = libm::floor(libm::log10(low)) as i32;
        let high = libm::ceil(libm::log10(high)) as i32;
        (low, high.max(low + 1))
    }
}

impl Point {
    /// Measured time of all its launches in ns.
    fn total_ns(&self) -> f64 {
        self.real_ns * self.launches as f64
    }
}

/// Points of measured kernels, one for each distinct kernel; the agreement is over single launches.
fn kernels(place: usize, side: &Side<'_>) -> Option<(Vec<Point>, Agreement)> {
    let lines = Lines::new(std::slice::from_ref(side));
    let mut sums: Vec<(u64, f64, f64)> = vec![(0, 0.0, 0.0); lines.kernels.len()];
    let mut errors = Vec::new();
    for ((kernel, cells), real) in lines.iter().zip(&side.kernels.real_ns) {
        let real = real.filter(|real| real.is_finite() && *real > 0.0);
        let (Some(real), Some(ns)) = (real, cells.first().and_then(|cell| cell.ns)) else {
            continue;
        };
        errors.push((ns - real) / real);
        if let Some((launches, real_ns, simulated_ns)) = sums.get_mut(kernel) {
            *launches += 1;
            *real_ns += real;
            *simulated_ns += ns;
        }
    }
    let point = |((launches, real, simulated), kernel): ((u64, f64, f64), &super::lines::Kernel)| {
        let count = launches as f64;
        (launches > 0 && simulated > 0.0).then(|| Point {
            side: place,
            name: kernel.name.clone(),
            launches,
            real_ns: real / count,
            simulated_ns: simulated / count,
        })
    };
    let points = sums.into_iter().zip(&lines.kernels).filter_map(point).collect();
    let basis = "single launches against the trace's real timing".to_owned();
    Some((points, agreement(&errors, basis)?))
}

/// Points of kernel groups whose launches were measured one by one in a step timeline.
fn groups(place: usize, digest: Option<&StepDigest>) -> Result<(Vec<Point>, Agreement), String> {
    let digest = digest.ok_or_else(|| NOTHING.to_owned())?;
    if digest.counterfactual {
        return Err(OTHER_GPU.to_owned());
    }
    let point = |group: &cascade_api::GroupDigest| {
        let positive = |ns: Option<f64>| ns.filter(|ns| ns.is_finite() && *ns > 0.0);
        Some(Point {
            side: place,
            name: group.group.clone(),
            launches: group.launches,
            real_ns: positive(group.mean_ns.real)?,
            simulated_ns: positive(group.mean_ns.simulated)?,
        })
    };
    let points: Vec<Point> = digest.groups.iter().filter_map(point).collect();
    let errors: Vec<f64> = points.iter().map(Point::error).collect();
    let note = digest.note.as_deref().map(|note| format!(" ({note})"));
    let basis = format!(
        "means of kernel groups, unweighted, against the kernel times of the step timeline{}",
        note.unwrap_or_default()
    );
    let agreement = agreement(&errors, basis).ok_or_else(|| NOTHING.to_owned())?;
    Ok((points, agreement))
}

/// The mean absolute error; `None` without any error.
fn agreement(errors: &[f64], basis: String) -> Option<Agreement> {
    let count = errors.len();
    let share = |band: f64| {
        let within = errors.iter().filter(|error| error.abs() <= band).count();
        within as f64 / count as f64
    };
    (count > 0).then(|| Agreement {
        mean_abs_error: errors.iter().map(|error| error.abs()).sum::<f64>() / count as f64,
        within_inner: share(INNER),
        within_outer: share(OUTER),
        count,
        basis,
    })
}

#[cfg(test)]
mod tests;
