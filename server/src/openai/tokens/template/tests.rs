//! Templates in the manner of real ones, written here; Python's Jinja2 gives the same.

use serde_json::json;

use super::*;

fn template(text: &str) -> Option<Template> {
    let folder = tempfile::tempdir().unwrap();
    let special = json!({"bos_token": "<s>", "eos_token": "</s>"})
        .as_object()
        .unwrap()
        .clone();
    let config = json!({ "chat_template": text }).as_object().unwrap().clone();
    Template::read(folder.path(), &config, special).unwrap()
}

fn render(text: &str, messages: Value) -> Result<Option<String>, ChatError> {
    let messages = messages.as_array().unwrap().clone();
    let tools = [json!({"name": "f", "n": [1, 2], "html": "<a & 'b'>"})];
    let more = json!({"extra": 5});
    let conversation = Conversation {
        messages: &messages,
        tools: Some(&tools),
        more: more.as_object().unwrap(),
    };
    template(text).unwrap().render(&conversation)
}

fn hello() -> Value {
    json!([{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi"}])
}

#[test]
fn templates_use_what_python_gives_them() {
    let rows = [
        (
            "{{ bos_token }}{% for message in messages %}\n  {{- '<|' + message['role'] + '|>' + message['content'].strip() }}\n\
             {% endfor %}\n{% if add_generation_prompt %}<|assistant|>{% endif %}",
            "<s><|system|>Be brief.\n<|user|>Hi\n<|assistant|>",
        ),
        (
            "{{ tools | tojson }}",
            r#"[{"html": "<a & 'b'>", "n": [1, 2], "name": "f"}]"#,
        ),
        (
            "{{ messages[1] | tojson(indent=4) }}",
            "{\n    \"content\": \"Hi\",\n    \"role\": \"user\"\n}",
        ),
        (
            "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.content }}{% endfor %}",
            "Hi",
        ),
        (
            "{% if messages[0].role.startswith('sys') %}{{ messages[0].content.split('.')[0] }}{% endif %}",
            " Be brief",
        ),
        (
            "{% for k, v in messages[1].items() %}{{ k }}={{ v }};{% endfor %}",
            "content=Hi;role=user;",
        ),
        (
            "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n + extra }}",
            "7",
        ),
        (
            "{% macro say(m) %}[{{ m.content | trim }}]{% endmacro %}{{ say(messages[0]) }}{{ none_such }}",
            "[Be brief.]",
        ),
        (
            "a{% generation %}b{% endgeneration %}c{%- generation -%} d {%- endgeneration -%}",
            "abcd",
        ),
        (
            "{{ messages[1:][0]['content'] }}{{ messages | length }}{{ eos_token }}",
            "Hi2</s>",
        ),
    ];
    for (text, prompt) in rows {
        assert_eq!(render(text, hello()).unwrap().as_deref(), Some(prompt), "{text}");
    }
    let year = render("{{ strftime_now('%Y-%m-%d') }}", hello())
        .unwrap()
        .unwrap();
    assert_eq!((year.len(), year.starts_with("20")), (10, true), "{year}");
}

#[test]
fn a_refusal_is_told_and_other_failures_fall_back() {
    let text = "{% macro check(m) %}{% if m.role != 'user' %}{{ raise_exception('Only users: ' + m.role) }}{% endif %}\
        {% endmacro %}{{ check(messages[0]) }}";
    assert_eq!(
        render(text, hello()).unwrap_err(),
        ChatError("Only users: system".into())
    );
    assert_eq!(render("{{ messages | no_such_filter }}", hello()).unwrap(), None);
    assert_eq!(render("{{ messages.no.such }}", hello()).unwrap(), None);
    let endless = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
    assert_eq!(render(endless, hello()).unwrap(), None);
    assert!(template("{% for %}").is_none());
}

#[test]
fn a_file_goes_before_the_configuration_which_may_name_several() {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({"chat_template": [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]});
    let config = config.as_object().unwrap();
    let conversation = Conversation {
        messages: &[],
        tools: None,
        more: &Map::new(),
    };
    let read = || {
        Template::read(folder.path(), config, Map::new())
            .unwrap()
            .unwrap()
    };
    assert_eq!(read().render(&conversation).unwrap().as_deref(), Some("plain"));
    std::fs::write(folder.path().join(TEMPLATE), "file").unwrap();
    assert_eq!(read().render(&conversation).unwrap().as_deref(), Some("file"));
    assert!(
        Template::read(folder.path().parent().unwrap(), &Map::new(), Map::new())
            .unwrap()
            .is_none()
    );
}
