//! The renderer, the index and the link checker, on pages small enough to read.

use std::path::PathBuf;

use super::index::Index;
use super::markdown::{address, render, slug};
use super::{check, expand, highlight, page, search, states};

const LIST: &str =
    "# Docs\n\nAbout it.\n\n## Start\n\n- [One](introduction.md): the first.\n- [Two](two.md): the second.\n";

fn root() -> PathBuf {
    crate::sh::root()
}

#[test]
fn anchors_are_made_as_github_makes_them() {
    assert_eq!(slug("The GPU's `L2` & DRAM: 5 %"), "the-gpus-l2--dram-5-");
    let page = render("# A\n\n## Same\n\n## Same\n\n### `POST /api/runs`\n").unwrap();
    let ids: Vec<&str> = page.parts.iter().map(|part| part.heading.id.as_str()).collect();
    assert_eq!(ids, ["a", "same", "same-1", "post-apiruns"]);
    assert!(
        page.html
            .contains("<h2 id=\"same-1\">Same <a class=\"anchor\" href=\"#same-1\"")
    );
}

#[test]
fn a_route_in_a_heading_shows_its_method() {
    let page = render("# A\n\n### GET /api/runs/{run_id}\n").unwrap();
    assert!(
        page.html
            .contains("data-method=\"GET\">GET</span> <code>/api/runs/{run_id}</code>"),
        "{}",
        page.html
    );
}

#[test]
fn links_between_pages_lead_to_where_they_are_served() {
    for (written, served) in [
        ("engine.md", Some("/docs/engine")),
        ("engine.md#speed", Some("/docs/engine#speed")),
        ("introduction.md", Some("/docs")),
        ("#here", Some("#here")),
        ("/runs/new", Some("/runs/new")),
        ("https://example.org/a.md", Some("https://example.org/a.md")),
        ("../ARCHITECTURE.md", None),
    ] {
        assert_eq!(address(written).as_deref(), served, "{written}");
    }
    let page = render("# A\n\nSee [the design](../ARCHITECTURE.md) and [two](two.md#x).\n").unwrap();
    assert!(
        page.html
            .contains("See the design and <a href=\"/docs/two#x\">two</a>."),
        "{}",
        page.html
    );
}

#[test]
fn dead_links_are_named_and_fail() {
    let index = Index::parse(LIST).unwrap();
    let two = render("# Two\n\n## Part\n").unwrap();
    let check = |body: &str| {
        let one = render(&format!("# One\n\n## Here\n\n{body}\n")).unwrap();
        check::links(&root(), &index, &[one, two.clone()]).map_err(|error| error.to_string())
    };
    for good in [
        "[a](two.md)",
        "[a](two.md#part)",
        "[a](#here)",
        "[a](/runs/new)",
        "[a](/runs/run-1)",
        "[a](../ARCHITECTURE.md)",
        "[a](/api/openapi.json)",
        "[a](https://example.org)",
    ] {
        assert_eq!(check(good), Ok(()), "{good}");
    }
    for dead in [
        "three.md",
        "two.md#nope",
        "#nope",
        "/no/such",
        "../nope.rs",
        "/docs/three",
    ] {
        let error = check(&format!("[a]({dead})")).unwrap_err();
        assert_eq!(error, format!("docs/introduction.md: {dead} leads nowhere"));
    }
}

#[test]
fn the_list_gives_order_titles_and_summaries() {
    let index = Index::parse(LIST).unwrap();
    let pages: Vec<_> = index
        .pages()
        .map(|p| (p.url(), p.html_name(), p.summary.clone()))
        .collect();
    assert_eq!(index.about, "About it.");
    assert_eq!(
        pages,
        [
            ("/docs".into(), "index.html".into(), "the first.".into()),
            ("/docs/two".into(), "two.html".into(), "the second.".to_owned()),
        ]
    );
    let error = Index::parse("## Start\n- [One](one.md) without a colon\n").unwrap_err();
    assert!(error.to_string().contains("without a colon"));
    Index::parse("# Nothing\n").unwrap_err();
}

#[test]
fn a_page_has_its_place_and_its_neighbours() {
    let index = Index::parse(LIST).unwrap();
    let content = render("# Two\n\n## A < b\n\n## C\n").unwrap();
    let html = page::html(&index, 1, &content, "abc");
    assert!(html.contains("<a href=\"/docs/two\" aria-current=\"page\">Two</a>"));
    assert!(html.contains("<a rel=\"prev\" href=\"/docs\">") && !html.contains("rel=\"next\""));
    assert!(html.contains("<li data-level=\"2\"><a href=\"#a--b\">A &lt; b</a></li>"));
    assert!(html.contains("docs.css?v=abc") && !html.contains("{{"));
}

