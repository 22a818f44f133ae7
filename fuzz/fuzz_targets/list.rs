//! Any bytes are read as a kernel list and as launch statistics; accepted kernel names are plain.

#![no_main]

use cascade_accelsim::list::{KernelList, Stats, context, is_plain_name, kernel_id};
use cascade_accelsim::post::processed_list;
use cascade_accelsim::trace::TraceFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(list) = KernelList::read(bytes, "kernelslist") {
        for name in list.kernels() {
            assert!(is_plain_name(name));
            let _ids = (kernel_id(name), context(name));
        }
        // What is written for the simulator reads back with the same kernels.
        let lists = [("kernelslist".to_owned(), list)];
        let text = processed_list(&lists, TraceFormat::Text);
        let back = KernelList::read(text.as_bytes(), "kernelslist.g").unwrap();
        assert!(back.notes.is_empty());
        assert_eq!(back.kernels().count(), lists[0].1.kernels().count());
    }
    if let Ok(stats) = Stats::read(bytes, "stats.csv") {
        assert!(
            stats
                .launches
                .iter()
                .all(|launch| launch.reported_warp_instrs.is_none() || launch.warp_instrs.is_some())
        );
    }
});
