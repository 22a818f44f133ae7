//! A scenario run on a profile.

use cascade_api::{
    FieldError, Loc, MAX_SCENARIO_STEPS, MAX_STEP_RECORDS, RequestMetrics, ScenarioAggregate, ScenarioBand,
    ScenarioCalibration, ScenarioCreate, ScenarioOutcome, ScenarioProvenance, StepMetrics,
};
use cascade_serving::datasheet::Bound;
use cascade_serving::metrics::{Collector, MetricsOptions, Report, Slo, Stats, Wait, Waited, Waits};
use cascade_serving::profile::PerfProfile;
use cascade_serving::roofline::Roofline;
use cascade_serving::scheduler::Blocked;
use cascade_serving::sim::{Record, SimError, Sink, StepRecord, simulate};
use cascade_serving::step_time::{Provenance, StepTime};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::engine::Engine;
use super::load::Load;

/// Why a scenario is not run to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A field that does not fit.
    #[error("{field}: {problem}")]
    Field {
        /// The field, with dots between names.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What no single field says.
    #[error("{0}")]
    Text(String),
}

impl Refused {
    pub(super) fn field(field: &str, problem: impl ToString) -> Self {
        Self::Field {
            field: field.to_owned(),
            problem: problem.to_string(),
        }
    }

    pub(super) fn text(problem: impl Into<String>) -> Self {
        Self::Text(problem.into())
    }

    /// As one entry of a body's problems.
    pub fn entry(&self) -> FieldError {
        let (path, problem) = match self {
            Self::Field { field, problem } => (field.split('.').collect(), problem),
            Self::Text(problem) => (Vec::new(), problem),
        };
        let names = path.into_iter().map(|name: &str| Loc::Name(name.to_owned()));
        FieldError {
            kind: "value_error".to_owned(),
            loc: std::iter::once(Loc::Name("body".to_owned()))
                .chain(names)
                .collect(),
            msg: format!("Value error, {problem}"),
            input: Value::Null,
            ctx: Some(json!({ "error": problem })),
        }
    }
}

/// Keeps every request and step: the limits hold both.
struct Tape {
    collector: Collector,
    requests: Vec<Record>,
    steps: Vec<StepRecord>,
}

impl Sink for Tape {
    fn request(&mut self, record: &Record) {
        self.collector.request(record);
        self.requests.push(*record);
    }

    fn step(&mut self, step: &StepRecord) {
        self.collector.step(step);
        self.steps.push(*step);
    }

    fn inter_token(&mut self, gap_ns: u64, count: u32) {
        self.collector.inter_token(gap_ns, count);
    }
}

/// Runs a scenario on a profile. What it says of its base does not matter here.
///
/// # Errors
/// Settings or a load that cannot be, a request that cannot be served, or a limit of the service.
pub fn evaluate(profile: &PerfProfile, ask: &ScenarioCreate) -> Result<ScenarioOutcome, Refused> {
    let scenario = Scenario::new(profile, ask)?;
    let ran = scenario.run(Bound::Assumed)?;
    let ends = [Bound::Low, Bound::High].map(|bound| Ok(scenario.run(bound)?.report));
    let [low, high] = ends;
    Ok(scenario.outcome(ran, [&low?, &high?]))
}

/// A scenario ready to be run on a profile.
#[derive(Debug)]
pub struct Scenario<'a> {
    profile: &'a PerfProfile,
    ask: &'a ScenarioCreate,
    engine: Engine,
}

/// What one simulation of a scenario came to.
pub struct Ran {
    /// Everything summed up.
    pub report: Report,
    /// Every request, by number.
    pub requests: Vec<Record>,
    /// Every step, in order.
    pub steps: Vec<StepRecord>,
    /// The step times that were used.
    pub roofline: Roofline,
    waits: Waits,
    blocks: u64,
    load: Load,
}

impl Ran {
    /// KV blocks that requests can use.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Why requests waited.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// A request as an answer lists it.
    pub fn row(&self, record: &Record) -> RequestMetrics {
        let after_ns = self.roofline.envelope().after_ns;
        row(record, &self.load, after_ns, self.waits.of(record))
    }

    /// Every request as an answer lists it.
    pub fn rows(&self) -> impl Iterator<Item = RequestMetrics> {
        self.requests.iter().map(|record| self.row(record))
    }
}

