//! Builds again when a migration appears: `sqlx::migrate!` alone does not notice new files.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
