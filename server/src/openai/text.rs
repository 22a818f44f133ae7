//! Text of a given number of tokens: drawn at random, the same for the same seed on every platform.

use cascade_serving::random::Random;

/// Where text comes from.
#[derive(Clone, Debug)]
pub(crate) enum Vocabulary {
    /// Nothing is known but how many tokens there are.
    Size(u32),
}

impl Vocabulary {
    /// The word for it in answers.
    pub(crate) fn source(&self) -> &'static str {
        match self {
            Self::Size(_) => "placeholder",
        }
    }
}

/// The text of one choice, token by token.
#[derive(Debug)]
pub(crate) struct Words {
    random: Random,
    vocabulary: Vocabulary,
    first: bool,
}

impl Words {
    /// The text of a choice: each choice has a stream of its own.
    pub(crate) fn new(vocabulary: &Vocabulary, seed: i64, choice: usize) -> Self {
        Self {
            random: Random::new(seed.cast_unsigned(), choice as u64),
            vocabulary: vocabulary.clone(),
            first: true,
        }
    }

    /// The text of the next token; empty while a character is not whole.
    pub(crate) fn next(&mut self) -> String {
        let space = if std::mem::take(&mut self.first) { "" } else { " " };
        match &self.vocabulary {
            Vocabulary::Size(size) => format!("{space}tok{}", self.random.between(0, size.saturating_sub(1))),
        }
    }
}
