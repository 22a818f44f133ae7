//! The lines of a CSV file as records (RFC 4180), for a preview.

/// The records of some lines. A quoted field may hold commas, doubled quotes and line breaks.
pub fn records(lines: &[String]) -> Vec<Vec<String>> {
    let text = lines.join("\n");
    let mut records = Vec::new();
    let (mut record, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            letter => field.push(letter),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push(record);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::records;

    fn read(text: &str) -> Vec<Vec<String>> {
        records(&text.lines().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn quotes_hold_commas_quotes_and_lines() {
        assert_eq!(read("a,b\n1,\"x, \"\"y\"\"\"\n"), [["a", "b"], ["1", "x, \"y\""]]);
        assert_eq!(read("\"two\nlines\",2"), [["two\nlines", "2"]]);
        assert_eq!(read("a,,"), [["a", "", ""]]);
        assert_eq!(
            read("5\" disk,1"),
            [["5\" disk", "1"]],
            "a quote inside a field is a letter"
        );
        assert!(read("").is_empty());
    }
}
