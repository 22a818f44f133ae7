//! Tables as comma-separated values (RFC 4180).

/// Writes a head and rows; times as plain numbers.
pub fn write(head: &[String], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut out = String::new();
    let mut line = |cells: &[String]| {
        for (i, cell) in cells.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            if cell.contains([',', '"', '\n', '\r']) {
                out.push('"');
                out.push_str(&cell.replace('"', "\"\""));
                out.push('"');
            } else {
                out.push_str(cell);
            }
        }
        out.push_str("\r\n");
    };
    line(head);
    for row in rows {
        line(&row);
    }
    out
}

/// A number in full, or nothing.
pub fn number(value: Option<f64>) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{number, write};

    #[test]
    fn what_would_end_a_cell_is_quoted() {
        let head = ["kernel".to_owned(), "ns".to_owned()];
        let rows = [
            vec!["a<1, \"b\">".to_owned(), number(Some(1.5))],
            vec!["x".to_owned(), number(None)],
        ];
        assert_eq!(
            write(&head, rows),
            "kernel,ns\r\n\"a<1, \"\"b\"\">\",1.5\r\nx,\r\n"
        );
    }
}
