//! `bench`: figures that a reader of the README can make again.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::sh::{cargo, cmd, root, run};
use crate::tools;
use serving::ServingArgs;

mod serving;

/// Options of `cargo xtask bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Also compare the S3 endpoint with `rclone serve s3` (1 GiB and 5,000 small files).
    #[arg(long)]
    s3: bool,
    /// Where the S3 comparison keeps its files; needs 4 GiB.
    #[arg(long)]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    serving: ServingArgs,
}

/// Runs every benchmark.
pub(crate) fn bench(args: &BenchArgs) -> Result<()> {
    for (package, example) in [
        ("cascade-accelsim", "log_speed"),
        ("cascade-accelsim", "trace_speed"),
    ] {
        run(&mut cargo(&[
            "run",
            "--release",
            "--quiet",
            "-p",
            package,
            "--example",
            example,
        ]))?;
    }
    serving::bench(&args.serving)?;
    if args.s3 {
        let python = tools::python()?;
        run(&mut cargo(&[
            "build",
            "--release",
            "-p",
            "cascade-s3",
            "--example",
            "serve",
        ]))?;
        let server = crate::sh::target_dir().join("release/examples/serve");
        let scratch = args
            .scratch
            .clone()
            .unwrap_or_else(|| crate::sh::target_dir().join("s3-bench"));
        run(cmd(python, &[])
            .arg(root().join("end2end/s3_bench.py"))
            .arg(server)
            .arg(scratch))?;
    }
    Ok(())
}
