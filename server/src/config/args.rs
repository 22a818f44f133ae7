//! Flags and environment variables of `cascade serve`.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::v1::DEFAULT_QUEUED;
use super::{
    ConfigError, DEFAULT_BUCKET, DEFAULT_PREFIX, EngineChoice, LogFormat, Maybe, Secret, Settings,
    SimBackend, Switch, T0Table, V1, V1Mode, V1Policy, V1Scheduler,
};

/// What `cascade serve` was asked for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ServeArgs {
    /// IP address to listen on, or localhost [default: 0.0.0.0; 127.0.0.1 with CASCADE_NO_AUTH]
    #[arg(long, env = "CASCADE_HOST", value_parser = host)]
    pub host: Option<Maybe<IpAddr>>,
    /// Port of the app; 0 takes a free one and says which [default: 8000]
    #[arg(long, env = "CASCADE_PORT")]
    pub port: Option<Maybe<u16>>,
    /// Port of the S3 endpoint; 0 takes a free one and says which [default: 9000]
    #[arg(long, env = "CASCADE_S3_PORT")]
    pub s3_port: Option<Maybe<u16>>,
    /// Where sims run: local is all that this version has [default: local]
    #[arg(long, env = "CASCADE_SIMS")]
    pub sims: Option<Maybe<SimBackend>>,
    /// Most sims that run beside the server at once [default: one a core]
    #[arg(long, env = "CASCADE_MAX_LOCAL_SIMS")]
    pub max_local_sims: Option<Maybe<NonZeroUsize>>,
    /// The shared bearer token; required unless CASCADE_NO_AUTH is set
    #[arg(long, env = "CASCADE_TOKEN", hide_env_values = true)]
    pub token: Option<Maybe<Secret>>,
    /// Turn the token check off; for local development only [default: false]
    #[arg(long, env = "CASCADE_NO_AUTH", num_args = 0..=1, default_missing_value = "true")]
    pub no_auth: Option<Maybe<Switch>>,
    /// Accel-Sim checkout: its configs join the built-in GPUs, and its simulator runs if it is built
    /// [default: /opt/accel-sim-framework]
    #[arg(long, env = "CASCADE_ACCELSIM_DIR")]
    pub accelsim_dir: Option<Maybe<PathBuf>>,
    /// Seconds that `/v1` waits for step timing [default: 3600]
    #[arg(long, env = "CASCADE_OPENAI_WAIT_S")]
    pub openai_wait_s: Option<Maybe<f64>>,
    /// Models' tokenizers, as `<org>/<model>/tokenizer.json` or as Hugging Face's cache lays them out; `/v1` counts
    /// prompts with them [default: `tokenizers` in the data directory]
    #[arg(long, env = "CASCADE_TOKENIZERS")]
    pub tokenizers: Option<Maybe<PathBuf>>,
    /// How `/v1` times requests: estimate (each alone, at once) or live (together, in real time) [default: estimate]
    #[arg(long, env = "CASCADE_V1_MODE")]
    pub v1_mode: Option<Maybe<V1Mode>>,
    /// Rules of the live scheduler: vllm-v1 or reference [default: vllm-v1]
    #[arg(long, env = "CASCADE_V1_POLICY")]
    pub v1_policy: Option<Maybe<V1Policy>>,
    /// Settings of the live scheduler, by the names of a scenario's `scheduler`, such as
    /// max_num_seqs=64,num_kv_blocks=1000 [default: as a scenario's]
    #[arg(long, env = "CASCADE_V1_SCHEDULER")]
    pub v1_scheduler: Option<Maybe<V1Scheduler>>,
    /// Most requests that wait for one live engine; further ones are refused [default: 4096]
    #[arg(long, env = "CASCADE_V1_MAX_NUM_QUEUED_REQS")]
    pub v1_max_num_queued_reqs: Option<Maybe<NonZeroUsize>>,
    /// Bucket that profilers upload to [default: cascade]
    #[arg(long, env = "CASCADE_S3_BUCKET")]
    pub s3_bucket: Option<Maybe<String>>,
    /// Key prefix of traces [default: accelsim-traces]
    #[arg(long, env = "CASCADE_S3_PREFIX")]
    pub s3_prefix: Option<Maybe<String>>,
    /// Take S3 requests without a signature: anyone who reaches the port can upload [default: false]
    #[arg(long, env = "CASCADE_S3_ANONYMOUS", num_args = 0..=1, default_missing_value = "true")]
    pub s3_anonymous: Option<Maybe<Switch>>,
    /// Whether to run the S3 endpoint [default: true]
    #[arg(long, env = "CASCADE_RUN_S3")]
    pub run_s3: Option<Maybe<Switch>>,
    /// The S3 endpoint as profilers reach it [default: the public URL's host with the S3 port]
    #[arg(long, env = "CASCADE_S3_PUBLIC_URL")]
    pub s3_public_url: Option<Maybe<String>>,
    /// Database, objects, logs and files [default: ./data]
    #[arg(long, env = "CASCADE_DATA_DIR")]
    pub data_dir: Option<Maybe<PathBuf>>,
    /// Where sims keep results, so that an equal kernel on an equal GPU is not simulated again
    /// [default: `cache` in the data directory]
    #[arg(long, env = "CASCADE_CACHE_DIR")]
    pub cache_dir: Option<Maybe<PathBuf>>,
    /// Neither keep results between sims nor use kept ones [default: false]
    #[arg(long, env = "CASCADE_NO_CACHE", num_args = 0..=1, default_missing_value = "true")]
    pub no_cache: Option<Maybe<Switch>>,
    /// The built pages [default: `site` beside the program, else target/site]
    #[arg(long, env = "CASCADE_SITE_DIR")]
    pub site_dir: Option<Maybe<PathBuf>>,
    /// Command that each sim runs [default: the built-in worker]
    #[arg(long, env = "CASCADE_SIM_CMD")]
    pub sim_cmd: Option<Maybe<String>>,
    /// Engine of the built-in worker: auto, accel-sim or cascade [default: auto]
    #[arg(long, env = "CASCADE_ENGINE")]
    pub engine: Option<Maybe<EngineChoice>>,
    /// Trace post-processor, run as `<command> <trace>/traces -j <jobs>` [default: the built-in one]
    #[arg(long, env = "CASCADE_POSTPROCESS_CMD")]
    pub postprocess_cmd: Option<Maybe<String>>,
    /// Seconds without a heartbeat before a sim is lost; after ten times this it fails [default: 60]
    #[arg(long, env = "CASCADE_HEARTBEAT_TIMEOUT_S")]
    pub heartbeat_timeout_s: Option<Maybe<f64>>,
    /// Name of the workspace, shown in the pages
    #[arg(long, env = "CASCADE_WORKSPACE")]
    pub workspace: Option<Maybe<String>>,
    /// Measured time of an empty kernel, in ns, for some GPUs, such as SM90_H100=900,SM80_A100=1100
    #[arg(long, env = "CASCADE_T0_NS")]
    pub t0_ns: Option<Maybe<T0Table>>,
    /// Whether to show the bundled samples [default: true]
    #[arg(long, env = "CASCADE_SAMPLES")]
    pub samples: Option<Maybe<Switch>>,
    /// The app as sims reach it [default: http://127.0.0.1:<port>]
    #[arg(long, env = "CASCADE_PUBLIC_URL")]
    pub public_url: Option<Maybe<String>>,
    /// Whether /metrics answers without a token [default: false]
    #[arg(long, env = "CASCADE_OPEN_METRICS", num_args = 0..=1, default_missing_value = "true")]
    pub open_metrics: Option<Maybe<Switch>>,
    /// How log lines are written: text or json [default: text]
    #[arg(long, env = "CASCADE_LOG_FORMAT")]
    pub log_format: Option<Maybe<LogFormat>>,
    /// Which log lines are written, as `tracing` filters say it [default: info]
    #[arg(long, env = "CASCADE_LOG")]
    pub log_filter: Option<Maybe<String>>,
}

