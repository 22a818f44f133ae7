//! Whether a config simulates the GPU that was measured.

/// Words after a model that make it another one, such as `RTX 3070 Ti` and `H100 PCIe`: SMs, clocks or memory
/// differ from those of the card that has the plain name (the SXM one of data-centre GPUs).
const VARIANTS: [&str; 8] = ["TI", "SUPER", "MAX", "PCIE", "NVL", "LAPTOP", "MOBILE", "D"];

/// Whether a config such as `SM86_RTX3070` is of the GPU that a driver calls `NVIDIA GeForce RTX 3070`.
///
/// The config's last part must be one or more whole words of the name, run together.
pub fn same_gpu(config: &str, name: &str) -> bool {
    let model = config.rsplit('_').next().unwrap_or(config).to_ascii_uppercase();
    let name = name.to_ascii_uppercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let starts = |from: &[&str]| {
        let mut joined = String::new();
        for (i, word) in from.iter().enumerate() {
            joined.push_str(word);
            if joined == model {
                return !from.get(i + 1).is_some_and(|next| VARIANTS.contains(next));
            }
        }
        false
    };
    !model.is_empty() && (0..words.len()).any(|i| words.get(i..).is_some_and(starts))
}

#[cfg(test)]
mod tests {
    use super::same_gpu;

    #[test]
    fn a_config_is_matched_by_whole_words() {
        assert!(same_gpu("SM90_H100", "NVIDIA H100 80GB HBM3"));
        assert!(same_gpu("SM80_A100", "NVIDIA A100-SXM4-80GB"));
        assert!(same_gpu("SM86_RTX3070", "NVIDIA GeForce RTX 3070"));
        assert!(!same_gpu("SM86_RTX3070", "NVIDIA GeForce RTX 3070 Ti"));
        assert!(!same_gpu("SM90_H100", "NVIDIA H100 PCIe"));
        assert!(!same_gpu("SM90_H100", "NVIDIA H100 NVL"));
        assert!(!same_gpu("SM80_A100", "NVIDIA A100-PCIE-40GB"));
        assert!(!same_gpu("SM90_H200", "NVIDIA H100 80GB HBM3"));
        assert!(!same_gpu("SM86_A10", "NVIDIA A100-SXM4-80GB"));
        assert!(!same_gpu("SM90_H200", "NVIDIA GH200 480GB"));
        assert!(!same_gpu("", "NVIDIA H100"));
    }
}
