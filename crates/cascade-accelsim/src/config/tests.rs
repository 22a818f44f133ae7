//! Behaviour of the config reader.

mod real;
mod syntax;
mod typed;

use super::*;

/// Reads one text without nested files.
fn read(text: &str) -> Config {
    Config::read(
        &[Source {
            name: "c",
            text: text.as_bytes(),
        }],
        &mut |name| Err(format!("no {name}")),
    )
}

/// A complete small config.
const GPU: &str = "-gpgpu_clock_domains 1000:2000:3000:4000.5\n-gpgpu_shader_core_pipeline 2048:32\n\
    -gpgpu_n_clusters 10\n-gpgpu_n_cores_per_cluster 2\n-gpgpu_n_mem 16\n-gpgpu_n_sub_partition_per_mchannel 2\n\
    -gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32\n-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:512:8,16:0,32\n";
