//! The tokenizer of GPT-2 and OPT from `vocab.json` and `merges.txt`: byte-level BPE (Radford et al. 2019), written
//! down as the `tokenizer.json` that such a folder lacks.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::files::{VOCAB, read_json, read_text};
use super::{BadFile, CONFIG};

/// The merges, best first.
const MERGES: &str = "merges.txt";
/// Classes whose tokenizer this is.
const CLASSES: [&str; 2] = ["GPT2Tokenizer", "GPT2TokenizerFast"];

/// The file that is named in errors, and the tokenizer as JSON.
pub(super) fn read(
    folder: &Path,
    config: &Map<String, Value>,
    special: &Map<String, Value>,
) -> Result<(PathBuf, String), BadFile> {
    let (vocab_file, merges_file) = (folder.join(VOCAB), folder.join(MERGES));
    let class = config
        .get("tokenizer_class")
        .and_then(Value::as_str)
        .unwrap_or("GPT2Tokenizer");
    if !CLASSES.contains(&class) {
        let problem = format!("a {class} is not built from {VOCAB}; add its tokenizer.json");
        return Err(BadFile::new(&folder.join(CONFIG), problem));
    }
    let missing = |file: &Path| BadFile::new(file, "there is no such file beside the tokenizer's others");
    let vocab = read_json(&vocab_file)?.ok_or_else(|| missing(&vocab_file))?;
    let text = read_text(&merges_file)?.ok_or_else(|| missing(&merges_file))?;
    let model = read_json(&folder.join("config.json"))?.unwrap_or_default();
    let merges = merges(&text).map_err(|problem| BadFile::new(&merges_file, problem))?;
    let added = added(&vocab, config, special);
    let prefix = config
        .get("add_prefix_space")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let is_opt = model.get("model_type").and_then(Value::as_str) == Some("opt");
    let wants_bos = config
        .get("add_bos_token")
        .and_then(Value::as_bool)
        .unwrap_or(is_opt);
    let bos = special
        .get("bos_token")
        .and_then(Value::as_str)
        .or(is_opt.then_some("</s>"));
    let bos = bos
        .filter(|_| wants_bos)
        .and_then(|bos| Some((bos, id(&vocab, &added, bos)?)));
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": true},
        "post_processor": bos.map(beginning),
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    });
    Ok((vocab_file, tokenizer.to_string()))
}

/// Pairs of a merges file: a line each, after a line of its version.
fn merges(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let lines = text.lines().zip(1..).filter(|(line, number)| {
        let version = *number == 1 && line.starts_with("#version");
        !version && !line.trim().is_empty()
    });
    lines
        .map(|(line, number)| {
            let pair = line.trim_end().split_once(' ');
            pair.ok_or_else(|| format!("line {number} is not two tokens with a space between"))
        })
        .collect()
}

/// Special tokens with their ids: those in the vocabulary keep theirs, the others follow it.
fn added(
    vocab: &Map<String, Value>,
    config: &Map<String, Value>,
    special: &Map<String, Value>,
) -> Vec<Value> {
    let mut names: Vec<&str> = special.values().filter_map(Value::as_str).collect();
    let decoder = config.get("added_tokens_decoder").and_then(Value::as_object);
    let listed = decoder.into_iter().flat_map(|decoder| decoder.values());
    names.extend(
        listed
            .filter(|token| token["special"] == true)
            .filter_map(|token| token["content"].as_str()),
    );
    names.sort_unstable();
    names.dedup();
    let mut next = vocab
        .values()
        .filter_map(Value::as_u64)
        .max()
        .map_or(0, |last| last + 1);
    let mut tokens: Vec<(u64, &str)> = names
        .into_iter()
        .map(|name| {
            let known = vocab.get(name).and_then(Value::as_u64);
            let id = known.unwrap_or(next);
            next += u64::from(known.is_none());
            (id, name)
        })
        .collect();
    tokens.sort_unstable();
    let token = |(id, content)| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    tokens.into_iter().map(token).collect()
}

fn id(vocab: &Map<String, Value>, added: &[Value], token: &str) -> Option<u64> {
    let of_added = || added.iter().find(|added| added["content"] == token)?["id"].as_u64();
    vocab.get(token).and_then(Value::as_u64).or_else(of_added)
}

/// A post-processor that puts a token before every prompt.
fn beginning((token, id): (&str, u64)) -> Value {
    let first = json!({"SpecialToken": {"id": token, "type_id": 0}});
    let of = |name| json!({"Sequence": {"id": name, "type_id": 0}});
    json!({"type": "TemplateProcessing", "single": [first, of("A")], "pair": [first, of("A"), of("B")],
        "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}}})
}
