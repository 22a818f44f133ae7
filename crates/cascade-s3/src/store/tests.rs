//! Tests of the store on a real folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::list::{Page, Query};
use super::meta::{Extra, Meta, MetaStore};
use super::{Conditions, Store};
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::upload::digest::Expect;
use crate::upload::{Plan, Target, Upload};

fn open(root: &Path) -> Store {
    Store::open(root, &["b".to_owned()]).unwrap()
}

fn store() -> (TempDir, Store) {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path());
    (root, store)
}

fn put_if(store: &Store, key: &str, body: &[u8], conditions: &Conditions) -> Result<Meta> {
    let plan = Plan {
        expect: Expect::default(),
        decoder: None,
        limit: 1 << 20,
        what: "object",
    };
    let mut upload = Upload::new(Target::Temp(store.temp()?), plan)?;
    upload.feed(Bytes::copy_from_slice(body))?;
    let extra = Extra {
        content_type: Some("a/b".to_owned()),
        ..Extra::default()
    };
    store.put(
        store.bucket("b")?,
        &Key::parse(key)?,
        upload.finish()?,
        extra,
        conditions,
    )
}

fn put(store: &Store, key: &str, body: &[u8]) -> Result<Meta> {
    put_if(store, key, body, &Conditions::default())
}

fn get(store: &Store, key: &str) -> Result<Meta> {
    Ok(store.get(store.bucket("b")?, &Key::parse(key)?)?.meta)
}

fn delete(store: &Store, key: &str) -> Result<bool> {
    store.delete(store.bucket("b")?, &Key::parse(key)?)
}

fn list(store: &Store, query: Query) -> Page {
    store.list(store.bucket("b").unwrap(), query).unwrap()
}

fn keys(store: &Store) -> Vec<String> {
    list(
        store,
        Query {
            max: 1000,
            ..Query::default()
        },
    )
    .objects
    .into_iter()
    .map(|(key, _)| key)
    .collect()
}

#[test]
fn an_object_is_a_plain_file() {
    let (root, store) = store();
    let meta = put(&store, "x/y.txt", b"hello").unwrap();
    assert_eq!(meta.etag(), "5d41402abc4b2a76b9719d911017c592");
    assert_eq!(fs::read(root.path().join("b/x/y.txt")).unwrap(), b"hello");
    assert_eq!(get(&store, "x/y.txt").unwrap(), meta);
    assert!(fs::read_dir(root.path().join(".tmp")).unwrap().next().is_none());
    assert!(delete(&store, "x/y.txt").unwrap());
    assert!(!delete(&store, "x/y.txt").unwrap());
    assert!(!root.path().join("b/x").exists(), "the empty folder goes too");
}

#[test]
fn metadata_survives_a_restart_but_not_a_change_by_other_means() {
    let (root, store) = store();
    let meta = put(&store, "k", b"hello").unwrap();
    drop(store);
    fs::write(root.path().join(".tmp/leftover"), b"half").unwrap();
    let store = open(root.path());
    assert_eq!(get(&store, "k").unwrap(), meta);
    assert!(!root.path().join(".tmp/leftover").exists());
    fs::write(root.path().join("b/k"), b"other").unwrap();
    let changed = get(&store, "k").unwrap();
    assert_ne!(changed.etag(), meta.etag());
    assert_eq!(changed.extra, Extra::default());
    fs::write(root.path().join("b/foreign"), b"by hand").unwrap();
    assert_eq!(keys(&store), ["foreign", "k"]);
    assert!(get(&store, "foreign").unwrap().etag().ends_with("-1"));
}

