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

#[cfg(test)]
mod tests {
    use super::name;
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
    fn the_timeline_and_a_comparison_use_the_same_names() {
        let symbol = "_Z11init_kernelIdEvPT_S1_";
        let mut kinds = Kinds::default();
        let kind = kinds.intern(&cascade_api::KernelKind {
            name: symbol.into(),
            group: "init_kernel".into(),
        });
        let own = [kernel(symbol, super::NO_ROLE, 1), kernel("gemm", "GEMM", 1)];
        let run = run(&own, &[0, 1], &[("SM90_H100", &[Some(1.0), Some(2.0)])]);
        let lines = Lines::new(&sides(&"t".into(), &run));
        assert_eq!(lines.groups, ["init_kernel", "GEMM"]);
        assert_eq!(kinds.group_of(kind).unwrap().name, lines.groups[0]);
    }
}
