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
//! A `files` list also tells the upload's own files from what an earlier one left under the same name: a
//! kernel list that is neither listed nor made here from listed ones does not count.
//!
//! A processed list that names no kernel, or kernels that are not there, fails the trace. Where
//! `CASCADE_SIM_CMD` simulates, one of which none is there is a stand-in for replaying recorded logs.

use std::collections::BTreeSet;
use std::time::Duration;

use super::metadata::{Listed, METADATA_FILE, Metadata};
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
/// What a trace waits for that has all it needs.
const STILL: &str = "the files to stop changing";
/// Folder and file that simulators read.
pub(super) const TRACES: &str = "traces/";
/// Name of a processed kernel list.
pub(super) const LIST: &str = "kernelslist.g";

/// What a look at a trace says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Files are still to come: what it waits for.
    Wait(String),
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
    /// Whether a list of which no kernel is there passes.
    pub stand_ins: bool,
    /// Reads the kernels' names from the list at a path within the trace.
    pub list: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
}

/// Which kernels of a list are there.
enum Kernels {
    All,
    /// Their names, if it names any.
    None(Vec<String>),
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
        if let Some(what) = self.files().and_then(|files| self.to_come(files)) {
            return Ok(Verdict::Wait(what));
        }
        let processed = self.is_processed(home)?;
        let raw = self.raw_lists(home).next().is_some();
        if !processed && self.files().is_some() {
            self.has_list_of_its_own(home, raw)?;
        }
        // A flat trace that was processed here has its list in `traces/`.
        let listed_in = if self.tree.has(&format!("{home}{LIST}")) {
            home
        } else {
            TRACES
        };
        match self.metadata {
            Some(_) if self.files().is_some() => {}
            Some(_) if self.quiet < SETTLED => return Ok(still()),
            Some(_) if !(processed || raw) => {
                let lists = format!(
                    "a kernel list: {TRACES}{LIST}, {TRACES}kernelslist or {TRACES}kernelslist_ctx_*"
                );
                return Ok(Verdict::Wait(lists));
            }
            Some(_) => {
                let full = processed && !matches!(self.kernels(listed_in, LIST)?, Kernels::Missing(_));
                if let (false, Some(what)) = (full, self.missing_statistics(home)) {
                    return Ok(Verdict::Wait(what));
                }
            }
            None => {
                if let Some(what) = self.bare_waits_for(home, listed_in, processed)? {
                    return Ok(Verdict::Wait(what));
                }
            }
        }
        if !processed {
            return Ok(Verdict::Raw { flat });
        }
        let (names, none) = match self.kernels(listed_in, LIST)? {
            Kernels::All => return Ok(Verdict::Processed { flat }),
            Kernels::None(_) if self.stand_ins => return Ok(Verdict::Processed { flat }),
            Kernels::None(names) => (names, true),
            Kernels::Missing(names) => (names, false),
        };
        if self.files().is_none() && self.quiet < MISSING_QUIET {
            return Ok(Verdict::Wait(kernels_to_come(listed_in, &names)));
        }
        Err(missing(listed_in, &names, none))
    }

    fn files(&self) -> Option<&[Listed]> {
        self.metadata.and_then(|m| m.files.as_deref())
    }

    /// The listed files that are not there with their sizes, in words; `None` if all are.
    fn to_come(&self, files: &[Listed]) -> Option<String> {
        let missing: Vec<&str> = files
            .iter()
            .filter(|f| self.tree.size(&f.path) != Some(f.bytes))
            .map(|f| f.path.as_str())
            .collect();
        let (some, all) = (missing.len(), files.len());
        (some > 0).then(|| format!("{some} of {all} listed files: {}", first_of(&missing)))
    }

    /// What a folder without `metadata.json` waits for.
    fn bare_waits_for(&self, home: &str, listed_in: &str, processed: bool) -> Result<Option<String>, String> {
        let full = match processed {
            true => match self.kernels(listed_in, LIST)? {
                Kernels::All => true,
                Kernels::None(names) | Kernels::Missing(names) => {
                    let files = kernels_to_come(listed_in, &names);
                    return Ok(Some(format!("{METADATA_FILE}, or {files}")));
                }
            },
            false => {
                self.raw_lists(home).next().is_some()
                    && self.missing_statistics(home).is_none()
                    && self.has_raw_kernels(home)?
            }
        };
        Ok(match full {
            false => Some(METADATA_FILE.into()),
            true if self.quiet < BARE_QUIET => Some(STILL.into()),
            true => None,
        })
    }

    /// Whether a complete upload has a list to go by, and none that it did not bring.
    fn has_list_of_its_own(&self, home: &str, raw: bool) -> Result<(), String> {
        let folders = [home, TRACES].into_iter();
        let left = folders
            .flat_map(|folder| self.tree.in_folder(folder).map(move |name| (folder, name)))
            .filter(|(_, name)| is_raw_list(name) || (!raw && *name == LIST))
            .map(|(folder, name)| format!("{folder}{name}"))
            .find(|path| !self.is_current(path));
        match left {
            Some(path) => Err(format!(
                "{path} was left by another upload under this name: {METADATA_FILE} does not list it; delete it, \
                 upload again with --replace, or use another name"
            )),
            None if raw => Ok(()),
            None => Err(format!(
                "the upload is complete but has no kernel list: neither {TRACES}{LIST} nor {TRACES}kernelslist or \
                 {TRACES}kernelslist_ctx_*"
            )),
        }
    }

    fn is_flat(&self) -> bool {
        let has_list = |folder: &str| {
            let mut names = self.tree.in_folder(folder);
            names.any(|n| (n == LIST || is_raw_list(n)) && self.is_current(&format!("{folder}{n}")))
        };
        has_list("") && (!has_list(TRACES) || self.record.is_some_and(|r| r.flat))
    }

    fn is_current(&self, path: &str) -> bool {
        is_current(self.metadata, self.record, path)
    }

    /// Whether the trace needs no post-processing: it came processed, or was processed here and its raw
    /// files have not been uploaded anew since.
    fn is_processed(&self, home: &str) -> Result<bool, String> {
        let list = self.tree.file_mark(&format!("{TRACES}{LIST}"));
        let came = |home: &str| {
            let path = format!("{home}{LIST}");
            self.tree.has(&path) && self.is_current(&path)
        };
        let Some(record) = self.record.filter(|r| r.processed) else {
            return Ok(came(home));
        };
        if home.is_empty() && came(home) {
            return Ok(true);
        }
        let raw = self.raw_lists(home).next().is_some();
        match (&record.list, list) {
            (_, None) => Ok(false),
            // The post-processor did not finish.
            (None, Some(_)) => Ok(!raw && came(TRACES)),
            (Some(ours), Some(list)) if *ours == hex::encode(list) => {
                let same = record.source == hex::encode(self.tree.source_mark(home));
                // Raw files that were deleted to save space are no new upload.
                Ok(match raw {
                    true => same || !self.has_raw_kernels(home)?,
                    false => came(TRACES),
                })
            }
            (Some(_), Some(_)) => Ok(!home.is_empty() && came(TRACES)),
        }
    }

    /// The upload's lists as the tracer writes them.
    fn raw_lists<'t>(&'t self, home: &'t str) -> impl Iterator<Item = &'t str> {
        let names = self.tree.in_folder(home);
        names.filter(move |name| is_raw_list(name) && self.is_current(&format!("{home}{name}")))
    }

    /// The first raw list's statistics, which the tracer writes at its end, that are not there, in words.
    fn missing_statistics(&self, home: &str) -> Option<String> {
        self.raw_lists(home).find_map(|list| {
            let name = match list.strip_prefix("kernelslist_ctx_") {
                Some(context) => format!("{home}stats_ctx_{context}"),
                None => format!("{home}stats.csv"),
            };
            (!self.tree.has(&name)).then(|| format!("{name} for {home}{list}"))
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
            n if n == all => Kernels::None(missing),
            _ => Kernels::Missing(missing),
        })
    }
}

