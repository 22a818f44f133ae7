//! The `cascade` binary.

fn main() {}
