//! Has the linker keep what `cargo xtask` needs to cut the module by page.

#[expect(
    clippy::disallowed_methods,
    reason = "this runs on the machine that builds, which has an environment"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--emit-relocs");
    }
}