fn or<T>(given: Option<Maybe<T>>, default: T) -> T {
    maybe(given).unwrap_or(default)
}

fn maybe<T>(given: Option<Maybe<T>>) -> Option<T> {
    given.and_then(|value| value.0)
}

fn on(given: Option<Maybe<Switch>>, default: bool) -> bool {
    maybe(given).map_or(default, |switch| switch == Switch::On)
}

fn seconds(name: &'static str, given: Option<Maybe<f64>>, default: f64) -> Result<Duration, ConfigError> {
    let rule = "a number of seconds above 0";
    let value = or(given, default);
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(ConfigError::Range { name, rule }),
    }
}

fn v1(
    mode: Option<Maybe<V1Mode>>,
    policy: Option<Maybe<V1Policy>>,
    scheduler: Option<Maybe<V1Scheduler>>,
    queued: Option<Maybe<NonZeroUsize>>,
) -> Result<V1, ConfigError> {
    let (policy, scheduler) = (
        or(policy, V1Policy::VllmV1),
        or(scheduler, V1Scheduler::default()),
    );
    let known = cascade_scenario::check_rules(policy.rules(), &scheduler.0);
    known.map_err(ConfigError::Scheduler)?;
    Ok(V1 {
        mode: or(mode, V1Mode::Estimate),
        policy,
        scheduler,
        max_num_queued_reqs: maybe(queued).map_or(DEFAULT_QUEUED, NonZeroUsize::get),
    })
}

