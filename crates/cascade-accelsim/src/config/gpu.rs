//! The typed view of a config: what a timing engine needs.

use serde::Serialize;

use super::hash::integer;
use super::{Cache, Config, Place, Problem, Severity, TraceLatencies};

/// Clocks in MHz.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clocks {
    /// SMs.
    pub core_mhz: f64,
    /// Interconnect.
    pub icnt_mhz: f64,
    /// L2.
    pub l2_mhz: f64,
    /// DRAM command clock.
    pub dram_mhz: f64,
}

/// Execution units per SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnitCounts {
    /// Single precision.
    pub sp: u32,
    /// Double precision.
    pub dp: u32,
    /// Integer.
    pub int: u32,
    /// Special functions.
    pub sfu: u32,
    /// Tensor cores.
    pub tensor: u32,
    /// Load and store.
    pub mem: u32,
}

/// A GPU as a config describes it. Options that a file leaves out have the simulator's defaults
/// (gpgpu-sim's option registration); clocks, SMs, memory channels, threads and L2 must be given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuConfig {
    /// Clock domains.
    pub clocks: Clocks,
    /// SIMT clusters.
    pub clusters: u32,
    /// SMs in a cluster.
    pub cores_per_cluster: u32,
    /// Memory channels.
    pub n_mem: u32,
    /// L2 slices of a channel.
    pub sub_partitions: u32,
    /// `-gpgpu_memory_partition_indexing`: 0 consecutive, 1 xor, 2 IPOLY, 3 PAE, 4 random, others newer.
    pub partition_indexing: u32,
    /// L1 data cache of an SM.
    pub dl1: Option<Cache>,
    /// One L2 slice.
    pub dl2: Option<Cache>,
    /// L1 and shared memory together, KB; none where the split is fixed.
    pub unified_l1d_kb: Option<u32>,
    /// Whether the split follows each kernel's shared memory.
    pub adaptive_l1: bool,
    /// Shared memory sizes to choose from, KB.
    pub shmem_options_kb: Vec<u32>,
    /// Whether global loads skip L1.
    pub skip_l1: bool,
    /// L1 hit, core cycles.
    pub l1_latency: u32,
    /// Shared memory, core cycles.
    pub smem_latency: u32,
    /// L2 pipeline, L2 cycles.
    pub l2_rop_latency: u32,
    /// DRAM, added to its timing, DRAM cycles.
    pub dram_latency: u32,
    /// Banks of L1.
    pub l1_banks: u32,
    /// Banks of shared memory.
    pub smem_banks: u32,
    /// Registers of an SM.
    pub registers: u32,
    /// Threads of an SM.
    pub threads: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Thread blocks of an SM.
    pub max_ctas: u32,
    /// Shared memory of an SM, bytes.
    pub shmem_bytes: u32,
    /// Shared memory of a thread block, bytes.
    pub shmem_per_block: u32,
    /// Warp schedulers of an SM.
    pub schedulers: u32,
    /// `lrr`, `gto`, …
    pub scheduler: String,
    /// Instructions a scheduler issues from one warp in a cycle.
    pub max_issue_per_warp: u32,
    /// Units of an SM.
    pub units: UnitCounts,
    /// Added by the simulator to each kernel, core cycles. Reported only: nothing here adds it to anything.
    pub kernel_launch_latency: u32,
    /// Fixed DRAM latency instead of timing.
    pub simple_dram_model: bool,
    /// DRAM bus of a channel, bytes.
    pub dram_bus_bytes: u32,
    /// DRAM chips of a channel.
    pub chips_per_channel: u32,
    /// Data transfers per DRAM command clock.
    pub dram_data_ratio: u32,
    /// DRAM burst, transfers.
    pub dram_burst: u32,
    /// Interconnect flit, bytes.
    pub flit_bytes: u32,
    /// 1 BookSim, 2 local crossbar.
    pub network_mode: u32,
    /// Compute capability, if given.
    pub compute_capability: Option<(u32, u32)>,
    /// Latencies of traced instructions.
    pub trace: TraceLatencies,
}

/// A config that lacks or misstates what a GPU needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the config cannot be used: {}", list(.0))]
pub struct ConfigError(pub Vec<Problem>);

