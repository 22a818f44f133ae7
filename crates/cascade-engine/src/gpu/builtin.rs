//! The GPU files that ship with the program.

use super::{GpuFileError, GpuModel};

/// File name and text of every GPU file, sorted by name.
const FILES: [(&str, &str); 7] = [
    (
        "SM75_RTX2060.toml",
        include_str!("../../../../gpus/SM75_RTX2060.toml"),
    ),
    ("SM7_QV100.toml", include_str!("../../../../gpus/SM7_QV100.toml")),
    ("SM80_A100.toml", include_str!("../../../../gpus/SM80_A100.toml")),
    (
        "SM86_RTX3070.toml",
        include_str!("../../../../gpus/SM86_RTX3070.toml"),
    ),
    (
        "SM89_RTX4090.toml",
        include_str!("../../../../gpus/SM89_RTX4090.toml"),
    ),
    ("SM90_H100.toml", include_str!("../../../../gpus/SM90_H100.toml")),
    ("SM90_H200.toml", include_str!("../../../../gpus/SM90_H200.toml")),
];

/// Every built-in GPU, sorted by name.
///
/// # Errors
/// Only when a shipped file is broken, which a test rules out.
pub fn builtin() -> Result<Vec<GpuModel>, GpuFileError> {
    FILES
        .iter()
        .map(|(file, text)| GpuModel::from_toml(text, file))
        .collect()
}
