//! When an upload is complete, and what is to be done with it.
//!
//! | `metadata.json` | complete when |
//! |---|---|
//! | with a `files` list | every listed file is there with its size |
//! | without | nothing changed since the previous scan, and each kernel list has its statistics; a processed list needs none if all its kernels are there |
//! | missing | nothing changed for [`BARE_QUIET`], and every kernel that the lists name is there: a folder that was simply copied |
//!
//! The trace's files lie in `traces/`. Where that folder has no kernel list but the trace's own folder has
//! one, that folder is the trace ("flat"): its files get second names in `traces/` once it is complete.
//!
//! A processed list of which some kernels are there and some are not fails the trace. One of which none
//! is there is a stand-in for replaying recorded logs, and passes.

use std::collections::BTreeSet;
use std::time::Duration;

use super::metadata::Metadata;
use super::record::Record;
use super::tree::{Tree, is_raw_list};

/// Quiet time that counts as "nothing changed since the previous scan", which is two seconds ago.
pub(super) const SETTLED: Duration = Duration::from_millis(1500);
/// Quiet time after which a folder without `metadata.json` counts as complete.
pub(super) const BARE_QUIET: Duration = Duration::from_secs(20);
/// Quiet time after which kernels that are listed but missing count as missing rather than on their way.
pub(super) const MISSING_QUIET: Duration = Duration::from_secs(60);
/// Missing files that an error names.
const NAMED_FILES: usize = 3;
/// Folder and file that simulators read.
pub(super) const TRACES: &str = "traces/";
/// Name of a processed kernel list.
pub(super) const LIST: &str = "kernelslist.g";

/// What a look at a trace says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Files are still to come.
    Wait,
    /// It can never be used as it is.
    Failed(String),
    /// Complete, and simulators can read it; in the trace's own folder if `flat`.
    Processed {
        /// Whether the files lie beside `traces/` instead of in it.
        flat: bool,
    },
    /// Complete, but needs the post-processor.
    Raw {
        /// Whether the files lie beside `traces/` instead of in it.
        flat: bool,
    },
}

/// What the rule looks at.
pub(super) struct Look<'a> {
    /// The files now.
    pub tree: &'a Tree,
    /// `metadata.json`, if it is there.
    pub metadata: Option<&'a Metadata>,
    /// What this server did with the trace before.
    pub record: Option<&'a Record>,
    /// Time since a scan first saw the files as they are.
    pub quiet: Duration,
    /// Reads the kernels' names from the list at a path within the trace.
    pub list: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
}

/// Which kernels of a list are there.
enum Kernels {
    All,
    None,
    Missing(Vec<String>),
}

