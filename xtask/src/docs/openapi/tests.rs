//! The reference made of a small document.

use serde_json::json;

use super::super::examples::{Example, Examples};
use super::Api;

fn api() -> Api {
    let string = json!({"type": "string"});
    Api::of(json!({
        "paths": {
            "/api/runs": {"post": {
                "tags": ["runs"], "summary": "Creates\na run.",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}}},
                "responses": {
                    "201": {"description": "The run.", "content": {"application/json": {"schema":
                        {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}}}},
                    "404": {"$ref": "#/components/responses/NotFound"}
                }
            }},
            "/api/health": {"get": {"tags": ["app"], "summary": "Health.", "security": [{}],
                "parameters": [{"name": "q", "in": "query", "description": "What | to look for."}],
                "responses": {"200": {"description": "Fine."}}}}
        },
        "components": {
            "responses": {"NotFound": {"description": "It does not exist."}},
            "schemas": {
                "Ask": {"type": "object", "required": ["count"], "properties": {
                    "count": {"type": "integer", "minimum": 1, "maximum": 64, "description": "How many."},
                    "when": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Time", "description": "Since."}]},
                    "names": {"type": "object", "additionalProperties": string}
                }},
                "Run": {"description": "A run.", "allOf": [{"$ref": "#/components/schemas/Ask"},
                    {"properties": {"state": {"enum": ["a", "b"]}}, "required": ["state"]}]},
                "Time": {"type": "string", "format": "date-time"},
                "Load": {"description": "Who sends.", "oneOf": [{"description": "Always.", "required": ["kind"],
                    "properties": {"kind": {"enum": ["open"]}, "rate": {"type": "number", "exclusiveMinimum": 0}}}]},
                "Unused": {"type": "string"}
            }
        }
    }))
}

#[test]
fn an_operation_says_what_it_takes_and_answers() {
    let example = Example {
        operation: "POST /api/runs".into(),
        command: "curl x".into(),
        lang: "json".into(),
        output: "{}".into(),
        ..Example::default()
    };
    let text = api().tag("runs", &Examples(vec![example])).unwrap();
    for part in [
        "## POST /api/runs\n\nCreates a run.",
        "**Body**: [`Ask`](api-types.md#ask) (`application/json`)",
        "| `count` | integer (1 to 64) | How many. |",
        "| `when` | null or [`Time`](api-types.md#time), optional | Since. |",
        "| `names` | map to string, optional |  |",
        "**Answers** `201` with list of [`Run`](api-types.md#run) (`application/json`). The run.",
        "| [`404`](api.md#errors) | It does not exist. |",
        "```sh\ncurl x\n```\n\n```json\n{}\n```",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let text = api().tag("app", &Examples::default()).unwrap();
    assert!(
        text.contains("Health. Needs no token.") && text.contains("| `q` | query | What \\| to look for. |"),
        "{text}"
    );
    api().tag("nothing", &Examples::default()).unwrap_err();
}

#[test]
fn types_are_described_by_fields_forms_or_kind() {
    let text = api().types();
    for part in [
        "## Run\n\nA run.\n\nEvery field of [`Ask`](api-types.md#ask), and these.\n\n",
        "| `state` | `a` or `b` |  |",
        "## Time\n\nA time (ISO 8601).",
        "- `kind` = `open`: Always. Fields: `rate` (number (above 0), optional).",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn the_table_of_routes_links_to_where_they_are() {
    let text = api().routes(&|tag| (tag == "runs").then(|| "api-runs.md".to_owned()));
    assert!(
        text.contains("| [`POST /api/runs`](api-runs.md#post-apiruns) | Creates a run. |"),
        "{text}"
    );
    assert!(text.contains("| `GET /api/health` | Health. |"), "{text}");
}

#[test]
fn an_agent_gets_the_routes_of_its_tags_and_the_types_that_they_lead_to() {
    let (routes, types) = api().brief(&["runs"]);
    assert_eq!(
        routes,
        "- `POST /api/runs`: Creates a run. Body: Ask. Answers `201`: list of Run. Errors: 404.\n"
    );
    assert!(
        types.contains("### Ask\n\n- `count` (integer (1 to 64)): How many.\n"),
        "{types}"
    );
    assert!(
        types.contains("### Time") && !types.contains("Unused") && !types.contains("### Load"),
        "{types}"
    );
}
