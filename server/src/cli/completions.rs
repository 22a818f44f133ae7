//! Completion scripts for shells.

use clap::CommandFactory;
use clap_complete::Shell;

use super::out::Out;
use super::{Cli, Result};

/// For which shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell, for example: cascade completions bash > ~/.local/share/bash-completion/completions/cascade
    shell: Shell,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Result {
    // Written to memory first: the generator panics when its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cascade", &mut script);
    Ok(std::io::Write::write_all(out, &script)?)
}
