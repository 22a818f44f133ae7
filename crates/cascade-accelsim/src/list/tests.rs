//! Lists of both eras, odd lines and unsafe names.

use proptest::prelude::*;

use super::*;
use crate::trace::Dim3;

fn list(text: &str) -> KernelList {
    KernelList::read(text.as_bytes(), "kernelslist.g").unwrap()
}

#[test]
fn both_eras_are_read_in_order() {
    let list = list(
        "MemcpyHtoD,0x0000000502000000,800000\r\n\nkernel-1.traceg\r\nkernel-2254-ctx_0x1afd03e0.tracez\n\
         MemcpyDtoH,0x0,1\n  kernel-3-ctx_0x1.trace.xz",
    );
    let kernels: Vec<_> = list.kernels().collect();
    assert_eq!(
        kernels,
        [
            "kernel-1.traceg",
            "kernel-2254-ctx_0x1afd03e0.tracez",
            "kernel-3-ctx_0x1.trace.xz"
        ]
    );
    assert_eq!(
        list.commands[0],
        Command::MemcpyHtoD {
            address: 0x5_0200_0000,
            bytes: 800_000
        }
    );
    assert_eq!(
        list.notes,
        [Note {
            line: 5,
            text: "ignored: `MemcpyDtoH,0x0,1` is no command".into()
        }]
    );
}

#[test]
fn an_empty_list_has_nothing() {
    assert_eq!(list("\n \r\n"), KernelList::default());
}

#[test]
fn damaged_copies_are_noted() {
    for line in [
        "MemcpyHtoD,zz,1",
        "MemcpyHtoD,0x1",
        "MemcpyHtoDAsync,0x1,1",
        "MemcpyHtoD,0x1,1,1",
    ] {
        assert_eq!(
            (list(line).commands.len(), list(line).notes.len()),
            (0, 1),
            "{line}"
        );
    }
}

#[test]
fn paths_are_refused() {
    for name in [
        "kernel/../../etc/passwd",
        "kernel-1\\x",
        "kernel..trace",
        "kernel-1.traceg/",
        "kernel-1\u{1b}[0m",
    ] {
        let error = KernelList::read(format!("kernel-1.traceg\n{name}\n").as_bytes(), "l").unwrap_err();
        assert!(error.to_string().starts_with("l:2: "), "{error}");
        assert!(error.to_string().contains("not a plain file name"), "{error}");
    }
}

#[test]
fn ids_and_contexts_come_from_names() {
    assert_eq!(kernel_id("kernel-2254-ctx_0x1afd03e0.trace.xz"), Some(2254));
    assert_eq!(
        (kernel_id("kernel-.trace"), kernel_id("kernelslist.g")),
        (None, None)
    );
    assert_eq!(context("kernel-2254-ctx_0x1afd03e0.trace.xz"), Some("0x1afd03e0"));
    assert_eq!(
        (context("stats_ctx_0x1"), context("stats.csv")),
        (Some("0x1"), None)
    );
}

#[test]
fn stats_rows_are_read_from_the_right() {
    let text = "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, \
        block_dimZ, #threads, total_insts, total_reported_insts\n\
        kernel-1-ctx_0x6.trace.xz, void f<int, 4>(int, float), 98, 2, 1, 196, 1024, 1, 1, 1024, 50066,50065\n\
        kernel-2.trace, _Z1k, 1, 1, 1, 1, 32, 1, 1, 32, \n\
        kernel-3.trace, _Z1k, 1, 1\n";
    let stats = Stats::read(text.as_bytes(), "stats.csv").unwrap();
    let [first, killed] = stats.launches.as_slice() else {
        panic!("{stats:?}")
    };
    assert_eq!(
        (first.name.as_str(), first.kernel_id),
        ("void f<int, 4>(int, float)", Some(1))
    );
    assert_eq!(
        (first.grid, first.block),
        (Dim3::new(98, 2, 1), Dim3::new(1024, 1, 1))
    );
    assert_eq!(
        (first.warp_instrs, first.reported_warp_instrs),
        (Some(50066), Some(50065))
    );
    assert_eq!((killed.kernel_id, killed.warp_instrs), (Some(2), None));
    assert_eq!(stats.notes.len(), 1);
    assert_eq!(stats.notes[0].line, 4);
}

#[test]
fn real_lists_have_their_known_contents() {
    let Some(folder) = crate::trace::tests::data("traces") else {
        return;
    };
    let open = |path: &str| std::io::BufReader::new(std::fs::File::open(folder.join(path)).unwrap());
    for (path, kernels, copies) in [
        ("list-2025-naming/kernelslist_ctx_0x6165bdd7ec90", 1, 3),
        ("vllm-qwen25-h100-list/kernelslist.g", 96, 0),
        ("raw-vecadd-v3/kernelslist", 1, 3),
        ("atax-h100-v6/kernelslist.g", 1, 2),
    ] {
        let list = KernelList::read(open(path), path).unwrap();
        assert_eq!(
            (
                list.kernels().count(),
                list.commands.len() - kernels,
                list.notes.len()
            ),
            (kernels, copies, 0),
            "{path}"
        );
    }
    for (path, instrs) in [
        ("list-2025-naming/stats_ctx_0x6165bdd7ec90", 50_066),
        ("raw-vecadd-v3/stats.csv", 71_974),
        ("vectoradd-gtx1080-v4/stats.csv", 344),
        ("matrixmul-gtx1080-v4/stats.csv", 4416),
    ] {
        let stats = Stats::read(open(path), path).unwrap();
        assert_eq!(
            stats
                .launches
                .iter()
                .map(|l| l.reported_warp_instrs)
                .collect::<Vec<_>>(),
            [Some(instrs)],
            "{path}"
        );
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let lines = bytes.split(|byte| *byte == b'\n').count();
        if let Ok(list) = KernelList::read(bytes.as_slice(), "l") {
            prop_assert!(list.commands.len() + list.notes.len() <= lines);
        }
        let stats = Stats::read(bytes.as_slice(), "s").unwrap();
        prop_assert!(stats.launches.len() + stats.notes.len() <= lines);
    }

    #[test]
    fn plain_names_survive(name in "kernel-[0-9]{1,6}(-ctx_0x[0-9a-f]{1,12})?\\.trace(g|z|g\\.xz|\\.xz)?") {
        let list = KernelList::read(format!(" {name}\r\n").as_bytes(), "l").unwrap();
        prop_assert_eq!(list.kernels().collect::<Vec<_>>(), [name.as_str()]);
    }
}
