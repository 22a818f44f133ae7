//! What must be known before columns are read against each other: that other programs made them, that they ran
//! another trace.

use cascade_api::Engine;

use super::letter;
use crate::engine;

/// Says plainly that the columns' numbers come from different programs; `None` where one made them all.
/// `sides` are the engines of each column.
pub fn engines(sides: &[&[Engine]]) -> Option<String> {
    let mut all: Vec<Engine> = sides.iter().flat_map(|own| own.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    if all.len() < 2 {
        return None;
    }
    let made = all.iter().map(|engine| {
        let by = sides.iter().enumerate().filter(|(_, own)| own.contains(engine));
        let letters: Vec<String> = by.map(|(place, _)| letter(place)).collect();
        format!("{} ({})", letters.join(", "), engine::name(*engine))
    });
    Some(format!(
        "Different programs made these numbers: {}. A difference between their columns is also a difference between \
         the programs, not only between the GPUs.",
        made.collect::<Vec<_>>().join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::engines;
    use cascade_api::Engine::{AccelSim, Cascade};

    #[test]
    fn columns_of_one_program_need_no_word_and_others_are_named() {
        assert_eq!(engines(&[&[Cascade], &[Cascade]]), None);
        assert_eq!(engines(&[]), None);
        let text = engines(&[&[Cascade], &[AccelSim], &[AccelSim, Cascade]]).unwrap();
        assert!(text.contains("B, C (Accel-Sim)"), "{text}");
        assert!(text.contains("A, C (Cascade engine)"), "{text}");
    }
}
