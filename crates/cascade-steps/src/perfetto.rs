//! A run's kernels as a Chrome trace, which ui.perfetto.dev opens.
//!
//! The file is written piece by piece, so that a run of any length needs only one kernel in memory: an
//! [`Export`] makes the head, each lane's names and slices, and the end. The format is the JSON of
//! <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use cascade_api::{Engine, GpuName, KernelStat, RealKernel, RunId, SimId, TraceId};
use serde_json::{Value, json};

/// Writes the pieces of one file in turn; join them without anything between.
#[derive(Debug)]
pub struct Export {
    readable: fn(&str) -> String,
    /// GPUs seen so far; the position is the process number.
    processes: Vec<GpuName>,
    lanes: u64,
    started: bool,
}

/// One sim's row of slices, laid end to end.
#[derive(Debug)]
pub struct Lane {
    pid: u64,
    tid: u64,
    at_ns: f64,
    at_cycle: u64,
}

impl Export {
    /// A file whose slices are named by `readable`, the short form of a mangled kernel name.
    pub fn new(readable: fn(&str) -> String) -> Self {
        Self {
            readable,
            processes: Vec::new(),
            lanes: 0,
            started: false,
        }
    }

    /// The start of the file.
    pub fn head(&self) -> &'static str {
        "{\"traceEvents\":["
    }

    /// The end of the file.
    pub fn end(&self, run: &RunId, trace: &TraceId) -> String {
        let facts = json!({
            "run_id": run,
            "trace_id": trace,
            "time_axis": "simulated microseconds; the kernels of a sim follow each other without a gap",
            "slice_duration": "sim_time_ns = gpu_sim_cycle / core clock (MHz) * 1000",
            "kernel_scope": "kernels one after the other, launch latency as configured included; no host time, no copies, no overlap",
        });
        format!("],\"displayTimeUnit\":\"ns\",\"otherData\":{facts}}}")
    }

    /// Starts a sim's lane; sims of one GPU share a process and come one after the other.
    pub fn lane(&mut self, gpu: &GpuName, engine: Engine, replica: u32, sim: &SimId) -> (Lane, String) {
        let mut out = String::new();
        let known = self.processes.iter().position(|known| known == gpu);
        let pid = known.unwrap_or(self.processes.len()) as u64 + 1;
        if known.is_none() {
            self.processes.push(gpu.clone());
            self.process(&mut out, pid, &format!("{gpu} · {} simulated GPU", maker(engine)));
        }
        let mut name = format!("replica {replica} · {sim}");
        if engine == Engine::Replay {
            name.push_str(" · replay of a recorded log");
        }
        (self.thread(&mut out, pid, &name), out)
    }

    /// Measured kernels as one more process, named after the GPU they were measured on.
    pub fn real(&mut self, gpu: &str, kernels: &[RealKernel]) -> String {
        let mut out = String::new();
        let pid = self.processes.len() as u64 + 1;
        self.processes.push(GpuName::from(gpu));
        self.process(&mut out, pid, &format!("Real hardware · {gpu}"));
        let mut lane = self.thread(&mut out, pid, "measured kernels");
        for kernel in kernels {
            let args = json!({
                "kernel_id": kernel.kernel_id,
                "kernel_name": kernel.kernel_name,
                "duration_ns": kernel.duration_ns,
            });
            let name = format!("k{} {}", kernel.kernel_id, (self.readable)(&kernel.kernel_name));
            self.slice_event(&mut out, &lane, &name, kernel.duration_ns, args);
            lane.at_ns += kernel.duration_ns;
        }
        out
    }

    /// A finished kernel's slice; empty for a kernel without a time.
    pub fn slice(&mut self, lane: &mut Lane, kernel: &KernelStat) -> String {
        let mut out = String::new();
        let cycles = kernel.gpu_sim_cycle.unwrap_or(0);
        let (start, end) = (lane.at_cycle, lane.at_cycle.saturating_add(cycles));
        lane.at_cycle = end;
        let Some(ns) = kernel.sim_time_ns else {
            return out;
        };
        let args = json!({
            "kernel_index": kernel.kernel_index,
            "uid": kernel.kernel_launch_uid,
            "kernel_name": kernel.kernel_name,
            "gpu_sim_cycle": kernel.gpu_sim_cycle,
            "gpu_sim_insn": kernel.gpu_sim_insn,
            "ipc": kernel.gpu_ipc,
            "sim_time_ns": ns,
            "start_cycle": start,
            "end_cycle": end,
        });
        let number = kernel.kernel_launch_uid.unwrap_or(kernel.kernel_index + 1);
        let name = format!("k{number} {}", (self.readable)(&kernel.kernel_name));
        self.slice_event(&mut out, lane, &name, ns, args);
        lane.at_ns += ns;
        out
    }

    fn slice_event(&mut self, out: &mut String, lane: &Lane, name: &str, ns: f64, args: Value) {
        let (pid, tid) = (lane.pid, lane.tid);
        let (ts, dur) = (micros(lane.at_ns), micros(lane.at_ns + ns) - micros(lane.at_ns));
        let event = json!({
            "ph": "X", "pid": pid, "tid": tid, "cat": "kernel", "name": name,
            "ts": ts, "dur": micros(dur * 1000.0), "args": args,
        });
        self.event(out, &event);
    }

    fn process(&mut self, out: &mut String, pid: u64, name: &str) {
        let named = json!({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}});
        let sorted =
            json!({"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}});
        self.event(out, &named);
        self.event(out, &sorted);
    }

    fn thread(&mut self, out: &mut String, pid: u64, name: &str) -> Lane {
        self.lanes += 1;
        let tid = self.lanes;
        let named = json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}});
        let sorted = json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": {"sort_index": tid}});
        self.event(out, &named);
        self.event(out, &sorted);
        Lane {
            pid,
            tid,
            at_ns: 0.0,
            at_cycle: 0,
        }
    }

    fn event(&mut self, out: &mut String, event: &Value) {
        if std::mem::replace(&mut self.started, true) {
            out.push(',');
        }
        out.push_str(&event.to_string());
    }
}

/// Microseconds to the nanosecond, as the viewer counts.
fn micros(ns: f64) -> f64 {
    ns.round() / 1000.0
}

fn maker(engine: Engine) -> &'static str {
    match engine {
        // What plays a recorded Accel-Sim log back says so in its lane's name.
        Engine::AccelSim | Engine::Replay => "Accel-Sim",
        Engine::Cascade => "Cascade engine",
        Engine::Custom => "custom simulator",
    }
}

#[cfg(test)]
mod tests;
