//! Listing a bucket in key order, a page at a time, from the folders themselves.
//!
//! Folders are read in order (a folder sorts as its name plus `/`, as the keys below it do), so a page reads
//! only the folders on its way, and with `/` as the delimiter none below them.

use std::fs::File;
use std::ops::ControlFlow::{self, Break, Continue};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::meta::Meta;
use super::{Bucket, Store, dirs};
use crate::error::{Result, io};
use crate::key::{Key, MAX_KEY_BYTES};

/// What to list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    /// Only keys that start with this.
    pub prefix: String,
    /// Keys that have this after the prefix are given as one common prefix.
    pub delimiter: Option<String>,
    /// Only what comes after this key or common prefix.
    pub after: Option<String>,
    /// Most keys and common prefixes.
    pub max: usize,
}

/// A page of a listing.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Keys and what is known of each, in order.
    pub objects: Vec<(String, Meta)>,
    /// Common prefixes, in order.
    pub prefixes: Vec<String>,
    /// Where there is more: the last key or common prefix given.
    pub next: Option<String>,
}

impl Store {
    /// Lists a page.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn list(&self, bucket: &Bucket, query: Query) -> Result<Page> {
        let mut walk = Walk {
            store: self,
            bucket,
            query,
            page: Page::default(),
            last: None,
            more: false,
        };
        if walk.query.max > 0 {
            let dir = dirs::reopen(&bucket.dir).map_err(io("opening a bucket"))?;
            walk.folder(&dir, "")?.is_break();
        }
        if walk.more {
            walk.page.next = walk.last;
        }
        Ok(walk.page)
    }
}

struct Walk<'a> {
    store: &'a Store,
    bucket: &'a Bucket,
    query: Query,
    page: Page,
    /// The last key or common prefix put on the page.
    last: Option<String>,
    more: bool,
}

impl Walk<'_> {
    fn folder(&mut self, dir: &OwnedFd, at: &str) -> Result<ControlFlow<()>> {
        for entry in entries(dir)? {
            let full = format!("{at}{entry}");
            if full.len() > MAX_KEY_BYTES || Key::parse(&full).is_err() {
                continue;
            }
            let step = match entry.strip_suffix('/') {
                Some(name) => self.on_folder(dir, name, &full)?,
                None if self.wants(&full) => self.on_object(dir, &entry, full)?,
                None => Continue(()),
            };
            if step.is_break() {
                return Ok(Break(()));
            }
        }
        Ok(Continue(()))
    }

    fn wants(&self, key: &str) -> bool {
        key.starts_with(&self.query.prefix) && self.query.after.as_deref().is_none_or(|after| key > after)
    }

    fn on_folder(&mut self, parent: &OwnedFd, name: &str, full: &str) -> Result<ControlFlow<()>> {
        let (prefix, after) = (&self.query.prefix, self.query.after.as_deref().unwrap_or(""));
        let within = full.starts_with(prefix);
        let all_before = full < after && !after.starts_with(full);
        if all_before || !(within || prefix.starts_with(full)) {
            return Ok(Continue(()));
        }
        let dir = match dirs::open_dir(parent, name) {
            Ok(dir) => dir,
            // Deleted or replaced since the folder was read.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Continue(())),
            Err(e) => return Err(io("opening a folder")(e)),
        };
        if within && full != *prefix && self.query.delimiter.as_deref() == Some("/") {
            if full == after || !self.has_any(&dir, full)? {
                return Ok(Continue(()));
            }
            return Ok(self.group(full));
        }
        if self.wants(full) {
            let file = File::from(dirs::reopen(&dir).map_err(io("opening a folder"))?);
            if let Some(meta) = self.store.meta.read_marker(&file, &self.bucket.name, full)
                && self.object(full.to_owned(), meta).is_break()
            {
                return Ok(Break(()));
            }
        }
        self.folder(&dir, full)
    }

    fn on_object(&mut self, dir: &OwnedFd, name: &str, full: String) -> Result<ControlFlow<()>> {
        let rest = full.get(self.query.prefix.len()..).unwrap_or("");
        if let Some(delimiter) = self.query.delimiter.as_deref().filter(|d| *d != "/")
            && let Some(at) = rest.find(delimiter)
        {
            let end = self.query.prefix.len() + at + delimiter.len();
            let group = full.get(..end).unwrap_or(&full).to_owned();
            if self.query.after.as_ref() == Some(&group) || self.last.as_ref() == Some(&group) {
                return Ok(Continue(()));
            }
            return Ok(self.group(&group));
        }
        if self.is_full() {
            return Ok(Break(()));
        }
        let Some(file) = dirs::open_file(dir, name)? else {
            return Ok(Continue(()));
        };
        let meta = self.store.meta.read(&file, &self.bucket.name, &full)?;
        Ok(self.object(full, meta))
    }

    fn is_full(&mut self) -> bool {
        self.more = self.page.objects.len() + self.page.prefixes.len() >= self.query.max;
        self.more
    }

    fn group(&mut self, group: &str) -> ControlFlow<()> {
        if self.is_full() {
            return Break(());
        }
        self.last = Some(group.to_owned());
        self.page.prefixes.push(group.to_owned());
        Continue(())
    }

    fn object(&mut self, key: String, meta: Meta) -> ControlFlow<()> {
        if self.is_full() {
            return Break(());
        }
        self.last = Some(key.clone());
        self.page.objects.push((key, meta));
        Continue(())
    }

    /// True where the folder holds an object that the query would list.
    fn has_any(&self, dir: &OwnedFd, full: &str) -> Result<bool> {
        let query = Query {
            prefix: full.to_owned(),
            delimiter: None,
            after: self.query.after.clone(),
            max: 1,
        };
        let page = Page::default();
        let mut walk = Walk {
            store: self.store,
            bucket: self.bucket,
            query,
            page,
            last: None,
            more: false,
        };
        let file = File::from(dirs::reopen(dir).map_err(io("opening a folder"))?);
        if walk.wants(full)
            && self
                .store
                .meta
                .read_marker(&file, &self.bucket.name, full)
                .is_some()
        {
            return Ok(true);
        }
        walk.folder(dir, full)?.is_break();
        Ok(!walk.page.objects.is_empty())
    }
}

/// The names in a folder in the order of the keys below it; folders end in `/`. Links, devices and names
/// that are not UTF-8 are left out.
fn entries(dir: &OwnedFd) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir).map_err(io("reading a folder"))? {
        let entry = entry.map_err(io("reading a folder"))?;
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        let kind = match entry.file_type() {
            // Some filesystems do not say.
            FileType::Unknown => match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(_gone) => continue,
            },
            kind => kind,
        };
        match kind {
            FileType::Directory if name != "." && name != ".." => names.push(format!("{name}/")),
            FileType::RegularFile => names.push(name.to_owned()),
            _ => {}
        }
    }
    names.sort_unstable();
    Ok(names)
}
