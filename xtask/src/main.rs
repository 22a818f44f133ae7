//! Everything a person or a machine does with this repository: `cargo xtask <command>`.

mod bench;
mod ci;
mod demo;
mod docs;
mod purity;
mod samples;
mod serving_wasm;
mod sh;
mod site;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Build, try, test and check Cascade.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the app, start it, upload a small synthetic trace and simulate it on an H100 and an H200.
    Demo(demo::DemoArgs),
    /// Build the app and start it: `cargo xtask serve -- --port 8000`.
    Serve(demo::ServeArgs),
    /// Build what the browser loads alone, into the target folder's `site`.
    Site(demo::SiteArgs),
    /// Run every test: crates, command line, S3 clients and browser.
    Test(test::TestArgs),
    /// What the build machine runs: formatting, lints, purity, licences and every test.
    Ci,
    /// Measure the parsers, the engine and the S3 endpoint.
    Bench(bench::BenchArgs),
    /// Make the bundled samples again: `samples/`, from published statistics.
    Samples,
    /// Build the documents alone into the site's folder.
    Docs(docs::DocsArgs),
    /// Check sizes, module docs and forbidden words, and print the table of file sizes.
    Tidy,
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Demo(args) => demo::demo(&args),
        Command::Serve(args) => demo::serve(&args),
        Command::Site(args) => demo::site(&args),
        Command::Test(args) => test::test(&args),
        Command::Ci => ci::ci(),
        Command::Bench(args) => bench::bench(&args),
        Command::Samples => samples::samples(),
        Command::Docs(args) => docs::docs(&args),
        Command::Tidy => tidy::tidy(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // What went wrong, and nothing of where in this program.
        Err(error) => {
            sh::say(format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
