//! The explorer's controls: what each is called, what it may be and what it is at first.

/// How a slider's way divides over its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By factors; a range from 0 starts at the step.
    Log,
}

/// What a control takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number between two ends.
    Number {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
        /// Distance of a slider's places; whole numbers only where it is whole.
        step: f64,
        /// How the slider goes.
        scale: Scale,
        /// What it is counted in.
        unit: &'static str,
    },
    /// One of some: value and name.
    Choice(&'static [(&'static str, &'static str)]),
    /// Any text.
    Text,
}

/// Where a control stands on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Model, trace and GPUs.
    Base,
    /// Who sends requests, and when.
    Load,
    /// How long prompts and answers are.
    Lengths,
    /// The engine.
    Scheduler,
    /// Memory for the KV cache.
    Memory,
    /// Targets and price.
    Goals,
    /// Shares of the datasheet's peaks.
    Efficiency,
}

/// A control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Its name in a link.
    pub key: Key,
    /// Its name in a link.
    pub name: &'static str,
    /// What it reads.
    pub label: &'static str,
    /// Where it stands.
    pub section: Section,
    /// What it takes.
    pub kind: Kind,
    /// What it is at first; empty leaves it to the engine.
    pub default: &'static str,
    /// What it means.
    pub hint: &'static str,
}

impl Field {
    /// Whether it may be left empty.
    pub fn optional(&self) -> bool {
        matches!(self.kind, Kind::Number { .. }) && self.default.is_empty()
    }
}

macro_rules! fields {
    ($($key:ident $name:literal $label:literal $section:ident $kind:expr, $default:literal, $hint:literal;)*) => {
        /// A control by itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each is documented by its hint")]
        pub enum Key { $($key),* }

        /// Every control, in the order of the page.
        pub const FIELDS: &[Field] = &[$(Field {
            key: Key::$key, name: $name, label: $label, section: Section::$section, kind: $kind, default: $default,
            hint: $hint,
        }),*];
    };
}

const fn number(min: f64, max: f64, step: f64, unit: &'static str) -> Kind {
    let scale = Scale::Linear;
    Kind::Number {
        min,
        max,
        step,
        scale,
        unit,
    }
}

const fn log(min: f64, max: f64, step: f64, unit: &'static str) -> Kind {
    let scale = Scale::Log;
    Kind::Number {
        min,
        max,
        step,
        scale,
        unit,
    }
}

const SWITCH: Kind = Kind::Choice(&[("on", "On"), ("off", "Off")]);
const LOADS: Kind = Kind::Choice(&[
    ("poisson", "Poisson"),
    ("fixed", "Fixed rate"),
    ("gamma", "Gamma (bursty)"),
    ("burst", "Bursts"),
    ("ramp", "Ramp"),
    ("at-once", "All at once"),
    ("closed", "Closed loop"),
    ("sessions", "Sessions"),
    ("file", "Trace file"),
]);
const RULES: Kind = Kind::Choice(&[("vllm-v1", "vLLM 0.33 (v1)"), ("reference", "Reference")]);
const ORDERS: Kind = Kind::Choice(&[("fcfs", "First come"), ("priority", "Priority")]);

