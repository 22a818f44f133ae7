//! How well a text fits what was typed.

/// Points for a letter that follows the one matched before it.
const IN_A_ROW: i32 = 6;
/// Points for a letter at the start of a word.
const WORD_START: i32 = 8;
/// Points for a letter at the start of the text.
const TEXT_START: i32 = 4;
/// Points taken for each letter passed over between two that match, up to [`MOST_PASSED`].
const PASSED: i32 = 1;
/// Letters passed over that count.
const MOST_PASSED: i32 = 8;

/// How well `text` fits `query`; `None` if a word of it does not occur. A word occurs when its letters do, in order:
/// `cmp` fits `Compare`. Letters in a row and at the start of words count more. Case does not matter.
pub(super) fn score(query: &str, text: &str) -> Option<i32> {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    query.split_whitespace().map(|word| word_score(word, &text)).sum()
}

/// The best score over every place where the word can start.
fn word_score(word: &str, text: &[char]) -> Option<i32> {
    let word: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    let first = word.first()?;
    let starts = (0..text.len()).filter(|at| text.get(*at) == Some(first));
    starts.filter_map(|at| score_from(&word, text, at)).max()
}

/// The score of a match whose first letter is at `start`; each further letter is the next that fits.
fn score_from(word: &[char], text: &[char], start: usize) -> Option<i32> {
    let (mut points, mut at, mut last) = (0, start, None::<usize>);
    for letter in word {
        let found = at + text.get(at..)?.iter().position(|other| other == letter)?;
        let before = found.checked_sub(1).and_then(|before| text.get(before));
        if before.is_none_or(|before| !before.is_alphanumeric()) {
            points += WORD_START;
        }
        if found == 0 {
            points += TEXT_START;
        }
        match last.map(|last| found - last - 1) {
            Some(0) => points += IN_A_ROW,
            Some(passed) => points -= PASSED * i32::try_from(passed).unwrap_or(MOST_PASSED).min(MOST_PASSED),
            None => {}
        }
        (at, last) = (found + 1, Some(found));
    }
    Some(points)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn letters_fit_in_order_and_every_word_must() {
        assert!(score("cmp", "Compare").is_some());
        assert_eq!(score("pmc", "Compare"), None);
        assert!(score("h100 run", "New run on SM90_H100").is_some());
        assert_eq!(score("h100 trace", "New run on SM90_H100"), None);
        assert_eq!(score("", "anything"), Some(0));
    }

    #[test]
    fn starts_of_words_and_letters_in_a_row_come_first() {
        assert!(score("gpu", "GPUs") > score("gpu", "Graph of pull-ups"));
        assert!(score("run", "New run") > score("run", "Return"));
        assert!(score("a100", "SM80_A100") > score("a100", "Area 1 of 0 to 0"));
    }
}
