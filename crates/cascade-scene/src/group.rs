//! What a group of kernels is called, wherever groups are shown: the role guessed from name and grid, or where none
//! fits, the kernel's own readable name.

use crate::kernel_name::readable;

/// The role of what has none: setup, index selection, reductions. Lists that know each kernel name it instead, so
/// that kernels of an unknown model are told apart.
const NO_ROLE: &str = "Other setup/index/reduction";

/// A kernel's group, from the role that the server gives and the kernel's name as recorded.
pub fn name(role: &str, kernel: &str) -> String {
    match role {
        "" | NO_ROLE => readable(kernel),
        role => role.to_owned(),
    }
}

/// Where a role stands in the palette, so that it looks alike in different views. There are more roles than colours: a
/// role that takes much of a step shares its place with one that takes little, and the one with more time has it.
const PLACES: [(&str, usize); 11] = [
    ("GEMM", 0),
    ("QKV GEMM", 0),
    ("Attention", 1),
    ("MLP up GEMM", 2),
    ("Small elementwise", 2),
    ("MLP down GEMM", 3),
    ("Split-K reduction", 3),
    ("Out-proj GEMM", 4),
    ("lm_head GEMM", 5),
    ("KV-cache write", 5),
    ("Layer norm", 6),
];

/// A place in a palette of `colours` for each of the `groups`, the most important first. A role takes its own place
/// where that is free, the others what is left; where nothing is, colours come again.
pub(crate) fn places(groups: &[&str], colours: usize) -> Vec<usize> {
    let mut free = vec![true; colours];
    let mut take = |place: usize| std::mem::take(free.get_mut(place)?).then_some(place);
    let own = |group: &&str| {
        PLACES
            .iter()
            .find(|(role, _)| role == group)
            .map(|(_, place)| *place)
    };
    let taken: Vec<_> = groups.iter().map(|group| take(own(group)?)).collect();
    let mut left = (0..colours).filter_map(take);
    let place = |(at, taken): (usize, Option<usize>)| taken.or_else(|| left.next()).unwrap_or(at % colours);
    taken.into_iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::{NO_ROLE, PLACES, name, places};
    use crate::compare::lines::Lines;
    use crate::compare::testing::{kernel, run, sides};
    use crate::timeline::groups::Kinds;

    #[test]
    fn a_kernel_without_a_role_is_its_own_group() {
        assert_eq!(name("GEMM", "nvjet_hsh_64x8"), "GEMM");
        for role in ["", "Other setup/index/reduction", "init_kernel"] {
            assert_eq!(name(role, "_Z11init_kernelIdEvPT_S1_"), "init_kernel", "{role}");
        }
    }

    #[test]
    fn a_role_keeps_its_colour_and_the_others_take_what_is_left() {
        let groups = ["init_kernel", "Attention", "GEMM", "QKV GEMM", "MLP up GEMM"];
        assert_eq!(places(&groups, 8), [3, 1, 0, 4, 2]);
        assert_eq!(places(&groups[1..3], 8), [1, 0], "whatever else there is");
        assert_eq!(
            places(&["Layer norm", "a", "b"], 3),
            [0, 1, 2],
            "no place of its own among three"
        );
        assert_eq!(places(&["a", "b", "c", "d"], 3), [0, 1, 2, 0]);
        assert_eq!(places(&[], 3), [0; 0]);
    }

    #[test]
    fn every_role_that_the_server_gives_has_a_place() {
        use cascade_steps::Role::{
            Attention, Elementwise, Gemm, KvWrite, LayerNorm, LmHead, MlpDown, MlpUp, Other, OutProj, Qkv,
            SplitK,
        };
        let roles = [
            Attention,
            Elementwise,
            Gemm,
            KvWrite,
            LayerNorm,
            LmHead,
            MlpDown,
            MlpUp,
            OutProj,
            Qkv,
            SplitK,
        ];
        for role in roles {
            assert!(PLACES.iter().any(|(name, _)| *name == role.label()), "{role}");
        }
        assert_eq!(Other.label(), NO_ROLE);
    }

    #[test]
    fn the_timeline_and_a_comparison_use_the_same_names() {
        let symbol = "_Z11init_kernelIdEvPT_S1_";
        let mut kinds = Kinds::default();
        let kind = kinds.intern(&cascade_api::KernelKind {
            name: symbol.into(),
            group: "init_kernel".into(),
        });
        let own = [kernel(symbol, NO_ROLE, 1), kernel("gemm", "GEMM", 1)];
        let run = run(&own, &[0, 1], &[("SM90_H100", &[Some(1.0), Some(2.0)])]);
        let lines = Lines::new(&sides(&"t".into(), &run));
        assert_eq!(lines.groups, ["init_kernel", "GEMM"]);
        assert_eq!(kinds.group_of(kind).unwrap().name, lines.groups[0]);
    }
}
