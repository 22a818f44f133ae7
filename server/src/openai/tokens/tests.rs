//! Tokenizers of few tokens, written here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::files::folders;
use super::*;

/// The 256 characters that stand for bytes in byte-level vocabularies (GPT-2's `bytes_to_unicode`).
fn byte_characters() -> Vec<char> {
    let printable = |b: u32| matches!(b, 33..=126 | 161..=172 | 174..=255);
    let mut next = 256;
    let each = (0..256).map(|b| {
        let code = if printable(b) {
            b
        } else {
            next += 1;
            next - 1
        };
        char::from_u32(code).unwrap()
    });
    each.collect()
}

/// Merges that make whole words of `Hello, my name is`.
const MERGES: &str =
    "#version: 0.2\nH e\nl l\nHe ll\nHell o\nĠ m\nĠm y\nĠ n\na m\nĠn am\nĠnam e\nĠ i\nĠi s\n";

/// The files of a GPT-2-like tokenizer: four special tokens, every byte, then the merges.
pub(in crate::openai) fn write_gpt2(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let special = ["<s>", "<pad>", "</s>", "<unk>"].map(str::to_owned);
    let bytes = byte_characters().into_iter().map(String::from);
    let merged = MERGES.lines().skip(1).map(|line| line.replace(' ', ""));
    let words = special.into_iter().chain(bytes).chain(merged);
    let vocab: Map<String, Value> = words
        .zip(0..)
        .map(|(word, id): (String, u32)| (word, id.into()))
        .collect();
    write(folder, "vocab.json", &Value::from(vocab).to_string());
    write(folder, "merges.txt", MERGES);
    let config = json!({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "bos_token": {"content": "</s>"},
        "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>",
        "added_tokens_decoder": {"0": {"content": "<s>", "special": true}, "3": {"content": "<unk>", "special": true}}});
    write(folder, CONFIG, &config.to_string());
}

pub(in crate::openai) fn gpt2(folder: &Path) -> Arc<Tokens> {
    write_gpt2(folder);
    Arc::new(Tokens::read(folder).unwrap())
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn edit(folder: &Path, name: &str, more: Value) {
    let mut object = read_json(&folder.join(name)).unwrap().unwrap_or_default();
    object.extend(more.as_object().unwrap().clone());
    write(folder, name, &Value::from(object).to_string());
}

#[test]
fn opt_begins_with_its_bos() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = gpt2(folder.path());
    let ids = tokens.encode("Hello, my name is", true).unwrap();
    let words: Vec<String> = ids
        .iter()
        .map(|id| tokens.tokenizer.id_to_token(*id).unwrap())
        .collect();
    assert_eq!(words, ["</s>", "Hello", ",", "Ġmy", "Ġname", "Ġis"]);
    assert_eq!(ids[0], 2);
    assert_eq!(tokens.encode("Hello, my name is", false).unwrap(), ids[1..]);
    assert_eq!(tokens.decode(&ids), "Hello, my name is");
    assert_eq!(tokens.drawn().len(), 256 + 12);
    // Special tokens in a text are themselves.
    assert_eq!(tokens.encode("<pad>", false).unwrap(), [1]);

    // Without a word on it, OPT has one and GPT-2 has none.
    edit(folder.path(), CONFIG, json!({"add_bos_token": null}));
    assert_eq!(
        Tokens::read(folder.path())
            .unwrap()
            .encode("Hello", true)
            .unwrap()
            .len(),
        1
    );
    write(folder.path(), "config.json", r#"{"model_type": "opt"}"#);
    assert_eq!(
        Tokens::read(folder.path())
            .unwrap()
            .encode("Hello", true)
            .unwrap(),
        [2, ids[1]]
    );
}

#[test]
fn a_tokenizer_json_goes_first_and_is_neither_cut_nor_padded() {
    let folder = tempfile::tempdir().unwrap();
    write_gpt2(folder.path());
    let model = json!({"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"});
    let added = json!([{"id": 2, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true}]);
    let tokenizer = json!({"version": "1.0", "added_tokens": added, "pre_tokenizer": {"type": "Whitespace"},
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "a"},
        "model": model});
    write(folder.path(), TOKENIZER, &tokenizer.to_string());
    let tokens = Tokens::read(folder.path()).unwrap();
    assert_eq!(tokens.encode("a b a x", true).unwrap(), [0, 1, 0, 2]);
    assert_eq!(tokens.drawn(), [0, 1]);
}

