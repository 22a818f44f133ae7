//! The profiler's own records of a traced run, where they were uploaded with the trace.

use std::io::{ErrorKind, Read};
use std::path::Path;

use cascade_api::TraceId;
use cascade_serving::profile::{MAX_RUN_FILE_BYTES, RUN_FILE, RunDocument, WORKLOAD_FILE};

use crate::error::Error;
use crate::runs::Service;

impl Service {
    /// `run.json` and `workload.json` of a trace's folder, as far as they are there.
    pub(super) async fn scenario_records(&self, trace: &TraceId) -> Result<Vec<RunDocument>, Error> {
        let folder = self.settings.traces_dir().join(trace.as_str());
        let read = move || {
            [RUN_FILE, WORKLOAD_FILE]
                .into_iter()
                .filter_map(|name| record(&folder, name))
                .collect()
        };
        Ok(tokio::task::spawn_blocking(read).await?)
    }
}

/// One of them; what cannot be read says so in the profile's assumptions.
fn record(folder: &Path, name: &str) -> Option<RunDocument> {
    let broken = |problem: String| RunDocument {
        name: name.to_owned(),
        content: Err(problem),
    };
    let file = match std::fs::File::open(folder.join(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(broken(error.to_string())),
    };
    let mut json = Vec::new();
    let read = file.take(MAX_RUN_FILE_BYTES as u64 + 1).read_to_end(&mut json);
    Some(match read {
        Ok(length) if length > MAX_RUN_FILE_BYTES => broken(format!("over {MAX_RUN_FILE_BYTES} bytes")),
        Ok(_) => RunDocument::parse(name, &json),
        Err(error) => broken(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_or_say_why_not() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(record(folder.path(), RUN_FILE), None);
        let write = |text: &str| std::fs::write(folder.path().join(RUN_FILE), text).unwrap();
        write(r#"{"engine": {"max_model_len": 512}}"#);
        let found = record(folder.path(), RUN_FILE).unwrap();
        assert_eq!(found.field("max_model_len"), Some(&512.into()));
        for wrong in ["[1]", "{", &" ".repeat(MAX_RUN_FILE_BYTES + 1)] {
            write(wrong);
            assert!(record(folder.path(), RUN_FILE).unwrap().content.is_err());
        }
    }
}