#[test]
fn what_a_page_holds_cannot_fill_in_the_frame() {
    let index = Index::parse(LIST).unwrap();
    let content = render("# Two\n\n`{{nav}}` stays\n").unwrap();
    assert!(page::html(&index, 1, &content, "v").contains("<code>{{nav}}</code> stays"));
}

#[test]
fn pages_without_a_title_and_pictures_are_refused() {
    render("Text first\n\n# A\n").unwrap_err();
    assert!(
        render("# A\n\n![x](x.png)\n")
            .unwrap_err()
            .to_string()
            .contains("x.png")
    );
}

#[test]
fn code_is_marked_and_nothing_of_it_is_lost() {
    let shell = "export A=\"$B\" # why <this>\ncurl -d '{\"a\": 1}' \"open";
    let strip = |html: &str| {
        let mut out = String::new();
        let mut inside = false;
        for c in html.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out
    };
    for lang in ["sh", "json", "python", "text", ""] {
        assert_eq!(
            strip(&highlight::code(lang, shell)),
            highlight::escape(shell),
            "{lang}"
        );
    }
    let html = highlight::code("sh", shell);
    assert!(
        html.contains("<span class=\"c\"># why &lt;this&gt;</span>"),
        "{html}"
    );
    let json = highlight::code("json", "{\"a\": \"b\", \"c\": null}");
    assert!(
        json.contains("<span class=\"k\">&quot;a&quot;</span>: <span class=\"s\">&quot;b&quot;</span>"),
        "{json}"
    );
}

#[test]
fn the_search_finds_headings_with_their_words() {
    let index = Index::parse(LIST).unwrap();
    let one = render("# One\n\nFirst words.\n\n## Part\n\nMore, and `code`.\n\n```json\n{}\n```\n").unwrap();
    let two = render("# Two\n").unwrap();
    let entries: serde_json::Value =
        serde_json::from_str(&search::json(&index, &[one, two]).unwrap()).unwrap();
    assert_eq!(
        entries,
        serde_json::json!([
            ["One", "One", "/docs", "First words."],
            ["One", "Part", "/docs#part", "More, and code."],
            ["Two", "Two", "/docs/two", ""],
        ])
    );
}

#[test]
fn lines_that_ask_for_parts_are_replaced_with_their_indent() {
    let pages = [("a.md", "<!-- cascade: api runs -->\n")];
    let parts = expand::Sources::read(&root(), pages.into_iter()).unwrap();
    let text = parts
        .expand("before\n\n   <!-- cascade: sim-states -->\n\nafter\n")
        .unwrap();
    assert!(
        text.starts_with("before\n\n   | state | meaning | next |\n   | --- |"),
        "{text}"
    );
    assert!(
        text.contains("| `running` |") && text.ends_with("|\n\nafter\n"),
        "{text}"
    );
    let routes = parts.expand("<!-- cascade: api-routes -->").unwrap();
    assert!(
        routes.contains("[`GET /api/runs`](a.md#get-apiruns)") && routes.contains("| `GET /api/traces` |")
    );
    for unknown in ["api nothing", "example no-such", "nonsense"] {
        let error = parts.expand(&format!("<!-- cascade: {unknown} -->")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(unknown.split(' ').next_back().unwrap()),
            "{error}"
        );
    }
}

#[test]
fn state_tables_say_what_the_code_does() {
    let sims = states::sims();
    assert!(sims.contains(
        "| `pending` | Created with the run; waits for a free place. | `launching`, `failed`, `cancelled` |"
    ));
    assert!(sims.contains("| `succeeded` | The simulator reported `succeeded`. | nothing: it is final |"));
    let runs = states::runs();
    assert!(
        runs.contains("| `succeeded` | Every sim succeeded. | `succeeded` + `succeeded` |"),
        "{runs}"
    );
    assert!(states::traces().contains("| `ready` | Runs can launch. |"));
}

/// The documents as they are: every link leads somewhere, every file is written.
#[test]
fn the_documents_build() {
    let site = tempfile::tempdir().unwrap();
    super::build(&root(), site.path()).unwrap();
    let read = |file: &str| std::fs::read_to_string(site.path().join(file)).unwrap();
    assert!(read("docs/index.html").contains("<h1 id=\"introduction\">"));
    assert!(read("docs/404.html").contains("This page is not here"));
    assert!(read("llms.txt").starts_with("# Cascade\n\n> "));
    assert!(read("llms-full.txt").contains("# Quickstart"));
    let skill = read("docs/cascade-skill/SKILL.md");
    assert!(skill.starts_with("---\nname: cascade\ndescription: "));
    assert_eq!(
        skill.split_once("---\n\n").unwrap().1,
        read("docs/agent-prompt.md")
    );
    assert!(!skill.contains("<!-- cascade:"));
    for page in ["docs/index.html", "docs/api-runs.html", "docs/engine.html"] {
        assert!(read(page).len() < 400 << 10, "{page} is too heavy");
    }
}
