//! The settings in force, as `cascade serve --print-config` shows them.

use std::fmt::{Display, Formatter, Result};

use std::path::PathBuf;

use super::Settings;

impl Settings {
    /// Every setting as its variable's name without `CASCADE_` and its value: secrets masked, unset values empty.
    fn shown(&self) -> [(&'static str, String); 34] {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let path = |value: &Option<PathBuf>| {
            value
                .as_ref()
                .map_or_else(String::new, |p| p.display().to_string())
        };
        let token = self.token.as_ref().map(|_| "***".to_owned());
        [
            ("HOST", self.host.to_string()),
            ("PORT", self.port.to_string()),
            ("S3_PORT", self.s3_port.to_string()),
            ("SIMS", self.sims.to_string()),
            ("MAX_LOCAL_SIMS", self.max_local_sims.to_string()),
            ("TOKEN", text(&token)),
            ("NO_AUTH", self.token.is_none().to_string()),
            ("ACCELSIM_DIR", self.accelsim_dir.display().to_string()),
            ("OPENAI_WAIT_S", self.openai_wait.as_secs_f64().to_string()),
            ("TOKENIZERS", self.tokenizers_dir.display().to_string()),
            ("V1_MODE", self.v1.mode.to_string()),
            ("V1_POLICY", self.v1.policy.to_string()),
            ("V1_SCHEDULER", self.v1.scheduler.to_string()),
            ("V1_MAX_NUM_QUEUED_REQS", self.v1.max_num_queued_reqs.to_string()),
            ("S3_BUCKET", self.s3_bucket.clone()),
            ("S3_PREFIX", self.s3_prefix.clone()),
            ("S3_ANONYMOUS", self.s3_anonymous.to_string()),
            ("RUN_S3", self.run_s3.to_string()),
            ("S3_PUBLIC_URL", text(&self.s3_public_url)),
            ("DATA_DIR", self.data_dir.display().to_string()),
            ("CACHE_DIR", path(&self.cache_dir)),
            ("NO_CACHE", self.cache_dir.is_none().to_string()),
            ("SITE_DIR", self.site_dir.display().to_string()),
            ("SIM_CMD", text(&self.sim_cmd)),
            ("ENGINE", self.engine.to_string()),
            ("POSTPROCESS_CMD", text(&self.postprocess_cmd)),
            (
                "HEARTBEAT_TIMEOUT_S",
                self.heartbeat_timeout.as_secs_f64().to_string(),
            ),
            ("WORKSPACE", text(&self.workspace)),
            ("T0_NS", self.t0_ns.to_string()),
            ("SAMPLES", self.samples.to_string()),
            ("PUBLIC_URL", text(&self.public_url)),
            ("OPEN_METRICS", self.open_metrics.to_string()),
            ("LOG_FORMAT", self.log_format.to_string()),
            ("LOG", self.log_filter.clone()),
        ]
    }
}

impl Display for Settings {
    /// One `CASCADE_NAME=value` a line.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (name, value) in self.shown() {
            writeln!(f, "CASCADE_{name}={value}")?;
        }
        Ok(())
    }
}
