//! Prints the digest of the native build, which the WASM build has to repeat.

#![expect(clippy::print_stdout, reason = "the example's output")]

fn main() {
    println!("{}", cascade_serving_checks::scenarios_digest());
}
