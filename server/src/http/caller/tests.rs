//! Who may call what.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::{bearer, is_same_origin};

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

#[test]
fn a_bearer_token_is_read_whatever_the_case_of_its_scheme() {
    assert_eq!(bearer(&headers(&[("authorization", "Bearer abc")])), Some("abc"));
    assert_eq!(bearer(&headers(&[("authorization", "bearer abc")])), Some("abc"));
    assert_eq!(bearer(&headers(&[("authorization", "Basic abc")])), None);
    assert_eq!(bearer(&headers(&[("authorization", "abc")])), None);
    assert_eq!(bearer(&headers(&[])), None);
}

#[test]
fn only_our_own_pages_may_use_a_session_to_change_something() {
    let rows: [(&[(&'static str, &'static str)], bool); 8] = [
        (&[], true),
        (&[("sec-fetch-site", "same-origin")], true),
        (&[("sec-fetch-site", "none")], true),
        (&[("sec-fetch-site", "same-site")], false),
        (
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "http://a"),
                ("host", "a"),
            ],
            false,
        ),
        (&[("origin", "http://a:8000"), ("host", "a:8000")], true),
        (&[("origin", "http://a:8001"), ("host", "a:8000")], false),
        (&[("origin", "null"), ("host", "a:8000")], false),
    ];
    for (pairs, expected) in rows {
        assert_eq!(is_same_origin(&headers(pairs)), expected, "{pairs:?}");
    }
}
