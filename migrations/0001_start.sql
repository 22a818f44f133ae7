-- Times are microseconds since the Unix epoch. Lists and maps are JSON text.

CREATE TABLE traces (
    id TEXT PRIMARY KEY NOT NULL,
    state TEXT NOT NULL,
    error TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    model TEXT,
    layers TEXT NOT NULL DEFAULT '[]',
    source_gpu TEXT,
    trace_gpu_arch TEXT NOT NULL,
    suggested_sim_config TEXT,
    real_gpu_config TEXT,
    sample_sim_configs TEXT NOT NULL DEFAULT '[]',
    sample_set TEXT,
    kernel_count INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    has_real_timing INTEGER NOT NULL DEFAULT 0,
    has_step_timeline INTEGER NOT NULL DEFAULT 0,
    sample INTEGER NOT NULL DEFAULT 0,
    synthetic INTEGER NOT NULL DEFAULT 0,
    metadata TEXT
) STRICT;

-- Launches on the original GPU. `position` keeps the order of the trace's statistics files.
CREATE TABLE trace_kernels (
    trace_id TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kernel_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    grid TEXT NOT NULL,
    block TEXT NOT NULL,
    instructions INTEGER,
    PRIMARY KEY (trace_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    trace_id TEXT NOT NULL REFERENCES traces (id),
    created_at INTEGER NOT NULL,
    entries TEXT NOT NULL,
    sample INTEGER NOT NULL DEFAULT 0,
    replay INTEGER NOT NULL DEFAULT 0
) STRICT;

-- `number` is the order of creation, which is the order of launching.
CREATE TABLE sims (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run_id TEXT NOT NULL REFERENCES runs (id),
    gpu_config TEXT NOT NULL,
    replica INTEGER NOT NULL,
    engine TEXT NOT NULL,
    state TEXT NOT NULL,
    state_since INTEGER NOT NULL,
    error TEXT,
    launcher_ref TEXT,
    created_at INTEGER NOT NULL,
    launched_at INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    last_heartbeat_at INTEGER,
    exit_code INTEGER,
    kernels_done INTEGER NOT NULL DEFAULT 0,
    kernels_total INTEGER NOT NULL,
    current_kernel TEXT,
    latest TEXT NOT NULL,
    log_tail TEXT NOT NULL DEFAULT '[]',
    next_seq INTEGER NOT NULL DEFAULT 0,
    log_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX sims_by_run ON sims (run_id);
CREATE INDEX sims_by_state ON sims (state, number);

-- Log chunks that came before the one that is due.
CREATE TABLE early_chunks (
    sim_id TEXT NOT NULL REFERENCES sims (id),
    seq INTEGER NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (sim_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernels (
    sim_id TEXT NOT NULL REFERENCES sims (id),
    kernel_index INTEGER NOT NULL,
    kernel_name TEXT NOT NULL,
    kernel_launch_uid INTEGER,
    gpu_sim_cycle INTEGER,
    gpu_sim_insn INTEGER,
    gpu_ipc REAL,
    sim_time_ns REAL,
    PRIMARY KEY (sim_id, kernel_index)
) STRICT, WITHOUT ROWID;

-- Every key and value of a kernel's block, apart from `kernels` so that lists stay quick to read:
-- JSON compressed by zstd.
CREATE TABLE kernel_stats (
    number INTEGER PRIMARY KEY,
    sim_id TEXT NOT NULL,
    kernel_index INTEGER NOT NULL,
    stats BLOB NOT NULL,
    UNIQUE (sim_id, kernel_index),
    FOREIGN KEY (sim_id, kernel_index) REFERENCES kernels (sim_id, kernel_index)
) STRICT;

-- Step timelines lie as files under `steps/`; a row says that one is complete.
CREATE TABLE step_timelines (
    sim_id TEXT PRIMARY KEY NOT NULL REFERENCES sims (id),
    created_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Output files lie under `files/<sim>/`; a row says that one is complete.
CREATE TABLE files (
    sim_id TEXT NOT NULL REFERENCES sims (id),
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (sim_id, name)
) STRICT, WITHOUT ROWID;
