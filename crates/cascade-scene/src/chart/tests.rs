//! Colours, places and marks of hand-made charts.

use super::{BarChart, Group, Hue, spread, ticks};
use proptest::prelude::*;

#[test]
fn real_time_has_a_colour_of_its_own_and_moves_no_other() {
    let chart =
        |series: &[&str]| BarChart::of(series.iter().map(|name| (*name).to_owned()).collect(), Vec::new());
    let with = chart(&["Real", "H100"]);
    assert_eq!([with.color(0), with.color(1)], [Hue::Real, Hue::Gpu(0)]);
    assert_eq!(chart(&["H100"]).color(0), Hue::Gpu(0));
}

#[test]
fn a_chart_without_a_bar_is_empty() {
    let chart = |value| {
        let label = "k".to_owned();
        let values = vec![None, value];
        BarChart::of(vec!["A".into(), "B".into()], vec![Group { label, values }])
    };
    assert!(chart(None).is_empty());
    let one = chart(Some(5000.0));
    assert!(!one.is_empty() && one.top_ns >= 5000.0);
}

#[test]
fn what_is_too_much_is_shown_from_end_to_end() {
    assert_eq!(spread(3, 8), [0, 1, 2]);
    assert_eq!(spread(12, 8), [0, 1, 3, 4, 6, 7, 9, 11]);
    assert_eq!((spread(0, 8), spread(5, 1)), (vec![], vec![0]));
}

proptest! {
    #[test]
    fn marks_are_few_rise_evenly_and_reach_the_top(top in 1e-3_f64..1e15) {
        let marks = ticks(top, 5);
        prop_assert!((2..=7).contains(&marks.len()), "{marks:?}");
        prop_assert_eq!(marks[0], 0.0);
        prop_assert!(marks.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(*marks.last().unwrap() >= top * (1.0 - 1e-9));
        prop_assert!(marks[marks.len() - 2] < top);
    }
}
