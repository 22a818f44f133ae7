//! Tokens, nesting and hashes.

use proptest::prelude::*;

use super::*;

fn problems(config: &Config) -> Vec<String> {
    config.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn comments_quotes_flags_and_odd_values() {
    let config = read(
        "  -gpgpu_n_mem 0x10 # HBM is DDR\t\n#-gpgpu_n_mem 3\n-gpgpu_dram_timing_opt \"nbk=16:CCD=1: # first\n\
         \t CL=12:WL=2\"\n-gpgpu_flush_l1_cache -gpgpu_warpdistro_shader -1\n-gpgpu_cache:dl2\nnone",
    );
    assert_eq!(config.value("-gpgpu_n_mem"), Some("0x10"));
    assert_eq!(
        config.value("-gpgpu_dram_timing_opt"),
        Some("nbk=16:CCD=1: CL=12:WL=2")
    );
    assert_eq!(config.value("-gpgpu_flush_l1_cache"), Some(""));
    assert_eq!(config.value("-gpgpu_warpdistro_shader"), Some("-1"));
    assert_eq!(config.value("-gpgpu_cache:dl2"), Some("none"));
    assert_eq!(problems(&config), [""; 0]);
}

#[test]
fn duplicates_unknown_names_and_stray_words_have_lines() {
    let config = read("-gpgpu_n_mem 1\n-new_thing 5\n-gpgpu_n_mem 2 3\n-gpgpu_dram_timing_opt \"a\nb");
    assert_eq!(config.value("-gpgpu_n_mem"), Some("2"));
    assert_eq!(config.value("-new_thing"), Some("5"));
    assert_eq!(
        problems(&config),
        [
            "c:2: -new_thing is not an option of the simulators known here; it is kept as it is",
            "c:3: -gpgpu_n_mem replaces the value of line 1",
            "c:3: \"3\" follows no option that lacks a value",
            "c:4: the quote after -gpgpu_dram_timing_opt is never closed",
        ]
    );
}

#[test]
fn files_nest_in_place_and_not_for_ever() {
    let first = Source {
        name: "a",
        text: b"-gpgpu_n_mem 1 -config b -gpgpu_n_clusters 9",
    };
    let config = Config::read(&[first], &mut |name| match name {
        "b" => Ok(b"-gpgpu_n_mem 2\n-gpgpu_n_clusters 3 -config c".to_vec()),
        name => Err(format!("{name} is missing")),
    });
    assert_eq!(
        (config.value("-gpgpu_n_mem"), config.value("-gpgpu_n_clusters")),
        (Some("2"), Some("9"))
    );
    assert_eq!(
        problems(&config),
        [
            "b:1: -gpgpu_n_mem replaces the value of a:1",
            "b:2: -config c cannot be read: c is missing",
            "a:1: -gpgpu_n_clusters replaces the value of b:2",
        ]
    );
    let mut calls = 0;
    let own = Source {
        name: "x",
        text: b"-config x -config x -config x",
    };
    let config = Config::read(&[own], &mut |_| {
        calls += 1;
        Ok(own.text.to_vec())
    });
    assert!(
        calls < MAX_CONFIG_FILES && config.problems[0].text.contains("nest"),
        "{calls} {:?}",
        config.problems[0]
    );
}

#[test]
fn hash_sees_values_only() {
    let hash = |text: &str| read(text).hash();
    let one = hash("-gpgpu_n_mem 16\n-gpgpu_clock_domains 1132:1132:1132:3500.5\n-gpgpu_flush_l1_cache 1");
    assert_eq!(one.len(), HASH_CHARS);
    let same = "-gpgpu_flush_l1_cache # on\n-gpgpu_clock_domains 1132.0:1132:1132:3500.50 -gpgpu_n_mem 3\n-gpgpu_n_mem 020";
    assert_eq!(one, hash(same));
    assert_ne!(
        one,
        hash("-gpgpu_n_mem 17\n-gpgpu_clock_domains 1132:1132:1132:3500.5\n-gpgpu_flush_l1_cache 1")
    );
    // Fixed for ever: stored results refer to it.
    assert_eq!(hash("-gpgpu_n_mem 16"), "5ac9cdcd6efbbbe9c945f57dbac0956a");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let config = Config::read(&[Source { name: "c", text: &text }], &mut |_| Ok(text.clone()));
        let _outcome = GpuConfig::new(&config).map(|gpu| check(&gpu));
        prop_assert_eq!(config.hash().len(), HASH_CHARS);
    }

    #[test]
    fn order_and_layout_do_not_change_the_hash(
        mut pairs in prop::collection::btree_map("-[a-z_]{1,12}", "[0-9a-zA-Z.:,]{1,12}", 1..10).prop_map(Vec::from_iter),
        seed in any::<prop::sample::Index>(),
    ) {
        let text = |pairs: &[(String, String)], gap: &str| {
            pairs.iter().map(|(name, value)| format!("{name}{gap}{value}{gap}")).collect::<String>()
        };
        let one = read(&text(&pairs, " "));
        let turn = seed.index(pairs.len());
        pairs.rotate_left(turn);
        let other = read(&text(&pairs, "\t # c\n "));
        prop_assert_eq!(one.hash(), other.hash());
    }
}
