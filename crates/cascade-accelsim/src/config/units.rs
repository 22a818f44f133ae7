//! Latencies and specialised units of `trace.config`.

use serde::Serialize;

use super::gpu::Values;

/// Specialised units the simulator has room for.
const SPECIALIZED: usize = 8;

/// Cycles from issue to result and between two issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Core cycles until the result is there.
    pub latency: u32,
    /// Core cycles a unit is taken by one warp instruction; 0 occurs in real files and is like 1.
    pub initiation: u32,
}

/// `-specialized_unit_N` and its latency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpecializedUnit {
    /// N, 1 to 8.
    pub index: u32,
    /// Units per SM.
    pub units: u32,
    /// Longest latency the pipeline must hold, core cycles.
    pub max_latency: u32,
    /// Issue width into the operand collector.
    pub id_oc_width: u32,
    /// Width from the collector to the unit.
    pub oc_ex_width: u32,
    /// `BRA`, `TEX`, `TENSOR`, `UDP`, …
    pub name: String,
    /// `-trace_opcode_latency_initiation_spec_op_N`.
    pub latency: Latency,
}

/// The latencies of traced instructions by unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceLatencies {
    /// Integer.
    pub int: Latency,
    /// Single precision.
    pub sp: Latency,
    /// Double precision.
    pub dp: Latency,
    /// Special functions.
    pub sfu: Latency,
    /// Tensor cores.
    pub tensor: Latency,
    /// Enabled specialised units by N.
    pub specialized: Vec<SpecializedUnit>,
}

impl TraceLatencies {
    /// Defaults are the simulator's: 4,1 and for specialised units 4,4.
    pub(super) fn from_values(values: &mut Values<'_>) -> Self {
        let mut latency = |kind: &str, default: (u32, u32)| {
            let name = format!("-trace_opcode_latency_initiation_{kind}");
            let [latency, initiation] = values.list(&name).unwrap_or([default.0, default.1]);
            Latency { latency, initiation }
        };
        let (int, sp, dp) = (
            latency("int", (4, 1)),
            latency("sp", (4, 1)),
            latency("dp", (4, 1)),
        );
        let (sfu, tensor) = (latency("sfu", (4, 1)), latency("tensor", (4, 1)));
        let spec: Vec<Latency> = (1..=SPECIALIZED)
            .map(|n| latency(&format!("spec_op_{n}"), (4, 4)))
            .collect();
        let specialized = (1_u32..)
            .zip(spec)
            .filter_map(|(index, latency)| unit(values, index, latency))
            .collect();
        Self {
            int,
            sp,
            dp,
            sfu,
            tensor,
            specialized,
        }
    }
}

/// `<enabled>,<units>,<max latency>,<ID_OC>,<OC_EX>,<NAME>`.
fn unit(values: &mut Values<'_>, index: u32, latency: Latency) -> Option<SpecializedUnit> {
    let name = format!("-specialized_unit_{index}");
    let text = values.text(&name)?.to_owned();
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [enabled, units, max_latency, id_oc, oc_ex, unit_name] = parts.as_slice() else {
        return values.error(
            &name,
            "is not <enabled>,<units>,<max latency>,<ID_OC>,<OC_EX>,<name>",
        );
    };
    let numbers: Option<Vec<u32>> = [enabled, units, max_latency, id_oc, oc_ex]
        .iter()
        .map(|text| text.parse().ok())
        .collect();
    let Some(&[enabled, units, max_latency, id_oc_width, oc_ex_width]) = numbers.as_deref() else {
        return values.error(&name, "has a part that is not a number");
    };
    (enabled != 0).then(|| SpecializedUnit {
        index,
        units,
        max_latency,
        id_oc_width,
        oc_ex_width,
        name: (*unit_name).to_owned(),
        latency,
    })
}
