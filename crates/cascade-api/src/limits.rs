//! Limits of the wire, each with the sentence that states it in an error.

/// Most sims one entry of a run may ask for.
pub const MAX_COUNT: u32 = 64;
/// Largest number of a log chunk: what every JSON reader keeps exact.
pub const MAX_LOG_SEQ: i64 = 9_000_000_000_000_000;
/// Lines of a sim's log that its summary carries.
pub const LOG_TAIL_LINES: usize = 20;
/// Bytes of one line in [`crate::SimSummary::log_tail`]; longer lines end in `…`.
pub const LOG_TAIL_LINE_BYTES: usize = 2_000;
/// Largest output file a sim may upload: 64 MiB.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// Most bytes of output files a sim may hold: 256 MiB.
pub const MAX_SIM_FILE_BYTES: u64 = 256 << 20;
/// Longest output file name.
pub const MAX_FILE_NAME: usize = 128;
/// Most values of one sweep of a hypothetical GPU.
pub const MAX_SWEEP_VALUES: usize = 64;
/// Longest title of a hypothetical GPU, in characters.
pub const MAX_GPU_TITLE: usize = 200;
/// Events a subscriber may fall behind before its stream is closed.
pub const MAX_EVENT_BACKLOG: usize = 2_000;
/// Largest JSON request body: 32 MiB, which a chunk of 200 very long log lines still fits.
pub const MAX_JSON_BYTES: usize = 32 << 20;
/// Largest step timeline a sim may send: 512 MiB, which a million kernels with long names still fit.
pub const MAX_TIMELINE_BYTES: usize = 512 << 20;
/// Output files up to this size get a preview: 16 MiB.
pub const MAX_PREVIEW_BYTES: u64 = 16 << 20;
/// The rule for output file names, as the API states it.
pub const FILE_NAME_PATTERN: &str = r"^(?!\.\.?$)[A-Za-z0-9._-]{1,128}$";

/// Whether a sim may store an output file under `name` (see [`FILE_NAME_PATTERN`]).
pub fn is_file_name(name: &str) -> bool {
    (1..=MAX_FILE_NAME).contains(&name.len())
        && name != "."
        && name != ".."
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}
