//! Opcodes as they appear in real traces, and what must come out for them.

use proptest::prelude::*;

use super::*;
use crate::gpu::TensorType;

fn class(opcode: &str) -> Class {
    OpInfo::parse(opcode).class
}

#[test]
fn classes_of_opcodes_from_real_traces() {
    for (opcode, expected) in [
        ("IADD3.X", Class::Int),
        ("IMAD.MOV.U32", Class::Imad),
        ("XMAD.PSL.CBCC", Class::Imad),
        ("FFMA", Class::Fp32),
        ("HFMA2.MMA", Class::Half),
        ("DFMA", Class::Fp64),
        ("MUFU.RCP", Class::Sfu),
        ("HMMA.16816.F32", Class::Tensor),
        ("LDG.E.U8", Class::Lsu),
        ("ULDC.64", Class::Constant),
        ("EXIT", Class::Branch),
        ("BAR.SYNC", Class::Barrier),
        ("MEMBAR.CTA", Class::Barrier),
        ("UIADD3", Class::Uniform),
        ("S2R", Class::Misc),
        ("REPLAY_START", Class::Pseudo),
        ("WIBBLE.X", Class::Unknown),
        ("HMMA.WIBBLE", Class::Unknown),
        ("", Class::Unknown),
    ] {
        assert_eq!(class(opcode), expected, "{opcode}");
    }
}

#[test]
fn matrix_shapes_give_multiply_adds() {
    for (opcode, kind, macs) in [
        ("HMMA.16816.F32", TensorType::Fp16F32, 2048.0),
        ("HMMA.16816.F32.BF16", TensorType::Bf16, 2048.0),
        ("HMMA.1688.F32.TF32", TensorType::Tf32, 1024.0),
        ("HMMA.16816.F16", TensorType::Fp16F16, 2048.0),
        ("HMMA.SP.16832.F32", TensorType::Fp16F32, 2048.0),
        ("HMMA.884.F32.F32.STEP0", TensorType::Fp16F32, 256.0),
        ("HMMA.884.F16.F16.STEP1", TensorType::Fp16F16, 512.0),
        ("IMMA.16832.S8.S8", TensorType::Int8, 4096.0),
        ("IMMA.16864.S4.S4", TensorType::Int4, 8192.0),
        ("DMMA.884", TensorType::Fp64, 256.0),
        ("HGMMA.64x256x16.F32", TensorType::Fp16F32, 65536.0),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", TensorType::Fp8, 65536.0),
    ] {
        let tensor = OpInfo::parse(opcode)
            .tensor
            .unwrap_or_else(|| panic!("{opcode} has a shape"));
        assert_eq!((tensor.kind, tensor.macs), (kind, macs), "{opcode}");
    }
}

#[test]
fn matrix_operands_span_the_registers_of_their_fragments() {
    assert_eq!(OpInfo::parse("HMMA.16816.F32").src_regs, [4, 2, 4]);
    assert_eq!(OpInfo::parse("HMMA.16816.F32").dst_regs, 4);
    assert_eq!(OpInfo::parse("HMMA.1688.F16").src_regs, [2, 1, 2]);
    assert_eq!(OpInfo::parse("IMMA.16832.S8.S8").src_regs, [4, 2, 4]);
}

#[test]
fn memory_opcodes_say_width_space_and_cache_policy() {
    let mem = |opcode: &str| OpInfo::parse(opcode).mem.expect(opcode);
    assert_eq!(
        (mem("LDG.E.128").bytes, mem("LDG.E.U8").bytes, mem("LDG.E").bytes),
        (16, 1, 4)
    );
    assert_eq!(
        (mem("LDS.U.128").bytes, mem("STS.64").bytes, mem("LDS.U.32").bytes),
        (16, 8, 4)
    );
    assert_eq!(
        (mem("LDSM.16.M88.4").bytes, mem("LDSM.16.M88.4").matrices),
        (16, 4)
    );
    assert_eq!(OpInfo::parse("LDSM.16.M88.4").dst_regs, 4);
    assert!(mem("LDG.E.STRONG.GPU").bypass_l1 && mem("LDGSTS.E.BYPASS.128").bypass_l1);
    assert!(!mem("LDG.E.CONSTANT").bypass_l1 && !mem("LDG.E.STRONG.CTA").bypass_l1);
    assert_eq!(mem("ATOMS.ADD").space, Space::Shared);
    assert_eq!(mem("LD.E.64").space, Space::Generic);
    assert!(OpInfo::parse("SHFL.IDX").mem.is_none());
}

#[test]
fn wide_results_span_two_registers() {
    assert_eq!(OpInfo::parse("IMAD.WIDE").dst_regs, 2);
    assert_eq!(OpInfo::parse("DFMA").src_regs, [2, 2, 2]);
    assert_eq!(OpInfo::parse("LDC.64").dst_regs, 2);
    assert_eq!(OpInfo::parse("STG.E.128").src_regs, [2, 4, 1]);
    assert!(OpInfo::parse("ISETP.GE.AND").sets_predicate && OpInfo::parse("UISETP.NE").sets_predicate);
}

proptest! {
    #[test]
    fn any_text_has_a_class_and_finite_work(
        base in "[A-Z0-9_]{0,10}|HGMMA|HMMA|LDSM|IMMA", suffixes in prop::collection::vec("[A-Z0-9]{0,7}|[0-9]{1,5}x[0-9]{1,5}x[0-9]{1,5}", 0..5),
    ) {
        let opcode = std::iter::once(base).chain(suffixes).collect::<Vec<_>>().join(".");
        let info = OpInfo::parse(&opcode);
        prop_assert_eq!(info.class == Class::Tensor, info.tensor.is_some());
        prop_assert!(info.tensor.is_none_or(|tensor| tensor.macs > 0.0 && tensor.macs < 1e9));
        prop_assert!(info.dst_regs >= 1 && info.src_regs.iter().all(|regs| *regs >= 1));
    }
}
