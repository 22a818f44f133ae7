//! Settings: defaults, refusals and what is shown.

use std::time::Duration;

use clap::Parser;

use super::{ConfigError, ServeArgs, Settings};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
}

fn settings(flags: &[&str]) -> Result<Settings, ConfigError> {
    let argv = std::iter::once(&"serve").chain(flags);
    Cli::try_parse_from(argv).unwrap().serve.resolve()
}

#[test]
fn a_token_is_all_that_must_be_given() {
    let s = settings(&["--token", "t0ken"]).unwrap();
    assert_eq!(
        (s.host.to_string().as_str(), s.port, s.s3_port),
        ("0.0.0.0", 8000, 9000)
    );
    assert_eq!(s.heartbeat_timeout, Duration::from_secs(60));
    assert!(s.traces_dir().ends_with("s3/cascade/accelsim-traces"));
}

#[test]
fn results_are_kept_beside_the_data_unless_told_otherwise() {
    let dir = |flags: &[&str]| settings(&[&["--token", "t"], flags].concat()).unwrap().cache_dir;
    assert_eq!(dir(&["--data-dir", "/d"]), Some("/d/cache".into()));
    assert_eq!(dir(&["--cache-dir", "/c"]), Some("/c".into()));
    assert_eq!(dir(&["--cache-dir", "/c", "--no-cache"]), None);
    let shown = settings(&["--token", "t", "--no-cache"]).unwrap().to_string();
    assert!(
        shown.contains("CASCADE_CACHE_DIR=\nCASCADE_NO_CACHE=true\n"),
        "{shown}"
    );
}

#[test]
fn an_empty_text_counts_as_unset() {
    let s = settings(&[
        "--token",
        " t0ken\n",
        "--port",
        "",
        "--sim-cmd",
        " ",
        "--samples",
        "",
    ])
    .unwrap();
    assert_eq!((s.port, s.sim_cmd, s.samples), (8000, None, true));
    assert_eq!(s.token.unwrap().expose(), "t0ken");
    assert_eq!(settings(&["--token", ""]).unwrap_err(), ConfigError::NoToken);
}

#[test]
fn what_would_be_open_or_cannot_work_is_refused() {
    let refused = |flags: &[&str]| settings(flags).unwrap_err();
    assert_eq!(refused(&[]), ConfigError::NoToken);
    assert_eq!(refused(&["--token", "a b"]), ConfigError::BadToken);
    assert!(matches!(
        refused(&["--no-auth", "--host", "0.0.0.0"]),
        ConfigError::OpenToAll(_)
    ));
    assert_eq!(
        refused(&["--token", "t", "--port", "9000"]),
        ConfigError::SamePort(9000)
    );
    assert!(matches!(
        refused(&["--token", "t", "--heartbeat-timeout-s", "0"]),
        ConfigError::Range { .. }
    ));
    let names = |flag: &str, value: &str| refused(&["--token", "t", flag, value]).to_string();
    for prefix in ["../..", "a//b", "a/./b", "/", "a\u{1b}"] {
        assert!(
            names("--s3-prefix", prefix).contains("CASCADE_S3_PREFIX"),
            "{prefix:?}"
        );
    }
    for bucket in ["a/b", "..", "ab", "Upper", "ab-", "a..b"] {
        assert!(
            names("--s3-bucket", bucket).contains("CASCADE_S3_BUCKET"),
            "{bucket:?}"
        );
    }
    assert!(names("--sim-cmd", "sim 'x").contains("CASCADE_SIM_CMD must be a command"));
    assert!(names("--postprocess-cmd", "\"").contains("CASCADE_POSTPROCESS_CMD"));
    assert!(matches!(
        refused(&["--token", "t", "--public-url", "host:1"]),
        ConfigError::Url { .. }
    ));
}

#[test]
fn without_a_token_only_this_machine_is_served() {
    let s = settings(&["--no-auth"]).unwrap();
    assert!(s.token.is_none() && s.host.is_loopback());
}

#[test]
fn a_host_is_an_address_or_this_machine() {
    let s = settings(&["--token", "t", "--host", "localhost"]).unwrap();
    assert!(s.host.is_loopback());
    let argv = |flag, value| Cli::try_parse_from(["serve", "--token", "t", flag, value]);
    let Err(error) = argv("--host", "example.org") else {
        panic!("a name is refused")
    };
    assert!(error.to_string().contains("or localhost"), "{error}");
    let Err(error) = argv("--sims", "slurm") else {
        panic!("only local sims are there")
    };
    assert!(error.to_string().contains("expected local:"), "{error}");
}

#[test]
fn the_token_is_never_shown() {
    let s = settings(&["--token", "s3cret"]).unwrap();
    let shown = format!("{s}{s:?}");
    assert!(!shown.contains("s3cret"));
    assert!(shown.contains("CASCADE_TOKEN=***\n") && shown.contains("CASCADE_PORT=8000\n"));
}

/// The settings as `docs/deploy.md` lists them.
fn settings_table() -> String {
    use clap::CommandFactory;
    let mut table = "| variable | flag | default | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    for arg in Cli::command().get_arguments() {
        let Some(variable) = arg.get_env() else { continue };
        let help = arg.get_help().unwrap().to_string();
        let (meaning, default) = match help.split_once("[default: ") {
            Some((meaning, rest)) => (meaning.trim_end(), rest.trim_end_matches(']')),
            None => (help.as_str(), ""),
        };
        let (variable, flag) = (variable.display(), arg.get_long().unwrap());
        let default = default.replace('<', "\\<");
        table += &format!("| `{variable}` | `--{flag}` | {default} | {meaning} |\n");
    }
    table
}

#[test]
fn the_documents_list_every_setting() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/deploy.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, rest) = text.split_once("<!-- settings -->").unwrap();
    let (listed, _) = rest.split_once("<!-- /settings -->").unwrap();
    let table = settings_table();
    assert_eq!(
        listed.trim(),
        table.trim(),
        "put this between the marks in docs/deploy.md:\n{table}"
    );
}

#[test]
fn a_live_scheduler_is_set_by_the_names_of_a_scenario() {
    let flags = ["--token", "t", "--v1-mode", "live", "--v1-scheduler"];
    let read = |scheduler: &str| Cli::try_parse_from([&["serve"], &flags[..], &[scheduler]].concat());
    let settings = |scheduler| read(scheduler).unwrap().serve.resolve();
    let given = "max_num_seqs=64,policy=priority,enable_prefix_caching=false";
    let s = settings(given).unwrap();
    assert_eq!(s.v1.scheduler.0.max_num_seqs, Some(64));
    assert_eq!(s.v1.scheduler.to_string().parse(), Ok(s.v1.scheduler.clone()));
    assert!(
        s.to_string()
            .contains("CASCADE_V1_MODE=live\nCASCADE_V1_POLICY=vllm-v1\n")
    );
    for (scheduler, words) in [
        ("max_num_seqs", "must look like"),
        ("max_num_seqs=0", "max_num_seqs: "),
        ("max_seqs=1", "max_seqs: "),
        ("watermark=2", "watermark: "),
    ] {
        let error = read(scheduler).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    }
    let reference = [
        &["serve"],
        &flags[..],
        &["watermark=0", "--v1-policy", "reference"],
    ]
    .concat();
    let error = Cli::try_parse_from(reference)
        .unwrap()
        .serve
        .resolve()
        .unwrap_err();
    assert!(error.to_string().contains("vllm-v1"), "{error}");
}