fn url(name: &'static str, given: Option<Maybe<String>>) -> Result<Option<String>, ConfigError> {
    let Some(value) = maybe(given) else {
        return Ok(None);
    };
    if value.starts_with("http://") || value.starts_with("https://") {
        Ok(Some(value.trim_end_matches('/').to_owned()))
    } else {
        Err(ConfigError::Url { name, value })
    }
}

fn host(text: &str) -> Result<Maybe<IpAddr>, String> {
    match text.trim() {
        "" => Ok(Maybe(None)),
        "localhost" => Ok(Maybe(Some(Ipv4Addr::LOCALHOST.into()))),
        text => text.parse().map(|ip| Maybe(Some(ip))).map_err(|error| {
            format!("{error}: give an IP address such as 127.0.0.1 or 0.0.0.0, or localhost")
        }),
    }
}

/// A bucket's name, by the rules that S3 clients hold it to.
fn bucket(given: Option<Maybe<String>>) -> Result<String, ConfigError> {
    let name = or(given, DEFAULT_BUCKET.into());
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let ends = [name.bytes().next(), name.bytes().next_back()];
    if (3..=63).contains(&name.len())
        && name.bytes().all(|b| inner(b) || matches!(b, b'-' | b'.'))
        && ends.into_iter().flatten().all(inner)
        && !name.contains("..")
    {
        return Ok(name);
    }
    Err(ConfigError::Range {
        name: "CASCADE_S3_BUCKET",
        rule: "3 to 63 lowercase letters, digits, '-' and '.', with a letter or digit at both ends and no '..'",
    })
}

/// A key prefix: a path below the bucket's folder.
fn prefix(given: Option<Maybe<String>>) -> Result<String, ConfigError> {
    let prefix = or(given, DEFAULT_PREFIX.into()).trim_matches('/').to_owned();
    match cascade_s3::Key::parse(&prefix) {
        Ok(_) => Ok(prefix),
        Err(_) => Err(ConfigError::Range {
            name: "CASCADE_S3_PREFIX",
            rule: "names joined by '/', such as accelsim-traces or team/traces, without empty parts, '.', '..' and \
                   control characters",
        }),
    }
}

