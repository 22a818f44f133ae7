//! `cascade simulate`: simulated kernel times in place of the measured ones of a timeline.

use std::path::{Path, PathBuf};

use cascade_accelsim::log::{LogEvent, read_log};
use cascade_api::KernelStat;
use cascade_steps::durations::MAX_DURATIONS_BYTES;
use cascade_steps::mapping::MAX_MAPPING_BYTES;
use cascade_steps::{
    Correction, DigestOptions, Propagate, SimDurations, Source, digest, from_kernels, parse_mapping,
    propagate, simulate,
};
use cascade_worker::Seen;

use super::show;
use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::log::open;
use crate::cli::out::{Out, note};

/// A measured timeline, and where the simulated times come from.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("times").required(true))]
pub(crate) struct Args {
    /// The measured timeline, corrected_timeline.json
    timeline: PathBuf,
    /// Simulated times of launches, sim_durations.json
    #[arg(long, value_name = "FILE", group = "times")]
    durations: Option<PathBuf>,
    /// The log of a simulation, whose kernels --mapping assigns to launches
    #[arg(long, value_name = "FILE", group = "times", requires = "mapping")]
    log: Option<PathBuf>,
    /// Which kernel of the log stands for which launch, kernel_mapping.json
    #[arg(long, value_name = "FILE", requires = "log")]
    mapping: Option<PathBuf>,
    /// The simulated GPU [default: as the durations say]
    #[arg(long, value_name = "NAME")]
    gpu: Option<String>,
    /// The clock that turns cycles into time [default: as the log says]
    #[arg(long, value_name = "MHZ", requires = "log")]
    core_clock_mhz: Option<f64>,
    /// Times for launches that were not simulated: off, identical, interp
    #[arg(long, value_name = "HOW", default_value_t = Propagate::Identical)]
    propagate: Propagate,
    /// Show beside the raw result what it is without this constant, in cycles [default: as the log says]
    #[arg(long, value_name = "CYCLES")]
    launch_constant: Option<u64>,
    /// ... and with this measured time of an empty kernel in its place
    #[arg(long, value_name = "NS", value_parser = t0)]
    t0_ns: Option<f64>,
    /// Write simulated_timeline.json here as well; - is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the times in use, with where each comes from, as sim_durations.json
    #[arg(long, value_name = "FILE")]
    durations_output: Option<PathBuf>,
}

/// An empty kernel's time, as `CASCADE_T0_NS` takes it.
fn t0(text: &str) -> Result<f64, String> {
    let ns: f64 = text.parse().map_err(|error| format!("{error}"))?;
    match (0.0..=1e6).contains(&ns) {
        true => Ok(ns),
        false => Err("must be 0 to 1e6 ns".to_owned()),
    }
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let real = super::timeline(&args.timeline)?;
    let times = Times::read(&args)?;
    if let (Some(given), Some(known)) = (&args.gpu, &times.durations.gpu_config)
        && given != known
    {
        return Err(Fail::usage(format_args!(
            "the times are of {known}, not of {given}: leave --gpu out"
        )));
    }
    let durations = propagate(&real, &times.durations, args.propagate);
    let simulated = simulate(&real, &durations).map_err(Fail::usage)?;
    if let Some(path) = &args.durations_output {
        super::write(path, &durations, out)?;
    }
    if let Some(path) = &args.output {
        super::write(path, &simulated, out)?;
        if path == Path::new("-") {
            return Ok(());
        }
    }
    let gpu = args
        .gpu
        .as_deref()
        .or(durations.gpu_config.as_deref())
        .unwrap_or_default();
    let corrections = corrections(&args, &times);
    let options = DigestOptions {
        gpu_config: gpu,
        real_gpu_config: None,
        corrections: &corrections,
    };
    let digest = digest(&real, &simulated, &options).map_err(Fail::usage)?;
    if out.is_json() {
        return out.json(&digest);
    }
    show::digest(&digest, out)
}

/// Simulated times, and what the log says besides.
struct Times {
    durations: SimDurations,
    launch_constant: Option<u64>,
}

impl Times {
    fn read(args: &Args) -> Result<Self> {
        match (&args.durations, &args.log, &args.mapping) {
            (Some(path), ..) => {
                let json = super::read(path, MAX_DURATIONS_BYTES)?;
                Ok(Self {
                    durations: SimDurations::parse(&json).map_err(Fail::usage)?,
                    launch_constant: None,
                })
            }
            (None, Some(log), Some(mapping)) => Self::from_log(args, log, mapping),
            _ => Err(Fail::usage(
                "give --durations FILE, or --log FILE with --mapping FILE",
            )),
        }
    }

    fn from_log(args: &Args, log: &Path, mapping: &Path) -> Result<Self> {
        let mut seen = Seen::default();
        read_log(open(log)?, |event: LogEvent| seen.take(event)).map_err(Fail::file(log))?;
        let json = super::read(mapping, MAX_MAPPING_BYTES)?;
        let mapping = parse_mapping(&json).map_err(Fail::usage)?;
        let clock = args.core_clock_mhz.or(seen.core_clock_mhz()).ok_or_else(|| {
            Fail::usage(format_args!(
                "{} does not say the core clock (-gpgpu_clock_domains): give --core-clock-mhz",
                log.display()
            ))
        })?;
        let source = Source {
            engine: seen.engine().map(|engine| engine.to_string()),
            gpu_config: args.gpu.clone(),
            core_clock_mhz: clock,
        };
        let kernels: &[KernelStat] = seen.kernels();
        Ok(Self {
            durations: from_kernels(&mapping, kernels, source).map_err(Fail::usage)?,
            launch_constant: seen.launch_latency_cycles(),
        })
    }
}

fn corrections(args: &Args, times: &Times) -> Vec<Correction> {
    let cycles = args
        .launch_constant
        .or(times.launch_constant)
        .filter(|cycles| *cycles > 0);
    let clock = args.core_clock_mhz.or(times.durations.core_clock_mhz);
    let (Some(cycles), Some(clock)) = (cycles, clock.filter(|mhz| *mhz > 0.0)) else {
        if args.t0_ns.is_some() || args.launch_constant.is_some() {
            note(
                "no correction is shown: the times say no launch constant or no clock; give --launch-constant, and \
                 --core-clock-mhz with --log",
            );
        }
        return Vec::new();
    };
    let mut corrections = vec![Correction::launch_constant(cycles, clock)];
    corrections.extend(args.t0_ns.map(|t0| Correction::measured_t0(cycles, clock, t0)));
    corrections
}
