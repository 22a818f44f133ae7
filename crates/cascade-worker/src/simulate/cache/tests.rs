//! Damage, foreign files, limits, many at once.

use std::time::{Duration, SystemTime};

use cascade_accelsim::trace::identity::Key;

use super::{Cache, trim};

fn files(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn damaged_and_foreign_entries_are_told_and_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::new(dir.path());
    let (key, other) = (Key::of(b"a"), Key::of(b"b"));
    cache.store("results", key, &"value");
    assert_eq!(cache.load::<String>("results", key).as_deref(), Some("value"));
    assert_eq!(cache.load::<String>("results", other), None);
    assert!(cache.take_notes().is_empty());
    let path = cache.path("results", key);
    let whole = std::fs::read(&path).unwrap();

    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let half = whole[..whole.len() / 2].to_vec();
    let text = |text: &str| text.as_bytes().to_vec();
    let damaged = [
        flipped,
        half,
        Vec::new(),
        text("something else\n"),
        text("no line end"),
    ];
    for bytes in damaged {
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(cache.load::<String>("results", key), None, "{bytes:?}");
        assert_eq!(cache.take_notes().len(), 1);
        cache.store("results", key, &"value");
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    // An entry under another one's name, and one of another type.
    std::fs::create_dir_all(cache.path("results", other).parent().unwrap()).unwrap();
    std::fs::write(cache.path("results", other), &whole).unwrap();
    assert_eq!(cache.load::<String>("results", other), None);
    assert_eq!(cache.load::<u64>("results", key), None);
    assert_eq!(cache.take_notes().len(), 2);
}

#[test]
fn a_folder_that_cannot_be_used_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let cache = Cache::new(&file);
    for name in [b"a", b"b", b"c"] {
        assert_eq!(cache.load::<String>("results", Key::of(name)), None);
        cache.store("results", Key::of(name), &"value");
    }
    let notes = cache.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    cache.trim();
}

#[test]
fn the_oldest_go_first() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::new(dir.path());
    let now = SystemTime::now();
    for n in 0..10_u8 {
        let key = Key::of(&[n]);
        cache.store("results", key, &n);
        let file = std::fs::File::options()
            .write(true)
            .open(cache.path("results", key))
            .unwrap();
        file.set_modified(now - Duration::from_secs(100 - u64::from(n)))
            .unwrap();
    }
    let stale = dir.path().join("results/left.tmp");
    std::fs::write(&stale, "").unwrap();
    let old = std::fs::File::options().write(true).open(&stale).unwrap();
    old.set_modified(now - Duration::from_secs(4000)).unwrap();
    trim(dir.path(), 10 * 4096, 0).unwrap();
    assert_eq!(
        files(dir.path()).len(),
        10,
        "within the limit; only what was left behind goes"
    );
    trim(dir.path(), 9 * 4096, 4 * 4096).unwrap();
    let left = |n: u8| cache.load::<u8>("results", Key::of(&[n]));
    assert_eq!((left(5), left(6)), (None, Some(6)));
    assert_eq!(files(dir.path()).len(), 4);
}

#[test]
fn many_writers_and_readers_agree() {
    let dir = tempfile::tempdir().unwrap();
    let value = "v".repeat(100_000);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cache = Cache::new(dir.path());
                for n in 0..50_u8 {
                    let key = Key::of(&[n]);
                    let read = cache.load::<String>("results", key);
                    assert!(read.is_none_or(|read| read == value));
                    cache.store("results", key, &value);
                    assert_eq!(cache.load::<String>("results", key).as_ref(), Some(&value));
                }
                assert!(cache.take_notes().is_empty());
            });
        }
    });
    assert_eq!(files(dir.path()).len(), 50, "no temporary file is left");
}