fields! {
    Base "base" "Model or trace" Base Kind::Text, "model:meta-llama/Llama-3.1-8B",
        "A finished sim of a trace gives simulated kernel times; a model alone only the datasheet's roofline.";
    Config "config" "config.json" Base Kind::Text, "",
        "A Hugging Face config.json of any dense, GQA or MoE transformer.";
    Gpus "gpus" "GPUs" Base Kind::Text, "SM90_H100,SM80_A100", "Side by side, up to four.";

    Prices "prices" "Price per GPU-hour" Base Kind::Text, "",
        "In any currency, by GPU, for the cost of tokens; empty leaves it out.";

    Load "load" "Arrivals" Load LOADS, "poisson", "Who sends requests, and when.";
    Requests "n" "Requests" Load log(1.0, 4096.0, 1.0, ""), "300", "How many requests there are.";
    Rate "rate" "Arrival rate" Load log(0.1, 1000.0, 0.1, "req/s"), "12", "Requests that arrive per second.";
    ToRate "to" "Rate at the end" Load log(0.1, 1000.0, 0.1, "req/s"), "40", "The rate that the ramp ends with.";
    Burstiness "burstiness" "Burstiness" Load log(0.05, 10.0, 0.05, ""), "0.5",
        "Shape of the gamma gaps: 1 is Poisson, less is burstier.";
    Burst "burst" "Requests per burst" Load log(1.0, 1024.0, 1.0, ""), "32", "How many arrive at once.";
    Period "period" "Time between bursts" Load log(0.1, 600.0, 0.1, "s"), "5", "From one burst to the next.";
    Clients "clients" "Clients" Load log(1.0, 1024.0, 1.0, ""), "32",
        "Each sends a request, waits for its end, thinks, and sends the next.";
    Sessions "sessions" "Sessions" Load log(1.0, 1024.0, 1.0, ""), "60", "Conversations.";
    Turns "turns" "Turns per session" Load number(1.0, 40.0, 1.0, ""), "5",
        "Each turn's prompt repeats all that was said before.";
    Think "think" "Think time" Load log(0.0, 600.0, 0.1, "s"), "2", "Between an answer and the next request, on average.";
    Speedup "speedup" "Speed-up" Load log(0.01, 1000.0, 0.01, "×"), "1", "Divides the time between the file's arrivals.";
    Limit "limit" "Requests of the file" Load log(1.0, 4096.0, 1.0, ""), "1000", "Takes the first so many requests.";
    Seed "seed" "Seed" Load number(0.0, 1000.0, 1.0, ""), "1", "The same seed gives the same requests everywhere.";

    Prompt "prompt" "Prompt tokens" Lengths log(1.0, 32768.0, 1.0, "tokens"), "512",
        "Of each request; the median where lengths vary.";
    PromptSpread "prompt-spread" "Prompt spread" Lengths number(0.0, 1.5, 0.05, "σ"), "0.6",
        "Standard deviation of the logarithm of the length; 0 makes all equal.";
    Output "output" "Output tokens" Lengths log(1.0, 8192.0, 1.0, "tokens"), "128",
        "Of each request; the median where lengths vary.";
    OutputSpread "output-spread" "Output spread" Lengths number(0.0, 1.5, 0.05, "σ"), "0.6",
        "Standard deviation of the logarithm of the length; 0 makes all equal.";
    Prefix "prefix" "Shared prefix" Lengths log(0.0, 16384.0, 16.0, "tokens"), "0",
        "Tokens that prompts begin with in common; they come before the prompt's own.";
    Groups "groups" "Different prefixes" Lengths log(1.0, 1024.0, 1.0, ""), "1", "How many shared prefixes there are.";

    Rules "rules" "Scheduler" Scheduler RULES, "vllm-v1", "Whose rules decide what runs in a step.";
    Seqs "seqs" "Max running requests" Scheduler log(1.0, 2048.0, 1.0, ""), "",
        "vLLM's max_num_seqs; empty takes the default for the GPU.";
    Tokens "tokens" "Max tokens per step" Scheduler log(64.0, 65536.0, 64.0, "tokens"), "",
        "vLLM's max_num_batched_tokens; empty takes the default for the GPU.";
    Chunked "chunked" "Chunked prefill" Scheduler SWITCH, "on", "Whether a prompt can be computed over several steps.";
    Prefixes "prefix-caching" "Prefix caching" Scheduler SWITCH, "on", "Whether equal prefixes share KV blocks.";
    Async "async" "Async scheduling" Scheduler SWITCH, "off", "Whether step k+1 is scheduled while step k runs.";
    Reserve "reserve" "Reserve whole prompt" Scheduler SWITCH, "on",
        "Whether admission asks for the whole prompt's blocks to be free.";
    Long "long-prefill" "Longest prefill chunk" Scheduler log(0.0, 65536.0, 64.0, "tokens"), "0",
        "Long-prefill threshold while others are present; 0 sets no such limit.";
    Order "order" "Queue order" Scheduler ORDERS, "fcfs", "Order of waiting requests; priority needs a file with priorities.";

    Memory "memory" "Memory utilisation" Memory number(0.1, 1.0, 0.01, ""), "",
        "vLLM's gpu_memory_utilization; empty takes the default.";
    Blocks "blocks" "KV blocks" Memory log(8.0, 1_000_000.0, 1.0, "blocks"), "",
        "Empty takes vLLM's memory formula; its terms are shown below.";
    BlockSize "block-size" "Block size" Memory number(1.0, 256.0, 1.0, "tokens"), "16", "Tokens of a KV block.";
    MaxLen "max-len" "Longest sequence" Memory log(16.0, 1_048_576.0, 16.0, "tokens"), "",
        "Prompt and output together; empty takes the model's.";

    SloTtft "slo-ttft" "TTFT limit" Goals log(1.0, 60_000.0, 1.0, "ms"), "500", "A good request has its first token by then; empty sets no limit.";
    SloTpot "slo-tpot" "TPOT limit" Goals log(1.0, 5_000.0, 1.0, "ms"), "50", "Mean time between tokens of a good request; empty sets no limit.";
    SloE2e "slo-e2e" "E2E limit" Goals log(1.0, 600_000.0, 1.0, "ms"), "", "A good request has ended by then; empty sets no limit.";

    Compute "compute" "Compute efficiency" Efficiency number(0.05, 1.0, 0.01, ""), "0.7",
        "Share of the datasheet's peak that matrix kernels are taken to reach; bands go from 0.5 to 0.85.";
    Bandwidth "bandwidth" "Bandwidth efficiency" Efficiency number(0.05, 1.0, 0.01, ""), "0.8",
        "Share of the datasheet's bandwidth that kernels are taken to reach; bands go from 0.65 to 0.92.";
}

