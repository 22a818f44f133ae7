//! Plain tables: columns as wide as they need, numbers to the right.

use std::fmt;

use super::out::harmless;

/// Rows of text under a heading.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Title, and whether the column holds numbers.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A column of text.
    pub(crate) fn text(mut self, title: impl Into<String>) -> Self {
        self.columns.push((title.into(), false));
        self
    }

    /// A column of numbers.
    pub(crate) fn number(mut self, title: impl Into<String>) -> Self {
        self.columns.push((title.into(), true));
        self
    }

    /// Adds a row; cells beyond the columns are not shown.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let one_line = |cell: String| harmless(&cell).replace(['\n', '\t'], " ");
        self.rows.push(cells.into_iter().map(one_line).collect());
    }

    fn line<'a>(
        &self,
        f: &mut fmt::Formatter<'_>,
        widths: &[usize],
        cells: impl Iterator<Item = &'a str>,
    ) -> fmt::Result {
        let mut line = String::new();
        for ((cell, width), (_, number)) in cells.zip(widths).zip(&self.columns) {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let parts = if *number { [&pad, cell] } else { [cell, &pad] };
            line.extend(parts);
            line.push_str("  ");
        }
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |i: usize, title: &str| {
            let cells = self
                .rows
                .iter()
                .filter_map(|row| row.get(i))
                .map(|cell| cell.chars().count());
            cells.chain([title.chars().count()]).max().unwrap_or_default()
        };
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, (title, _))| width(i, title))
            .collect();
        self.line(f, &widths, self.columns.iter().map(|(title, _)| title.as_str()))?;
        for row in &self.rows {
            self.line(f, &widths, row.iter().map(String::as_str))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_line_up() {
        let mut table = Table::default().text("name").number("cycles").text("bound");
        table.row(["a", "1,000", "dram"].map(str::to_owned));
        table.row(["grö\nßer", "5", ""].map(str::to_owned));
        assert_eq!(
            table.to_string(),
            "name     cycles  bound\na         1,000  dram\ngrö ßer       5\n"
        );
    }
}
