//! The figures of known GPUs.

use super::Datasheet;

/// A row of the table: name, TFLOP/s, TB/s, GB, GiB that CUDA reports, source.
type Row = (&'static str, f64, f64, f64, Option<f64>, &'static str);

/// GPUs by config name, sorted. The first three values are NVIDIA's, for dense 16-bit products with 32-bit
/// sums; memory that CUDA reports is as PyTorch or vLLM printed it on such a GPU.
const TABLE: [Row; 14] = [
    (
        "SM100_B200",
        2250.0,
        8.0,
        180.0,
        Some(178.35),
        "NVIDIA DGX B200 datasheet: 36 PFLOPS of sparse BF16, 64 TB/s and 1,440 GB on 8 GPUs; CUDA memory: PyTorch",
    ),
    (
        "SM120_RTX_PRO_6000",
        503.8,
        1.792,
        96.0,
        Some(94.97),
        "NVIDIA RTX PRO 6000 Blackwell Workstation Edition: RTX Blackwell PRO architecture whitepaper; CUDA memory: PyTorch",
    ),
    (
        "SM75_RTX2060",
        25.8,
        0.336,
        6.0,
        None,
        "NVIDIA Turing architecture whitepaper: 51.6 TFLOPS with FP16 sums, half of it with FP32 sums",
    ),
    (
        "SM7_QV100",
        118.5,
        0.870,
        32.0,
        None,
        "NVIDIA Quadro GV100 datasheet",
    ),
    (
        "SM80_A100",
        312.0,
        2.039,
        80.0,
        Some(79.25),
        "NVIDIA A100 80GB SXM datasheet; CUDA memory: PyTorch",
    ),
    (
        "SM80_A100_40GB",
        312.0,
        1.555,
        40.0,
        Some(39.50),
        "NVIDIA A100 40GB SXM datasheet; CUDA memory: PyTorch",
    ),
    ("SM86_A10", 125.0, 0.600, 24.0, None, "NVIDIA A10 datasheet"),
    (
        "SM86_RTX3070",
        40.6,
        0.448,
        8.0,
        None,
        "NVIDIA Ampere GA102 architecture whitepaper: FP16 tensor with FP32 sums, dense",
    ),
    (
        "SM89_L4",
        121.0,
        0.300,
        24.0,
        None,
        "NVIDIA L4 datasheet: half of 242 TFLOPS with sparsity",
    ),
    (
        "SM89_L40S",
        362.05,
        0.864,
        48.0,
        Some(44.40),
        "NVIDIA L40S datasheet; CUDA memory: PyTorch",
    ),
    (
        "SM89_RTX4090",
        165.2,
        1.008,
        24.0,
        Some(25_250_627_584.0 / super::GIB),
        "NVIDIA Ada architecture whitepaper: FP16 tensor with FP32 sums, dense; CUDA memory: 25,250,627,584 bytes, LLMServingSim bench meta.json",
    ),
    (
        "SM90_H100",
        989.0,
        3.35,
        80.0,
        Some(79.18),
        "NVIDIA H100 SXM datasheet; CUDA memory: llm-d-benchmark, empirical-vllm-memory-results.md",
    ),
    (
        "SM90_H100_PCIE",
        756.0,
        2.0,
        80.0,
        Some(79.18),
        "NVIDIA H100 PCIe datasheet: half of 1,513 TFLOPS with sparsity; CUDA memory assumed as SXM",
    ),
    (
        "SM90_H200",
        989.0,
        4.8,
        141.0,
        Some(139.80),
        "NVIDIA H200 SXM datasheet; CUDA memory: PyTorch",
    ),
];

/// Every GPU of the table, by name.
pub fn datasheets() -> impl Iterator<Item = Datasheet> {
    TABLE.iter().map(
        |&(gpu, compute_tflops, bandwidth_tbs, memory_gb, cuda_memory_gib, source)| Datasheet {
            gpu: gpu.to_owned(),
            compute_tflops,
            bandwidth_tbs,
            memory_gb,
            cuda_memory_gib,
            source: source.to_owned(),
        },
    )
}

/// The figures of the GPU of this config name; none where the table lacks it.
pub fn datasheet(gpu: &str) -> Option<Datasheet> {
    datasheets().find(|sheet| sheet.gpu == gpu)
}