impl<'a> Scenario<'a> {
    /// Fills in the engine's settings.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn new(profile: &'a PerfProfile, ask: &'a ScenarioCreate) -> Result<Self, Refused> {
        let engine = Engine::new(ask, profile)?;
        Ok(Self { profile, ask, engine })
    }

    /// The settings by the names that a scenario gives them.
    pub fn settings(&self) -> Map<String, Value> {
        self.engine.resolved()
    }

    /// KV blocks, and the sum of bytes they come from.
    pub fn kv_cache(&self) -> Map<String, Value> {
        object(&self.engine.kv)
    }

    /// What was assumed, in sentences.
    pub fn assumptions(&self) -> Vec<String> {
        let mut assumptions = self.engine.assumptions.clone();
        assumptions.extend(self.profile.assumptions.iter().cloned());
        assumptions
    }

    /// Simulates at one end of the efficiency ranges, or between them.
    ///
    /// # Errors
    /// A load that cannot be, a request that cannot be served, or a limit of the service.
    pub fn run(&self, bound: Bound) -> Result<Ran, Refused> {
        let mut load = Load::new(self.ask, &self.engine)?;
        let slo = self.ask.slo.unwrap_or_default();
        let mut tape = Tape {
            collector: Collector::new(MetricsOptions {
                slo: Slo {
                    ttft_ms: slo.ttft_ms,
                    tpot_ms: slo.tpot_ms,
                    e2el_ms: slo.e2el_ms,
                },
                price_per_gpu_hour: self.ask.price_per_gpu_hour,
                ..MetricsOptions::default()
            }),
            requests: Vec::new(),
            steps: Vec::new(),
        };
        let roofline = Roofline::new(self.profile, bound);
        // At other efficiencies requests may share steps differently, and so take more of them.
        let max_steps = match bound {
            Bound::Assumed => MAX_SCENARIO_STEPS,
            Bound::Low | Bound::High => 2 * MAX_SCENARIO_STEPS,
        };
        let ran = simulate(&self.engine.config, &roofline, &mut load, &mut tape, max_steps);
        load.check()?;
        ran.map_err(|error| match error {
            SimError::StepLimit { limit } => Refused::text(format!(
                "the scenario takes more than {limit} steps, the most that are simulated: give fewer requests or shorter \
                 outputs, or more KV blocks if it preempts itself without end"
            )),
            SimError::Config(error) => Refused::field("scheduler", error),
        })?;
        let Tape {
            mut collector,
            mut requests,
            steps,
        } = tape;
        let refused = requests
            .iter()
            .find_map(|record| Some((record.id, record.refusal?)));
        if let Some((id, refusal)) = refused.filter(|_| load.listed) {
            return Err(Refused::text(format!("{}: {refusal}", load.name(id))));
        }
        requests.sort_by_key(|record| record.id);
        Ok(Ran {
            report: collector.report(),
            waits: Waits::new(&steps),
            blocks: u64::from(self.engine.config.num_gpu_blocks),
            requests,
            steps,
            roofline,
            load,
        })
    }

    /// The answer: what came out, and what came out at both ends of the efficiency ranges.
    pub fn outcome(&self, ran: Ran, ends: [&Report; 2]) -> ScenarioOutcome {
        let Ran { report, steps, .. } = &ran;
        let aggregate = aggregate(report);
        let returned = steps.len().min(MAX_STEP_RECORDS);
        let downsampled = returned < steps.len();
        let calibration = self.profile.calibration();
        ScenarioOutcome {
            aggregate,
            band: band(aggregate, ends.map(self::aggregate)),
            report: object(report),
            steps_total: steps.len() as u64,
            steps_returned: returned as u64,
            steps_downsampled: downsampled,
            steps_sampling: match downsampled {
                true => format!(
                    "uniform: {returned} of {} steps at equal distances, the first and the last among them; \
                     sums are over all steps",
                    steps.len()
                ),
                false => "none: every step is returned".to_owned(),
            },
            provenance_counts: provenance(report),
            calibration_range: ScenarioCalibration {
                prefill_tokens: calibration.prefill_tokens,
                decode_context: calibration.decode_context,
            },
            scheduler: self.settings(),
            kv_cache: self.kv_cache(),
            efficiency: object(&self.profile.efficiency),
            assumptions: self.assumptions(),
            warnings: self.profile.warnings.clone(),
            requests: ran.rows().collect(),
            steps: sample(steps.len(), returned)
                .filter_map(|at| steps.get(at))
                .map(|step| step_row(step, &ran.roofline))
                .collect(),
        }
    }
}

fn aggregate(report: &Report) -> ScenarioAggregate {
    let of = |stats: &Stats, q: f64| {
        let found = stats.percentiles.iter().find(|percentile| percentile.q == q);
        found.map(|percentile| percentile.value)
    };
    ScenarioAggregate {
        p50_ttft_ms: of(&report.ttft, 50.0),
        p99_ttft_ms: of(&report.ttft, 99.0),
        p50_itl_ms: of(&report.itl, 50.0),
        p99_itl_ms: of(&report.itl, 99.0),
        p50_e2e_ms: of(&report.e2el, 50.0),
        p99_e2e_ms: of(&report.e2el, 99.0),
        throughput_output_tokens_s: report.output_throughput,
    }
}

/// The least and the most of each number. Neither end of the ranges need be an extreme.
fn band(assumed: ScenarioAggregate, ends: [ScenarioAggregate; 2]) -> ScenarioBand {
    let fold = |pick: fn(f64, f64) -> f64| {
        let of = |field: fn(&ScenarioAggregate) -> Option<f64>| {
            let all = ends.iter().map(field);
            all.fold(field(&assumed), |so_far, end| {
                so_far.zip(end).map(|(a, b)| pick(a, b))
            })
        };
        ScenarioAggregate {
            p50_ttft_ms: of(|a| a.p50_ttft_ms),
            p99_ttft_ms: of(|a| a.p99_ttft_ms),
            p50_itl_ms: of(|a| a.p50_itl_ms),
            p99_itl_ms: of(|a| a.p99_itl_ms),
            p50_e2e_ms: of(|a| a.p50_e2e_ms),
            p99_e2e_ms: of(|a| a.p99_e2e_ms),
            throughput_output_tokens_s: of(|a| Some(a.throughput_output_tokens_s)).unwrap_or_default(),
        }
    };
    ScenarioBand {
        low: fold(f64::min),
        high: fold(f64::max),
    }
}