#[test]
fn bad_files_are_named_and_break_nothing() {
    let rows: [(&str, &str, &str); 9] = [
        (TOKENIZER, "{", "tokenizer.json"),
        (TOKENIZER, "{}", "tokenizer.json"),
        (
            TOKENIZER,
            r#"{"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}"#,
            "no tokens",
        ),
        (CONFIG, "[]", "tokenizer_config.json"),
        (
            CONFIG,
            r#"{"tokenizer_class": "Qwen2Tokenizer"}"#,
            "Qwen2Tokenizer",
        ),
        ("vocab.json", "{\"a\": \"b\"}", "vocab.json"),
        ("merges.txt", "#version: 0.2\nH e\nHe\n", "merges.txt: line 3"),
        ("merges.txt", "no such\n", "vocab.json"),
        (SPECIAL, "x", "special_tokens_map.json"),
    ];
    for (file, text, words) in rows {
        let folder = tempfile::tempdir().unwrap();
        write_gpt2(folder.path());
        write(folder.path(), file, text);
        let error = Tokens::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(words), "{file}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    write_gpt2(folder.path());
    std::fs::remove_file(folder.path().join("merges.txt")).unwrap();
    assert!(
        Tokens::read(folder.path())
            .unwrap_err()
            .to_string()
            .contains("merges.txt")
    );
    std::fs::write(folder.path().join(TOKENIZER), [0xff, 0xfe]).unwrap();
    assert!(
        Tokens::read(folder.path())
            .unwrap_err()
            .to_string()
            .contains("tokenizer.json")
    );
    let large = std::fs::File::create(folder.path().join(TOKENIZER)).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    assert!(
        Tokens::read(folder.path())
            .unwrap_err()
            .to_string()
            .contains("64 MiB")
    );
}

#[test]
fn a_name_leads_to_no_other_place() {
    let (trace, home) = (Path::new("/traces/t"), Path::new("/home"));
    let of = |model| folders(trace, home, model);
    let own: Vec<PathBuf> = vec!["/traces/t/tokenizer".into(), "/traces/t".into()];
    assert_eq!(
        of(Some("facebook/opt-125m"))[2..],
        [PathBuf::from("/home/facebook/opt-125m")]
    );
    assert_eq!(of(Some("gpt2"))[2..], [PathBuf::from("/home/gpt2")]);
    for model in [
        None,
        Some(""),
        Some("../x"),
        Some("a/.."),
        Some("/etc"),
        Some("a/b/c"),
        Some("a\\b"),
        Some("a//b"),
    ] {
        assert_eq!(of(model), own, "{model:?}");
    }
    let cache = tempfile::tempdir().unwrap();
    let repository = cache.path().join("models--facebook--opt-125m");
    write_gpt2(&repository.join("snapshots/abc123"));
    std::fs::create_dir_all(repository.join("refs")).unwrap();
    write(&repository, "refs/main", "abc123\n");
    let shelf = Shelf::default();
    assert!(
        shelf
            .get(&folders(trace, cache.path(), Some("facebook/opt-125m")))
            .unwrap()
            .is_some()
    );
    write(&repository, "refs/main", "../../x");
    assert!(
        shelf
            .get(&folders(trace, cache.path(), Some("facebook/opt-125m")))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_tokenizer_is_read_once_and_again_when_it_changes() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("m");
    write_gpt2(&folder);
    let shelf = Shelf::default();
    let get = |name: &str| shelf.get(&[home.path().join(name)]).unwrap().unwrap();
    let first = get("m");
    assert!(Arc::ptr_eq(&first, &get("m")));
    edit(&folder, CONFIG, json!({"add_bos_token": false}));
    let second = get("m");
    assert!(!Arc::ptr_eq(&first, &second));
    for n in 0..8 {
        write_gpt2(&home.path().join(format!("m{n}")));
        get(&format!("m{n}"));
    }
    assert!(!Arc::ptr_eq(&second, &get("m")), "the one used longest ago went");
}