fn list(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

impl GpuConfig {
    /// Reads the typed values.
    ///
    /// # Errors
    /// Every value that is missing or cannot be read, with file and line.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let mut values = Values {
            config,
            problems: Vec::new(),
        };
        let gpu = Self::read(&mut values);
        match gpu {
            Some(gpu) if values.problems.is_empty() => Ok(gpu),
            _ => Err(ConfigError(values.problems)),
        }
    }

    fn read(values: &mut Values<'_>) -> Option<Self> {
        let clocks = values
            .required("-gpgpu_clock_domains", "core:icnt:L2:DRAM in MHz")
            .and_then(|text| {
                let mhz: Vec<f64> = text
                    .split(':')
                    .filter_map(|mhz| mhz.trim().parse().ok())
                    .collect();
                match mhz.as_slice() {
                    &[core_mhz, icnt_mhz, l2_mhz, dram_mhz]
                        if mhz.iter().all(|mhz| mhz.is_finite() && *mhz > 0.0) =>
                    {
                        Some(Clocks {
                            core_mhz,
                            icnt_mhz,
                            l2_mhz,
                            dram_mhz,
                        })
                    }
                    _ => values.error(
                        "-gpgpu_clock_domains",
                        "is not core:icnt:L2:DRAM, four positive MHz",
                    ),
                }
            });
        let pipeline = values
            .required("-gpgpu_shader_core_pipeline", "threads:warp size")
            .and_then(|text| {
                let pair = text
                    .split_once(':')
                    .map(|(threads, warp)| (threads.trim().parse(), warp.trim().parse()));
                match pair {
                    Some((Ok(threads), Ok(warp))) if threads > 0 && warp > 0 => Some((threads, warp)),
                    _ => values.error("-gpgpu_shader_core_pipeline", "is not threads:warp size"),
                }
            });
        let clusters = values.positive("-gpgpu_n_clusters");
        let cores_per_cluster = values.positive("-gpgpu_n_cores_per_cluster");
        let n_mem = values.positive("-gpgpu_n_mem");
        values.required("-gpgpu_cache:dl2", "the L2 geometry");
        let capability = values.text("-gpgpu_compute_capability_major").is_some().then(|| {
            (
                values.int("-gpgpu_compute_capability_major", 0),
                values.int("-gpgpu_compute_capability_minor", 0),
            )
        });
        let gpu = Self {
            clocks: clocks.unwrap_or(Clocks {
                core_mhz: 0.0,
                icnt_mhz: 0.0,
                l2_mhz: 0.0,
                dram_mhz: 0.0,
            }),
            clusters,
            cores_per_cluster,
            n_mem,
            sub_partitions: values.int("-gpgpu_n_sub_partition_per_mchannel", 1).max(1),
            partition_indexing: values.int("-gpgpu_memory_partition_indexing", 0),
            dl1: values.cache("-gpgpu_cache:dl1"),
            dl2: values.cache("-gpgpu_cache:dl2"),
            unified_l1d_kb: values
                .text("-gpgpu_unified_l1d_size")
                .is_some()
                .then(|| values.int("-gpgpu_unified_l1d_size", 0)),
            adaptive_l1: values.int("-gpgpu_adaptive_cache_config", 0) != 0,
            shmem_options_kb: values.any_list("-gpgpu_shmem_option"),
            skip_l1: values.int("-gpgpu_gmem_skip_L1D", 0) != 0,
            l1_latency: values.int("-gpgpu_l1_latency", 1),
            // Configs up to 2018 call it `-smem_latency`.
            smem_latency: match values.text("-gpgpu_smem_latency") {
                Some(_) => values.int("-gpgpu_smem_latency", 3),
                None => values.int("-smem_latency", 3),
            },
            l2_rop_latency: values.int("-gpgpu_l2_rop_latency", 85),
            dram_latency: values.int("-dram_latency", 30),
            l1_banks: values.int("-gpgpu_l1_banks", 1),
            smem_banks: values.int("-gpgpu_shmem_num_banks", 16),
            registers: values.int("-gpgpu_shader_registers", 8192),
            threads: pipeline.map_or(0, |(threads, _)| threads),
            warp_size: pipeline.map_or(0, |(_, warp)| warp),
            max_ctas: values.int("-gpgpu_shader_cta", 32),
            shmem_bytes: values.int("-gpgpu_shmem_size", 16_384),
            shmem_per_block: values.int("-gpgpu_shmem_per_block", 49_152),
            schedulers: values.int("-gpgpu_num_sched_per_core", 1),
            scheduler: values.text("-gpgpu_scheduler").unwrap_or("gto").to_owned(),
            max_issue_per_warp: values.int("-gpgpu_max_insn_issue_per_warp", 2),
            units: UnitCounts {
                sp: values.int("-gpgpu_num_sp_units", 1),
                dp: values.int("-gpgpu_num_dp_units", 0),
                int: values.int("-gpgpu_num_int_units", 0),
                sfu: values.int("-gpgpu_num_sfu_units", 1),
                tensor: values.int("-gpgpu_num_tensor_core_units", 0),
                mem: values.int("-gpgpu_num_mem_units", 1),
            },
            kernel_launch_latency: values.int("-gpgpu_kernel_launch_latency", 0),
            simple_dram_model: values.int("-gpgpu_simple_dram_model", 0) != 0,
            dram_bus_bytes: values.int("-gpgpu_dram_buswidth", 4),
            chips_per_channel: values.int("-gpgpu_n_mem_per_ctrlr", 1),
            dram_data_ratio: values.int("-dram_data_command_freq_ratio", 2),
            dram_burst: values.int("-gpgpu_dram_burst_length", 4),
            flit_bytes: values.int("-icnt_flit_size", 32),
            network_mode: values.int("-network_mode", 1),
            compute_capability: capability,
            trace: TraceLatencies::from_values(values),
        };
        Some(gpu)
    }

    /// Streaming multiprocessors: clusters × SMs in a cluster.
    #[must_use]
    pub fn sms(&self) -> u32 {
        self.clusters.saturating_mul(self.cores_per_cluster)
    }

    /// Bytes of all L2 slices: one slice × channels × slices of a channel.
    #[must_use]
    pub fn l2_bytes(&self) -> u64 {
        let slices = u64::from(self.n_mem).saturating_mul(u64::from(self.sub_partitions));
        self.dl2.as_ref().map_or(0, Cache::bytes).saturating_mul(slices)
    }
}