impl Key {
    /// What the control is.
    pub fn field(self) -> &'static Field {
        // Fields stand in the order of the keys.
        &FIELDS[self as usize]
    }

    /// The control of a name in a link.
    pub fn named(name: &str) -> Option<Self> {
        FIELDS
            .iter()
            .find(|field| field.name == name)
            .map(|field| field.key)
    }
}

/// Places of a slider.
pub const PLACES: f64 = 1000.0;

/// Where a slider stands for a value, from 0 to [`PLACES`].
pub fn place(kind: &Kind, value: f64) -> f64 {
    let Kind::Number {
        min,
        max,
        step,
        scale,
        ..
    } = *kind
    else {
        return 0.0;
    };
    let share = match scale {
        Scale::Linear => (value - min) / (max - min),
        Scale::Log => {
            let low = if min > 0.0 { min } else { step };
            if value < low {
                0.0
            } else {
                libm::log(value / low) / libm::log(max / low)
            }
        }
    };
    (share.clamp(0.0, 1.0) * PLACES).round()
}

/// The value at a slider's place, on the field's steps, as the field writes it.
pub fn value_at(kind: &Kind, place: f64) -> String {
    let Kind::Number {
        min,
        max,
        step,
        scale,
        ..
    } = *kind
    else {
        return String::new();
    };
    let share = (place / PLACES).clamp(0.0, 1.0);
    let value = match scale {
        Scale::Linear => min + share * (max - min),
        Scale::Log if share == 0.0 => min,
        Scale::Log => {
            let low = if min > 0.0 { min } else { step };
            low * libm::pow(max / low, share)
        }
    };
    // Large values go by two digits, so that a slider stops at round numbers: round in tens, or in the eighths of
    // powers of two that tokens come in.
    let coarse = match scale {
        Scale::Log if step >= 16.0 => libm::pow(2.0, libm::log2(value.max(1.0)).floor() - 3.0),
        Scale::Log if value >= 1.0 => libm::pow(10.0, (libm::log10(value) - 1.0).floor().max(0.0)),
        _ => step,
    };
    let grid = step.max(coarse);
    let on = ((value / grid).round() * grid).clamp(min, max);
    text(on)
}

/// A number as a field writes it: no more than three decimals, none where it is whole.
pub fn text(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    format!("{rounded}")
}
