//! Prints how much faster a second identical run is, on the demo's trace:
//! `cargo run --release -p cascade-worker --example reuse_speed [PAIRS [STEPS]]`.
//!
//! Wall-clock time and the process's CPU time are given; on a busy machine the latter is the better one.
//! Each pair empties the cache's folder, runs once and runs again, in this process, on one thread, with the
//! trace's files at rest and in the page cache. Then come runs without a cache and passes that only identify.

#![expect(clippy::print_stdout, reason = "a measuring program prints its result")]

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use cascade_accelsim::synth::{Arch, model_like};
use cascade_accelsim::trace::TraceFormat;
use cascade_engine::{GpuModel, Options};
use rustix::time::{ClockId, clock_gettime};

use cascade_worker::simulate::{Cache, Dedup, GpuDirs, Kernels, Plan, Reuse, Step, find_gpu, simulate};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The trace that `cargo xtask demo` simulates, with one forward pass.
fn synthesise(dir: &Path, steps: u32) -> Result<Kernels> {
    fs::create_dir_all(dir)?;
    let trace = model_like("opt-125m", steps, Arch::new(90)?)?;
    for index in 0..trace.kernels().len() {
        let file = File::create(dir.join(trace.file_name(index, TraceFormat::Packed)))?;
        trace.write_kernel(index, std::io::BufWriter::new(file), TraceFormat::Packed)?;
    }
    let list = dir.join("kernelslist.g");
    fs::write(&list, trace.kernels_list(TraceFormat::Packed))?;
    Ok(Kernels::from_list(&list)?)
}

/// Wall-clock and CPU time.
#[derive(Clone, Copy)]
struct Spent([f64; 2]);

/// Milliseconds that `work` takes.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(Spent, T)> {
    let cpu = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(
            time.tv_sec.unsigned_abs(),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    };
    let (started, cpu_started) = (Instant::now(), cpu());
    let result = work()?;
    let spent = [started.elapsed(), cpu() - cpu_started].map(|time| time.as_secs_f64() * 1e3);
    Ok((Spent(spent), result))
}

/// How many results of a run were kept ones.
fn run(kernels: &Kernels, gpu: &GpuModel, dedup: Dedup, cache: Option<&Cache>) -> Result<usize> {
    let mut cached = 0;
    let verify = 0;
    let reuse = Reuse { dedup, verify, cache };
    simulate(
        kernels,
        gpu,
        &Options::default(),
        reuse,
        1,
        &|| false,
        &mut |step| {
            if let Step::Finished { origin, .. } = step {
                cached += usize::from(origin.cached);
            }
            Ok(())
        },
    )?;
    Ok(cached)
}

/// The middle one, or the median's neighbour above.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<()> {
    let number = |at: usize, default: u32| std::env::args().nth(at).map_or(Ok(default), |text| text.parse());
    let (pairs, steps) = (number(1, 21)?, number(2, 1)?);
    let dir = std::env::temp_dir().join(format!("cascade-reuse-speed-{}", std::process::id()));
    let kernels = synthesise(&dir.join("trace"), steps)?;
    let count = kernels.list.kernels().count();
    let gpu = find_gpu("SM90_H100", &GpuDirs::default())?.model;
    // Files that were just written are read in full to be sure of them.
    std::thread::sleep(Duration::from_millis(2500));
    let (mut runs, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let folder = dir.join("cache");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        // A cache for each run, as each process has its own.
        let (cold, none) = timed(|| run(&kernels, &gpu, Dedup::Content, Some(&Cache::new(&folder))))?;
        let (warm, all) = timed(|| run(&kernels, &gpu, Dedup::Content, Some(&Cache::new(&folder))))?;
        assert_eq!((none, all), (0, count));
        runs.push((cold.0, warm.0));
        let (off, _) = timed(|| run(&kernels, &gpu, Dedup::Off, None))?;
        let (identify, _) = timed(|| Ok(Plan::new(&kernels, Reuse::default(), 1, &|| false, &mut || {})?))?;
        plain.push((off.0, identify.0));
    }
    println!("{count} kernels, medians of {pairs} pairs");
    for (at, name) in ["wall clock", "CPU time"].into_iter().enumerate() {
        println!(
            "{name}: first run {:.2} ms, second {:.2} ms, {:.0} times; without cache and dedup {:.2} ms, identifying \
             alone {:.2} ms",
            median(runs.iter().map(|(cold, _)| cold[at])),
            median(runs.iter().map(|(_, warm)| warm[at])),
            median(runs.iter().map(|(cold, warm)| cold[at] / warm[at])),
            median(plain.iter().map(|(off, _)| off[at])),
            median(plain.iter().map(|(_, identify)| identify[at])),
        );
    }
    fs::remove_dir_all(&dir)?;
    Ok(())
}
