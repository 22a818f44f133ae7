//! `/v1` with a tokenizer of the model: OPT's, cut down to the words of one sentence.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{FLAGS, H100, chat, completion, near, ok};
use crate::app::TestApp;

const WORDS: [&str; 10] = [
    "</s>", "Hello", ",", "Ġmy", "Ġname", "Ġis", "<pad>", "!", "Ċ", "Be",
];

/// A vocabulary whose merges make these words, letter by letter.
fn write(folder: &Path, config: Value) {
    let (mut vocab, mut merges) = (Map::new(), String::from("#version: 0.2\n"));
    let mut add = |token: &str| {
        let id = vocab.len();
        vocab.entry(token).or_insert(id.into());
    };
    WORDS.iter().for_each(|word| add(word));
    for word in WORDS.iter().filter(|word| !word.starts_with('<')) {
        let mut so_far = String::new();
        for letter in word.chars() {
            add(&letter.to_string());
            if !so_far.is_empty() {
                merges += &format!("{so_far} {letter}\n");
            }
            so_far.push(letter);
            add(&so_far);
        }
    }
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("vocab.json"), Value::from(vocab).to_string()).unwrap();
    std::fs::write(folder.join("merges.txt"), merges).unwrap();
    std::fs::write(folder.join("tokenizer_config.json"), config.to_string()).unwrap();
}

fn config(more: Value) -> Value {
    let config = json!({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "bos_token": "</s>",
        "eos_token": "</s>", "pad_token": "<pad>"});
    super::with(config, more)
}

fn home(app: &TestApp) -> PathBuf {
    app.dir.path().join("data/tokenizers/facebook/opt-125m")
}

#[tokio::test]
async fn six_tokens_give_the_published_times() {
    let app = TestApp::with(&FLAGS).await;
    let before = ok(&app, "/v1/completions", &completion(json!({}))).await;
    assert_eq!(before["usage"]["prompt_tokens"], 5);
    write(&home(&app), config(json!({})));
    let answer = ok(&app, "/v1/completions", &completion(json!({"echo": true}))).await;
    assert_eq!(
        answer["usage"],
        json!({"prompt_tokens": 6, "completion_tokens": 32, "total_tokens": 38})
    );
    let cascade = &answer["cascade"];
    assert_eq!(cascade["prompt_tokens_source"], "tokenizer");
    assert_eq!(
        (&cascade["text_source"], &cascade["profile_match"]),
        (&json!("vocabulary"), &json!(true))
    );
    let timing = &cascade["timing"];
    near(&timing["ttft_ms"], 8.946);
    near(&timing["mean_itl_ms"], 8.125);
    near(&timing["e2e_ms"], 260.593);
    assert_eq!(timing["provenance_counts"]["measured"], 32);
    let text = answer["choices"][0]["text"].as_str().unwrap();
    let drawn = text.strip_prefix("Hello, my name is").unwrap();
    assert!(
        drawn.len() >= 32 && !drawn.contains("</s>") && !drawn.contains("tok"),
        "{drawn}"
    );
    let ids = ok(
        &app,
        "/v1/completions",
        &completion(json!({"prompt": [0, 1, 2], "echo": true})),
    )
    .await;
    assert_eq!(ids["cascade"]["prompt_tokens_source"], "token_ids");
    assert!(ids["choices"][0]["text"].as_str().unwrap().starts_with("Hello,"));
}

#[tokio::test]
async fn a_chat_goes_through_the_models_template() {
    let app = TestApp::with(&FLAGS).await;
    write(&home(&app), config(json!({})));
    let messages = json!([{"role": "user", "content": "Hello"}, {"role": "user", "content": " my"}]);
    let body = chat(json!({"messages": messages}));
    let joined = ok(&app, "/v1/chat/completions", &body).await;
    // </s> Hello \n Ġmy
    assert_eq!(joined["cascade"]["prompt_tokens_source"], "tokenizer:joined");
    assert_eq!(joined["usage"]["prompt_tokens"], 4);
    let template = "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system') }}\
        {% endif %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}!!{% endif %}";
    write(&home(&app), config(json!({"chat_template": template})));
    let templated = ok(&app, "/v1/chat/completions", &body).await;
    assert_eq!(
        templated["cascade"]["prompt_tokens_source"],
        "tokenizer:chat_template"
    );
    // </s> Hello Ġmy ! !
    assert_eq!(templated["usage"]["prompt_tokens"], 5);
    let refused = app.post("/v1/chat/completions", chat(json!({}))).await;
    assert_eq!(refused.status().as_u16(), 400);
    let error = refused.json::<Value>().await.unwrap()["error"].clone();
    assert_eq!(error["param"], "messages");
    assert!(
        error["message"].as_str().unwrap().ends_with("No system"),
        "{error}"
    );
}

#[tokio::test]
async fn a_bad_tokenizer_is_named_and_a_traces_own_goes_first() {
    let app = TestApp::with(&FLAGS).await;
    std::fs::create_dir_all(home(&app)).unwrap();
    std::fs::write(home(&app).join("tokenizer.json"), "{\"version\": ").unwrap();
    let answer = app.post("/v1/completions", completion(json!({}))).await;
    assert_eq!(answer.status().as_u16(), 422);
    let error = answer.json::<Value>().await.unwrap()["error"].clone();
    assert_eq!(error["code"], "tokenizer_unusable");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("opt-125m/tokenizer.json"),
        "{error}"
    );
    let trace = app.running.service.settings.traces_dir().join(H100);
    write(&trace.join("tokenizer"), config(json!({"add_bos_token": false})));
    let answer = ok(&app, "/v1/completions", &completion(json!({}))).await;
    assert_eq!(answer["usage"]["prompt_tokens"], 5);
    assert_eq!(answer["cascade"]["prompt_tokens_source"], "tokenizer");
}
