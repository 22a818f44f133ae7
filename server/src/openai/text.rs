//! Text of a given number of tokens: drawn at random, the same for the same seed on every platform.

use std::sync::Arc;

use cascade_serving::random::Random;

use super::tokens::Tokens;

/// Tokens whose text may wait for a character to become whole: one has at most four bytes.
const MOST_HELD: usize = 6;

/// Where text comes from.
#[derive(Clone, Debug)]
pub(crate) enum Vocabulary {
    /// Nothing is known but how many tokens there are.
    Size(u32),
    /// The model's own tokens.
    Tokens(Arc<Tokens>),
}

impl Vocabulary {
    /// The word for it in answers.
    pub(super) fn source(&self) -> &'static str {
        match self {
            Self::Size(_) => "placeholder",
            Self::Tokens(_) => "vocabulary",
        }
    }

    /// The text of token ids.
    pub(super) fn text(&self, ids: &[u32]) -> String {
        match self {
            Self::Size(_) => ids.iter().map(placeholder).collect::<Vec<_>>().join(" "),
            Self::Tokens(tokens) => tokens.decode(ids),
        }
    }
}

fn placeholder(id: &u32) -> String {
    format!("tok{id}")
}

/// The text of one choice, token by token. However it is cut, it is the same.
#[derive(Debug)]
pub(crate) struct Words {
    random: Random,
    vocabulary: Vocabulary,
    left: u32,
    /// Tokens before, whose text decides how the next is written, and those whose text is still to come.
    window: Vec<u32>,
    /// How many of the window's tokens are out as text.
    read: usize,
}

impl Words {
    /// The text of a choice of so many tokens. Each choice has random numbers of its own.
    pub(super) fn new(vocabulary: &Vocabulary, seed: i64, choice: usize, tokens: u32) -> Self {
        Self {
            random: Random::new(seed.cast_unsigned(), choice as u64),
            vocabulary: vocabulary.clone(),
            left: tokens,
            window: Vec::new(),
            read: 0,
        }
    }

    /// The text of the next token; empty while a character is not whole.
    pub(super) fn next(&mut self) -> String {
        self.left = self.left.saturating_sub(1);
        let id = match &self.vocabulary {
            Vocabulary::Size(size) => self.random.between(0, size.saturating_sub(1)),
            Vocabulary::Tokens(tokens) => {
                let last = u32::try_from(tokens.drawn().len() - 1).unwrap_or(u32::MAX);
                let at = self.random.between(0, last) as usize;
                tokens.drawn().get(at).copied().unwrap_or_default()
            }
        };
        self.window.push(id);
        let before = self
            .vocabulary
            .text(self.window.get(..self.read).unwrap_or_default());
        let now = self.vocabulary.text(&self.window);
        let held = self.window.len() - self.read;
        // A replacement character at the end may be the beginning of a character.
        if now.ends_with(char::REPLACEMENT_CHARACTER) && held < MOST_HELD && self.left > 0 {
            return String::new();
        }
        self.window.drain(..self.read);
        self.read = self.window.len();
        now.strip_prefix(&before).map_or(now.clone(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::tokens::tests::gpt2;

    fn pieces(vocabulary: &Vocabulary, seed: i64, choice: usize, tokens: u32) -> Vec<String> {
        let mut words = Words::new(vocabulary, seed, choice, tokens);
        (0..tokens).map(|_| words.next()).collect()
    }

    #[test]
    fn placeholders_are_one_word_a_token_and_hang_on_the_seed_alone() {
        let vocabulary = Vocabulary::Size(50_272);
        let pieces = |seed, choice| pieces(&vocabulary, seed, choice, 5);
        // Recorded: the same on every platform.
        assert_eq!(
            pieces(42, 0).concat(),
            "tok43502 tok46082 tok45849 tok5444 tok23516"
        );
        assert_eq!(pieces(42, 0), pieces(42, 0));
        assert_ne!(pieces(42, 0), pieces(42, 1));
        assert_ne!(pieces(42, 0), pieces(-42, 0));
    }

    #[test]
    fn pieces_of_characters_are_held_back_until_they_are_whole_or_never_will_be() {
        let folder = tempfile::tempdir().unwrap();
        let vocabulary = Vocabulary::Tokens(gpt2(folder.path()));
        // A vocabulary of single bytes: most sequences are no UTF-8.
        let (mut whole, mut empty) = (String::new(), 0);
        for piece in pieces(&vocabulary, 7, 0, 2_000) {
            assert!(piece.chars().count() <= MOST_HELD + 4, "{piece:?}");
            empty += usize::from(piece.is_empty());
            whole += &piece;
        }
        assert!(empty > 100 && whole.len() > 2_000);
    }

    #[test]
    fn every_token_but_the_special_ones_is_drawn_about_as_often() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = gpt2(folder.path());
        let (drawn, count) = (tokens.drawn().to_vec(), 200_u32);
        let mut random = Words::new(&Vocabulary::Tokens(Arc::clone(&tokens)), 3, 0, u32::MAX);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..count * drawn.len() as u32 {
            random.next();
            *seen.entry(*random.window.last().unwrap()).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.keys().copied().collect::<Vec<_>>(), drawn);
        // Five standard deviations of a Poisson count.
        let far = 5.0 * f64::from(count).sqrt();
        assert!(
            seen.values()
                .all(|n| (f64::from(*n) - f64::from(count)).abs() < far),
            "{seen:?}"
        );
        assert!(!drawn.contains(&2), "</s>");
    }
}
