//! Any bytes are read as a config, their second half also as a nested file, and give a typed view or
//! positioned errors.

#![no_main]

use cascade_accelsim::config::{Cache, Config, GpuConfig, MAX_PROBLEMS, Source, arch_from_name, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let config = Config::read(&[Source { name: "a", text }], &mut |_| {
        Ok(text[text.len() / 2..].to_vec())
    });
    assert!(config.problems.len() <= MAX_PROBLEMS);
    match GpuConfig::new(&config) {
        Ok(gpu) => {
            let _notes = check(&gpu);
            assert!(gpu.sms() > 0 && gpu.clocks.core_mhz > 0.0);
        }
        Err(error) => assert!(!error.0.is_empty()),
    }
    assert_eq!(config.hash(), config.clone().hash());
    let text = String::from_utf8_lossy(text);
    let _cache = Cache::parse(&text);
    let _arch = arch_from_name(&text);
});