impl Look<'_> {
    /// The rule.
    pub(super) fn verdict(&self) -> Verdict {
        self.decide().unwrap_or_else(Verdict::Failed)
    }

    fn decide(&self) -> Result<Verdict, String> {
        if self.metadata.is_some_and(Metadata::failed) {
            return Err("profiler reported status 'failed' in metadata.json".into());
        }
        let flat = self.is_flat();
        let home = if flat { "" } else { TRACES };
        let processed = self.is_processed(home)?;
        let raw = self.raw_lists(home).next().is_some();
        // A flat trace that was processed here has its list in `traces/`.
        let listed_in = if self.tree.has(&format!("{home}{LIST}")) {
            home
        } else {
            TRACES
        };
        match self.metadata.map(|m| &m.files) {
            Some(Some(files)) => {
                if files.iter().any(|f| self.tree.size(&f.path) != Some(f.bytes)) {
                    return Ok(Verdict::Wait);
                }
                if !processed && !raw {
                    return Err(format!(
                        "the upload is complete but has no kernel list: neither {TRACES}{LIST} nor \
                         {TRACES}kernelslist or {TRACES}kernelslist_ctx_*"
                    ));
                }
            }
            Some(None) if self.quiet < SETTLED => return Ok(Verdict::Wait),
            Some(None) => {
                let full = processed && !matches!(self.kernels(listed_in, LIST)?, Kernels::Missing(_));
                if !(processed || raw) || !(full || self.has_statistics(home)) {
                    return Ok(Verdict::Wait);
                }
            }
            None => {
                let full = match processed {
                    true => matches!(self.kernels(listed_in, LIST)?, Kernels::All),
                    false => raw && self.has_statistics(home) && self.has_raw_kernels(home)?,
                };
                if !full || self.quiet < BARE_QUIET {
                    return Ok(Verdict::Wait);
                }
            }
        }
        if !processed {
            return Ok(Verdict::Raw { flat });
        }
        match self.kernels(listed_in, LIST)? {
            Kernels::All | Kernels::None => Ok(Verdict::Processed { flat }),
            Kernels::Missing(names) => {
                let listed = self.metadata.is_some_and(|m| m.files.is_some());
                if !listed && self.quiet < MISSING_QUIET {
                    return Ok(Verdict::Wait);
                }
                Err(missing(listed_in, &names))
            }
        }
    }

    fn is_flat(&self) -> bool {
        let has_list = |folder| self.tree.in_folder(folder).any(|n| n == LIST || is_raw_list(n));
        has_list("") && (!has_list(TRACES) || self.record.is_some_and(|r| r.flat))
    }

    /// Whether the trace needs no post-processing: it came processed, or was processed here and its raw
    /// files have not been uploaded anew since.
    fn is_processed(&self, home: &str) -> Result<bool, String> {
        let list = self.tree.file_mark(&format!("{TRACES}{LIST}"));
        let Some(record) = self.record.filter(|r| r.processed) else {
            return Ok(self.tree.has(&format!("{home}{LIST}")));
        };
        if home.is_empty() && self.tree.has(LIST) {
            return Ok(true);
        }
        let raw = self.raw_lists(home).next().is_some();
        match (&record.list, list) {
            (_, None) => Ok(false),
            // The post-processor did not finish.
            (None, Some(_)) => Ok(!raw),
            (Some(ours), Some(list)) if *ours == hex::encode(list) => {
                let same = record.source == hex::encode(self.tree.source_mark(home));
                // Raw files that were deleted to save space are no new upload.
                Ok(same || !raw || !self.has_raw_kernels(home)?)
            }
            (Some(_), Some(_)) => Ok(!home.is_empty()),
        }
    }

    fn raw_lists<'t>(&'t self, home: &'t str) -> impl Iterator<Item = &'t str> {
        self.tree.in_folder(home).filter(|name| is_raw_list(name))
    }

    /// Whether each raw list has the statistics that the tracer writes at its end.
    fn has_statistics(&self, home: &str) -> bool {
        self.raw_lists(home)
            .all(|list| match list.strip_prefix("kernelslist_ctx_") {
                Some(context) => self.tree.has(&format!("{home}stats_ctx_{context}")),
                None => self.tree.has(&format!("{home}stats.csv")),
            })
    }

    fn has_raw_kernels(&self, home: &str) -> Result<bool, String> {
        for list in self.raw_lists(home) {
            if !matches!(self.kernels(home, list)?, Kernels::All) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn kernels(&self, home: &str, list: &str) -> Result<Kernels, String> {
        let listed: BTreeSet<String> = (self.list)(&format!("{home}{list}"))?.into_iter().collect();
        let all = listed.len();
        let missing: Vec<String> = listed
            .into_iter()
            .filter(|name| !self.tree.has(&format!("{home}{name}")))
            .collect();
        Ok(match missing.len() {
            0 if all > 0 => Kernels::All,
            n if n == all => Kernels::None,
            _ => Kernels::Missing(missing),
        })
    }
}

fn missing(home: &str, names: &[String]) -> String {
    let shown = names
        .iter()
        .take(NAMED_FILES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let more = match names.len().saturating_sub(NAMED_FILES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{home}{LIST} lists files that are not there: {shown}{more}; upload them beside it")
}

#[cfg(test)]
mod tests;