#[test]
fn sidecar_files_stand_in_for_attributes() {
    let (root, mut store) = store();
    store.meta = MetaStore::with_sidecars(root.path()).unwrap();
    let meta = put(&store, "x/k", b"hello").unwrap();
    assert_eq!(get(&store, "x/k").unwrap(), meta);
    assert_eq!(keys(&store), ["x/k"]);
    let again = put(&store, "x/k", b"longer than before").unwrap();
    assert_eq!(get(&store, "x/k").unwrap(), again);
    assert!(delete(&store, "x/k").unwrap());
    assert!(
        fs::read_dir(root.path().join(".meta/b"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn objects_and_folders_do_not_replace_each_other() {
    let (_root, store) = store();
    put(&store, "a/b", b"1").unwrap();
    assert!(matches!(put(&store, "a", b"2"), Err(StoreError::Clash { .. })));
    assert!(matches!(put(&store, "a/b/c", b"3"), Err(StoreError::Clash { at, .. }) if at == "a/b"));
    assert!(matches!(put(&store, "a/b/", b""), Err(StoreError::Clash { .. })));
    assert!(matches!(get(&store, "a"), Err(StoreError::NoSuchKey(_))));
    assert!(matches!(get(&store, "a/b/c"), Err(StoreError::NoSuchKey(_))));
    assert!(!delete(&store, "a").unwrap());
    assert_eq!(keys(&store), ["a/b"]);
}

#[test]
fn folder_markers_are_objects() {
    let (root, store) = store();
    put(&store, "m/", b"").unwrap();
    put(&store, "m/x", b"1").unwrap();
    assert!(matches!(put(&store, "n/", b"data"), Err(StoreError::Invalid(_))));
    assert_eq!(keys(&store), ["m/", "m/x"]);
    delete(&store, "m/x").unwrap();
    assert_eq!(keys(&store), ["m/"]);
    assert!(delete(&store, "m/").unwrap());
    assert!(!root.path().join("b/m").exists());
    assert!(matches!(get(&store, "m/"), Err(StoreError::NoSuchKey(_))));
}

#[test]
fn symbolic_links_are_not_followed() {
    let (root, store) = store();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), b"s").unwrap();
    symlink(outside.path(), root.path().join("b/dir")).unwrap();
    symlink(outside.path().join("secret"), root.path().join("b/file")).unwrap();
    assert!(matches!(get(&store, "file"), Err(StoreError::NoSuchKey(_))));
    assert!(matches!(get(&store, "dir/secret"), Err(StoreError::NoSuchKey(_))));
    assert!(matches!(
        put(&store, "dir/new", b"x"),
        Err(StoreError::Symlink(_))
    ));
    assert!(!delete(&store, "dir/secret").unwrap());
    assert_eq!(keys(&store), Vec::<String>::new());
    put(&store, "file", b"mine").unwrap();
    assert_eq!(
        fs::read(outside.path().join("secret")).unwrap(),
        b"s",
        "the link itself was replaced"
    );
}

#[test]
fn conditions_guard_a_write() {
    let (_root, store) = store();
    let new_only = Conditions {
        new_only: true,
        if_match: None,
    };
    let first = put_if(&store, "k", b"1", &new_only).unwrap();
    assert!(matches!(
        put_if(&store, "k", b"2", &new_only),
        Err(StoreError::Precondition(_))
    ));
    let on = |etag: &str| Conditions {
        new_only: false,
        if_match: Some(etag.to_owned()),
    };
    assert!(matches!(
        put_if(&store, "k", b"2", &on("x")),
        Err(StoreError::Precondition(_))
    ));
    put_if(&store, "k", b"2", &on(&first.etag())).unwrap();
    assert!(matches!(
        put_if(&store, "none", b"2", &on("*")),
        Err(StoreError::NoSuchKey(_))
    ));
}

#[test]
fn large_metadata_is_refused() {
    let (_root, store) = store();
    let plan = Plan {
        expect: Expect::default(),
        decoder: None,
        limit: 9,
        what: "object",
    };
    let upload = Upload::new(Target::Temp(store.temp().unwrap()), plan).unwrap();
    let user = [("k".to_owned(), "v".repeat(4000))].into();
    let extra = Extra {
        user,
        ..Extra::default()
    };
    let key = Key::parse("k").unwrap();
    let put = store.put(
        &store.buckets()[0],
        &key,
        upload.finish().unwrap(),
        extra,
        &Conditions::default(),
    );
    assert!(matches!(put, Err(StoreError::MetadataTooLarge { .. })));
    assert_eq!(keys(&store), Vec::<String>::new());
}

/// What S3 would list, from a sorted list of keys.
fn model(keys: &[String], query: &Query) -> (Vec<String>, Vec<String>) {
    let (mut objects, mut prefixes) = (Vec::new(), Vec::new());
    for key in keys.iter().filter(|k| k.starts_with(&query.prefix)) {
        let rest = &key[query.prefix.len()..];
        match query
            .delimiter
            .as_ref()
            .and_then(|d| Some(rest.find(d.as_str())? + d.len()))
        {
            Some(end) => prefixes.push(key[..query.prefix.len() + end].to_owned()),
            None => objects.push(key.clone()),
        }
    }
    prefixes.dedup();
    (objects, prefixes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Pages of any size give what a plain sorted list would.
    #[test]
    fn lists_like_a_sorted_list(
        names in prop::collection::btree_set("[ab.-]{1,2}(/[ab-]{1,2}){0,2}", 0..12),
        prefix in "([ab]/?)?",
        delimiter in prop::sample::select(vec![None, Some("/"), Some("-")]),
        max in 1usize..5,
    ) {
        let (_root, store) = store();
        let mut kept: Vec<String> = Vec::new();
        for name in &names {
            // Clashes and dot segments are refused; the model holds what was stored.
            if put(&store, name, b"").is_ok() {
                kept.push(name.clone());
            }
        }
        kept.sort();
        let delimiter = delimiter.map(str::to_owned);
        let mut query = Query { prefix, delimiter, after: None, max };
        let (mut objects, mut prefixes) = (Vec::new(), Vec::new());
        loop {
            let page = list(&store, query.clone());
            prop_assert!(page.objects.len() + page.prefixes.len() <= max);
            objects.extend(page.objects.into_iter().map(|(key, _)| key));
            prefixes.extend(page.prefixes);
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        prop_assert_eq!((objects, prefixes), model(&kept, &query));
    }
}
