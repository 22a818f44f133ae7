//! The `cascade` binary.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
