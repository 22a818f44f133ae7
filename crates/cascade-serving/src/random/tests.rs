//! The first numbers are pinned, and moments are those of the distributions.

use super::*;

/// Mean and variance of 100,000 draws.
fn moments(mut draw: impl FnMut(&mut Random) -> f64) -> (f64, f64) {
    let mut random = Random::new(7, 1);
    let draws: Vec<f64> = (0..100_000).map(|_| draw(&mut random)).collect();
    let mean = draws.iter().sum::<f64>() / 1e5;
    (
        mean,
        draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e5,
    )
}

fn near(got: (f64, f64), mean: f64, variance: f64) {
    assert!((got.0 - mean).abs() < 0.02 * mean.max(1.0), "{got:?}");
    assert!((got.1 - variance).abs() < 0.04 * variance, "{got:?}");
}

#[test]
fn moments_are_right() {
    near(moments(Random::uniform), 0.5, 1.0 / 12.0);
    near(moments(Random::exponential), 1.0, 1.0);
    near(moments(Random::normal), 0.0, 1.0);
    near(moments(|random| random.gamma(4.0)), 4.0, 4.0);
    near(moments(|random| random.gamma(0.25)), 0.25, 0.25);
    near(
        moments(|random| f64::from(random.between(10, 19))),
        14.5,
        99.0 / 12.0,
    );
}

/// Pinned, so that a change of platform or of a library cannot change workloads unseen.
#[test]
fn the_first_numbers_stay() {
    let mut random = Random::new(42, 0);
    let bits = [
        random.uniform(),
        random.exponential(),
        random.normal(),
        random.gamma(0.5),
    ]
    .map(f64::to_bits);
    assert_eq!(
        bits.map(|b| format!("{b:016x}")),
        [
            "3febb0e0911bd200",
            "4003e10459293e81",
            "3ffb6bb32d2ee180",
            "3fd0e9e1f794a9d0"
        ]
    );
}

#[test]
fn seeds_and_streams_differ() {
    let first = |seed, stream| Random::new(seed, stream).uniform();
    let all = [first(0, 0), first(0, 1), first(1, 0), first(1, 1), first(2, 0)];
    assert!(
        all.iter()
            .enumerate()
            .all(|(i, a)| all.iter().skip(i + 1).all(|b| (a - b).abs() > 1e-3)),
        "{all:?}"
    );
}
