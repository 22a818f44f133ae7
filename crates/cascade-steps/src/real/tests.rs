//! Real timings, good and broken.

use super::{RealTimingError, parse_real_timing};

#[test]
fn rows_are_ordered_by_kernel_id() {
    let json = br#"[{"kernel_id": 2, "kernel_name": "b", "duration_ns": 5, "grid": [1,1,1]},
                    {"kernel_id": 1, "duration_ns": 2.5}]"#;
    let rows = parse_real_timing(json).unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|r| (r.kernel_id, r.kernel_name.as_str(), r.duration_ns))
        .collect();
    assert_eq!(seen, [(1, "", 2.5), (2, "b", 5.0)]);
}

#[test]
fn what_is_no_timing_says_why() {
    let errors = [
        ("{", "not JSON"),
        ("{}", "not a list"),
        ("[]", "not a list"),
        (
            r#"[{"kernel_id": 1.5, "duration_ns": 1}]"#,
            "row 0: kernel_id is missing or not an integer",
        ),
        (
            r#"[{"kernel_id": 1, "duration_ns": 1}, {"kernel_id": 2, "duration_ns": -1}]"#,
            "row 1: duration_ns",
        ),
        (r#"[3]"#, "row 0: kernel_id"),
    ];
    for (json, expected) in errors {
        let error: RealTimingError = parse_real_timing(json.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{json}: {error}");
    }
}