/// Reads values and gathers what cannot be read.
pub(super) struct Values<'a> {
    config: &'a Config,
    problems: Vec<Problem>,
}

impl<'a> Values<'a> {
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.config.value(name)
    }

    /// Records `<name> <what>`; always none, so that it can end an expression.
    pub(super) fn error<T>(&mut self, name: &str, what: &str) -> Option<T> {
        let setting = self.config.settings.get(name);
        let place = setting.map_or_else(
            || Place {
                file: "config".to_owned(),
                line: 0,
            },
            |s| s.place.clone(),
        );
        let value = setting.map_or_else(String::new, |setting| format!(" {}", setting.value));
        self.problems.push(Problem {
            place,
            severity: Severity::Error,
            text: format!("{name}{value} {what}"),
        });
        None
    }

    fn required(&mut self, name: &str, what: &str) -> Option<&'a str> {
        match self.text(name) {
            Some(text) => Some(text),
            None => self.error(name, &format!("is missing ({what})")),
        }
    }

    /// A number of 32 bits; a flag without value is 1.
    pub(super) fn int(&mut self, name: &str, default: u32) -> u32 {
        match self.text(name).map(str::trim) {
            None => default,
            Some("") => 1,
            Some(text) => integer(text)
                .and_then(|number| u32::try_from(number).ok())
                .or_else(|| self.error(name, "is not a whole number from 0 to 4294967295"))
                .unwrap_or(default),
        }
    }

    fn positive(&mut self, name: &str) -> u32 {
        if self.required(name, "a positive number").is_none() {
            return 0;
        }
        match self.int(name, u32::MAX) {
            0 => self.error(name, "must not be 0").unwrap_or(0),
            number => number,
        }
    }

    /// Exactly `N` numbers between commas.
    pub(super) fn list<const N: usize>(&mut self, name: &str) -> Option<[u32; N]> {
        self.text(name)?;
        let found = self.any_list(name);
        match found.try_into() {
            Ok(list) => Some(list),
            Err(_) => self.error(name, &format!("is not {N} whole numbers with commas")),
        }
    }

    fn any_list(&mut self, name: &str) -> Vec<u32> {
        let parts = self
            .text(name)
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let list: Option<Vec<u32>> = parts
            .map(|part| integer(part).and_then(|number| u32::try_from(number).ok()))
            .collect();
        list.or_else(|| self.error(name, "is not a list of whole numbers"))
            .unwrap_or_default()
    }

    fn cache(&mut self, name: &str) -> Option<Cache> {
        match Cache::parse(self.text(name)?) {
            Ok(cache) => cache,
            Err(why) => self.error(name, &format!("is no cache: {why}")),
        }
    }
}