/// Steps by where their times come from.
pub fn provenance(report: &Report) -> ScenarioProvenance {
    let steps = |provenance| {
        let mut counts = report.provenance.iter();
        counts
            .find(|count| count.provenance == provenance)
            .map_or(0, |count| count.steps)
    };
    ScenarioProvenance {
        measured: steps(Provenance::Measured),
        interpolated: steps(Provenance::Interpolated),
        extrapolated: steps(Provenance::Extrapolated),
        datasheet: steps(Provenance::Datasheet),
        assumed_host: steps(Provenance::AssumedHost),
    }
}

fn row(record: &Record, load: &Load, after_ns: i64, waited: Waited) -> RequestMetrics {
    let ms = |ns: f64| ns / 1e6;
    // The last token came before the envelope that a completion retains.
    let last_ns = record.end_ns.saturating_add_signed(after_ns.saturating_neg());
    let intervals = record.output_tokens.checked_sub(1).filter(|n| *n > 0);
    let itl = record.first_token_ns.zip(intervals);
    let waits = Wait::ALL.into_iter().zip(waited).filter(|(_, ns)| *ns > 0);
    RequestMetrics {
        id: load.name(record.id),
        arrival_s: record.arrival_ns as f64 / 1e9,
        prompt_tokens: record.prompt_tokens,
        output_tokens: record.output_tokens,
        queue_ms: ms(record.queue_ns() as f64),
        waits_ms: waits
            .map(|(wait, ns)| (wait.name().to_owned(), ms(ns as f64)))
            .collect(),
        ttft_ms: record.ttft_ns().map(|ns| ms(ns as f64)),
        mean_itl_ms: itl.map(|(first, n)| ms(last_ns.saturating_sub(first) as f64 / f64::from(n))),
        tpot_ms: record.tpot_ns().map(ms),
        e2e_ms: ms(record.e2e_ns() as f64),
        cached_tokens: record.cached_tokens,
        preemptions: record.preemptions,
        refusal: record.refusal.map(|refusal| refusal.to_string()),
    }
}

fn step_row(step: &StepRecord, roofline: &Roofline) -> StepMetrics {
    let provenance = serde_json::to_value(step.cost.gpu).unwrap_or_default();
    let blocked = step.blocked.map(|blocked| match blocked {
        Blocked::Preemption => "preemption",
        Blocked::Budget => "budget",
        Blocked::Seqs => "seqs",
        Blocked::Chunk => "chunk",
        Blocked::Blocks { .. } => "blocks",
    });
    StepMetrics {
        step_index: step.index,
        kind: if step.batch.has_prefill() {
            "prefill"
        } else {
            "decode"
        }
        .to_owned(),
        start_s: step.start_ns as f64 / 1e9,
        end_s: step.end_ns as f64 / 1e9,
        gpu_ms: step.cost.gpu_ns as f64 / 1e6,
        host_ms: step.cost.host_ns as f64 / 1e6,
        seqs: step.batch.seqs,
        prefill_seqs: step.batch.prefill_seqs,
        query_tokens: step.batch.query_tokens,
        prefill_tokens: step.batch.prefill_tokens,
        context_tokens: step.batch.context_tokens,
        running: step.running,
        waiting: step.waiting,
        kv_blocks_used: step.used_blocks,
        admitted: step.admitted,
        preempted: step.preempted,
        provenance: provenance.as_str().unwrap_or_default().to_owned(),
        blocked: blocked.map(str::to_owned),
        groups_ns: object(&roofline.step(&step.batch).groups),
    }
}

/// `returned` of `total` places at equal distances, the first and the last among them.
fn sample(total: usize, returned: usize) -> impl Iterator<Item = usize> {
    let (last, gaps) = (
        total.saturating_sub(1) as u64,
        returned.saturating_sub(1).max(1) as u64,
    );
    (0..returned as u64).map(move |n| ((n * last + gaps / 2) / gaps) as usize)
}

/// A struct as a JSON object.
fn object<T: Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even_and_has_both_ends() {
        for (total, returned) in [(5_001, 5_000), (100_000, 5_000), (7, 7), (1, 1), (0, 0)] {
            let places: Vec<usize> = sample(total, returned).collect();
            assert_eq!(places.len(), returned);
            assert_eq!(places.first().copied(), (total > 0).then_some(0));
            assert_eq!(places.last().copied(), total.checked_sub(1));
            let gaps: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (gaps.iter().min(), gaps.iter().max());
            assert!(
                least.zip(most).is_none_or(|(a, b)| *a > 0 && b - a <= 1),
                "{total}: {least:?} {most:?}"
            );
        }
    }
}
