//! Equal content keys mean equal results: the engine is asked about traces whose buffers lie differently.

use std::fmt::Write as _;
use std::io::Cursor;
use std::sync::LazyLock;

use cascade_accelsim::trace::identity::{MAX_RELOCATABLE_LINES, identify};
use cascade_accelsim::trace::open;
use cascade_engine::l0::MAX_EXACT_LINES;
use cascade_engine::{Engine, GpuModel, KernelEstimate, Level, Options};
use proptest::prelude::*;

use crate::simulate::{GpuDirs, find_gpu};

const _: () = assert!(
    MAX_RELOCATABLE_LINES as usize <= MAX_EXACT_LINES,
    "keys may leave addresses out only where the engine counts lines exactly"
);

static GPU: LazyLock<GpuModel> = LazyLock::new(|| find_gpu("SM80_A100", &GpuDirs::default()).unwrap().model);

/// One memory instruction of every warp.
#[derive(Clone, Debug)]
struct Access {
    opcode: &'static str,
    buffer: usize,
    offset: u64,
    stride: i64,
    step: u64,
    scattered: bool,
}

fn access() -> impl Strategy<Value = Access> {
    (
        prop::sample::select(vec![
            "LDG.E",
            "LDG.E.128",
            "STG.E",
            "RED.E.ADD.STRONG.GPU",
            "ATOMG.E.ADD.STRONG.GPU",
            "LD.E",
            "LDS",
            "LDGSTS.E.128",
        ]),
        0..3_usize,
        0..64_u64,
        prop::sample::select(vec![0_i64, 4, 16, 32, 48, 128, 260]),
        prop::sample::select(vec![0_u64, 4, 128, 512, 1 << 12]),
        any::<bool>(),
    )
        .prop_map(|(opcode, buffer, offset, stride, step, scattered)| Access {
            opcode,
            buffer,
            offset: offset * 4,
            stride,
            step,
            scattered,
        })
}

fn text(accesses: &[Access], bases: [u64; 3]) -> String {
    let mut text = String::from(
        "-kernel name = k\n-kernel id = 1\n-grid dim = (3,1,1)\n-block dim = (64,1,1)\n-shmem = 0\n-nregs = 8\n\
         -binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x00007e0000000000\n-local mem base_addr = \
         0x00007e1000000000\n-nvbit version = 1.5\n-accelsim tracer version = 5\n#traces format = x\n",
    );
    for block in 0..3 {
        write!(text, "\n#BEGIN_TB\n\nthread block = {block},0,0\n").unwrap();
        for warp in 0..2 {
            write!(text, "\nwarp = {warp}\ninsts = {}\n", accesses.len()).unwrap();
            for (i, it) in accesses.iter().enumerate() {
                let first = bases[it.buffer] + it.offset + it.step * (block * 2 + warp);
                write!(text, "{:04x} ffffffff 1 R{} {} 1 R2 4 ", i * 16, i + 4, it.opcode).unwrap();
                if it.scattered {
                    text.push('0');
                    for lane in 0..32 {
                        write!(text, " {:#x}", first + lane * 7 % 32 * it.stride.unsigned_abs()).unwrap();
                    }
                    text.push('\n');
                } else {
                    writeln!(text, "1 {first:#x} {}", it.stride).unwrap();
                }
            }
        }
        text.push_str("\n#END_TB\n");
    }
    text
}

fn key_and_result(text: &str) -> (String, KernelEstimate) {
    let source = || open(Cursor::new(text.as_bytes()), "k.traceg").unwrap();
    let options = Options {
        level: Level::L0,
        ..Options::default()
    };
    let result = Engine::simulate_kernel(&mut *source(), &GPU, &options).unwrap();
    (identify(&mut *source()).unwrap().content.to_string(), result)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn equal_keys_mean_equal_results(
        accesses in prop::collection::vec(access(), 1..6),
        places in prop::array::uniform6(0..80_u64),
        apart in prop::array::uniform3(1..1000_u64),
    ) {
        let near = |at: [u64; 3]| at.map(|place| 0x7f00_0000_0000 + place * 128);
        let [a, b, c, d, e, f] = places;
        let (one, other) = (near([a, b, c]), near([d, e, f]));
        let far = [0, 1, 2].map(|i| (0x7f10_0000_0000 << i) + apart[i] * 256);
        let further = [0, 1, 2].map(|i| (0x7f10_0000_0000 << (2 - i)) + apart[2 - i] * 256);
        let of = |bases| key_and_result(&text(&accesses, bases));
        let results = [one, other, far, further].map(of);
        for (i, (key, result)) in results.iter().enumerate() {
            for (other_key, other) in results.iter().skip(i + 1) {
                if key == other_key {
                    prop_assert_eq!(result, other);
                }
            }
        }
        // Far apart they are equal always, so the comparison above is made.
        prop_assert_eq!(&results[2], &results[3]);
    }
}