/// A command line that can be split as a shell does.
fn command(name: &'static str, given: Option<Maybe<String>>) -> Result<Option<String>, ConfigError> {
    let command = maybe(given);
    let splits = |text: &String| shlex::split(text).is_some_and(|words| !words.is_empty());
    if command.as_ref().is_none_or(splits) {
        return Ok(command);
    }
    Err(ConfigError::Range {
        name,
        rule: "a command and its arguments, with every quote closed",
    })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// `site` beside the program, where a package puts it, else where `xtask` builds it.
fn default_site() -> PathBuf {
    let packaged = std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join("site")));
    packaged
        .filter(|dir| dir.is_dir())
        .unwrap_or_else(|| PathBuf::from("target/site"))
}

impl ServeArgs {
    /// Fills in defaults and refuses what cannot work or would be open to anyone by accident.
    pub fn resolve(self) -> Result<Settings, ConfigError> {
        let no_auth = on(self.no_auth, false);
        let default_host = if no_auth {
            Ipv4Addr::LOCALHOST
        } else {
            Ipv4Addr::UNSPECIFIED
        };
        let host = or(self.host, IpAddr::V4(default_host));
        let token = if no_auth {
            if !host.is_loopback() {
                return Err(ConfigError::OpenToAll(host));
            }
            None
        } else {
            let token = maybe(self.token).ok_or(ConfigError::NoToken)?;
            if !token.expose().bytes().all(|b| b.is_ascii_graphic()) {
                return Err(ConfigError::BadToken);
            }
            Some(token)
        };
        let (port, s3_port) = (or(self.port, 8000), or(self.s3_port, 9000));
        let run_s3 = on(self.run_s3, true);
        if run_s3 && port == s3_port && port != 0 {
            return Err(ConfigError::SamePort(port));
        }
        let data_dir = or(self.data_dir, PathBuf::from("data"));
        let cache_dir = or(self.cache_dir, data_dir.join("cache"));
        Ok(Settings {
            host,
            port,
            s3_port,
            sims: or(self.sims, SimBackend::Local),
            max_local_sims: maybe(self.max_local_sims).map_or_else(cores, NonZeroUsize::get),
            token,
            accelsim_dir: or(self.accelsim_dir, PathBuf::from("/opt/accel-sim-framework")),
            openai_wait: seconds("CASCADE_OPENAI_WAIT_S", self.openai_wait_s, 3600.0)?,
            tokenizers_dir: or(self.tokenizers, data_dir.join("tokenizers")),
            v1: v1(
                self.v1_mode,
                self.v1_policy,
                self.v1_scheduler,
                self.v1_max_num_queued_reqs,
            )?,
            s3_bucket: bucket(self.s3_bucket)?,
            s3_prefix: prefix(self.s3_prefix)?,
            s3_anonymous: on(self.s3_anonymous, false),
            run_s3,
            s3_public_url: url("CASCADE_S3_PUBLIC_URL", self.s3_public_url)?,
            data_dir,
            cache_dir: Some(cache_dir).filter(|_| !on(self.no_cache, false)),
            site_dir: maybe(self.site_dir).unwrap_or_else(default_site),
            sim_cmd: command("CASCADE_SIM_CMD", self.sim_cmd)?,
            engine: or(self.engine, EngineChoice::Auto),
            postprocess_cmd: command("CASCADE_POSTPROCESS_CMD", self.postprocess_cmd)?,
            heartbeat_timeout: seconds("CASCADE_HEARTBEAT_TIMEOUT_S", self.heartbeat_timeout_s, 60.0)?,
            workspace: maybe(self.workspace),
            t0_ns: or(self.t0_ns, T0Table::default()),
            samples: on(self.samples, true),
            public_url: url("CASCADE_PUBLIC_URL", self.public_url)?,
            open_metrics: on(self.open_metrics, false),
            log_format: or(self.log_format, LogFormat::Text),
            log_filter: or(self.log_filter, "info".into()),
        })
    }
}