/// Whether the upload that `metadata` tells of brought the file at `path`, or its first name if the trace
/// is flat; without a `files` list every file counts.
pub(super) fn is_current(metadata: Option<&Metadata>, record: Option<&Record>, path: &str) -> bool {
    let Some(files) = metadata.and_then(|m| m.files.as_deref()) else {
        return true;
    };
    let first = path
        .strip_prefix(TRACES)
        .filter(|_| record.is_some_and(|r| r.flat));
    files
        .iter()
        .any(|f| f.path == path || Some(f.path.as_str()) == first)
}

fn still() -> Verdict {
    Verdict::Wait(STILL.into())
}

fn kernels_to_come(home: &str, names: &[String]) -> String {
    match names {
        [] => format!("a kernel in {home}{LIST}"),
        names => format!("files that {home}{LIST} names: {}", first_of(names)),
    }
}

fn missing(home: &str, names: &[String], none: bool) -> String {
    match (names.len(), none) {
        (0, _) => format!("{home}{LIST} names no kernel, so there is nothing to simulate"),
        (n, true) => format!(
            "the kernel files are missing: {home}{LIST} names {n} and none is there: {}; upload them beside it",
            first_of(names)
        ),
        (_, false) => format!(
            "{home}{LIST} lists files that are not there: {}; upload them beside it",
            first_of(names)
        ),
    }
}

/// The first few names, and how many more there are.
fn first_of<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED_FILES).map(AsRef::as_ref).collect();
    let more = match names.len().saturating_sub(NAMED_FILES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests;
