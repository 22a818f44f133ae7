//! Cutting a long table into pages.

use std::ops::Range;

/// One page of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// 0-based number of this page.
    pub number: usize,
    /// How many pages there are; at least 1.
    pub pages: usize,
    /// Position of the first row on it.
    pub start: usize,
    /// Position after the last row on it.
    pub end: usize,
}

impl Page {
    /// Page `number` of `total` rows, `size` on each; a number past the end means the last page.
    pub fn new(number: usize, size: usize, total: usize) -> Self {
        let size = size.max(1);
        let pages = total.div_ceil(size).max(1);
        let number = number.min(pages - 1);
        let start = number * size;
        Self {
            number,
            pages,
            start,
            end: (start + size).min(total),
        }
    }

    /// The rows on it.
    pub const fn rows(&self) -> Range<usize> {
        self.start..self.end
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn pages_cover_every_row_once() {
        for total in [0, 1, 99, 100, 101, 1000] {
            let pages = Page::new(0, 100, total).pages;
            let rows: Vec<usize> = (0..pages).flat_map(|n| Page::new(n, 100, total).rows()).collect();
            assert_eq!(rows, (0..total).collect::<Vec<_>>());
        }
        assert_eq!(
            Page::new(9, 100, 150).number,
            1,
            "past the end means the last page"
        );
    }
}
