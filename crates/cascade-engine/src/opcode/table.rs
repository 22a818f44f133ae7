//! The table from an opcode's first part to its class.
//!
//! Names are those that NVIDIA lists per architecture in the CUDA Binary Utilities manual ("Instruction
//! Set Reference", Volta to Hopper, with the older Maxwell and Pascal names that traces still carry).

use super::Class;

/// The class of `base`, the opcode text before its first dot.
pub(super) fn class_of(base: &str) -> Class {
    match base {
        "IADD3" | "IADD" | "IADD32I" | "LOP3" | "LOP" | "LOP32I" | "SHF" | "SHL" | "SHR" | "LEA"
        | "ISETP" | "ISET" | "IMNMX" | "VIMNMX" | "VIMNMX3" | "VIADD" | "VIADDMNMX" | "SEL" | "PRMT"
        | "MOV" | "MOV32I" | "ISCADD" | "ISCADD32I" | "IABS" | "BMSK" | "SGXT" | "PLOP3" | "PSETP"
        | "PSET" | "CSET" | "CSETP" | "P2R" | "R2P" | "LEPC" | "VABSDIFF" | "VABSDIFF4" | "VHMNMX"
        | "ICMP" | "BFE" | "BFI" | "FSETP" | "FSET" | "FMNMX" | "FSEL" | "FCHK" | "FCMP" | "HMNMX2"
        | "VOTE" | "F2FP" | "I2FP" | "I2IP" | "F2IP" | "VMNMX" => Class::Int,
        "IMAD" | "IMUL" | "IMUL32I" | "IMAD32I" | "IMADSP" | "XMAD" | "IDP" | "IDP4A" | "VMAD" | "IDE" => {
            Class::Imad
        }
        "FADD" | "FMUL" | "FFMA" | "FADD32I" | "FMUL32I" | "FFMA32I" | "FSWZADD" | "FSWZ" => Class::Fp32,
        "HADD2" | "HMUL2" | "HFMA2" | "HSETP2" | "HSET2" | "HADD2_32I" | "HMUL2_32I" | "HFMA2_32I" => {
            Class::Half
        }
        "DADD" | "DMUL" | "DFMA" | "DSETP" | "DSET" | "DMNMX" => Class::Fp64,
        "MUFU" | "RRO" | "I2F" | "F2I" | "F2F" | "I2I" | "FRND" | "POPC" | "FLO" | "BREV" | "REDUX"
        | "MATCH" | "CREDUX" => Class::Sfu,
        "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" | "HGMMA" | "IGMMA" | "QGMMA" | "BGMMA" => Class::Tensor,
        "LDG" | "STG" | "LD" | "ST" | "LDL" | "STL" | "LDS" | "STS" | "LDSM" | "STSM" | "MOVM" | "LDGSTS"
        | "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" | "REDS" | "REDAS" | "STAS" | "SHFL" | "LDU"
        | "CCTL" | "CCTLL" | "CCTLT" | "PREFETCH" | "UBLKCP" | "UBLKPF" | "UBLKRED" | "UTMALDG"
        | "UTMASTG" | "UTMAPF" | "UTMAREDG" | "QSPC" => Class::Lsu,
        "LDC" | "ULDC" | "LDCU" => Class::Constant,
        "BRA" | "BRX" | "JMP" | "JMX" | "JCAL" | "CALL" | "CAL" | "RET" | "PRET" | "EXIT" | "BSSY"
        | "BSYNC" | "BREAK" | "BRK" | "PBK" | "SSY" | "SYNC" | "PCNT" | "CONT" | "BRXU" | "JMXU" | "KILL"
        | "RTT" | "BPT" | "WARPSYNC" | "YIELD" | "NANOSLEEP" | "BMOV" | "RPCMOV" | "PEXIT" | "PLONGJMP"
        | "LONGJMP" | "ENDCOLLECTIVE" => Class::Branch,
        "BAR" | "B2R" | "R2B" | "MEMBAR" | "FENCE" | "ERRBAR" | "CGAERRBAR" | "DEPBAR" | "LDGDEPBAR"
        | "ARRIVES" | "SYNCS" | "SYNCSU" | "WARPGROUP" | "WARPGROUPSET" | "UCGABAR_ARV" | "UCGABAR_WAIT"
        | "ACQBULK" | "ACQSHMINIT" | "PREEXIT" | "UTMACMDFLUSH" | "UTMACCTL" | "USETMAXREG" | "USETSHMSZ" => {
            Class::Barrier
        }
        "S2R" | "CS2R" | "S2UR" | "NOP" | "GETLMEMBASE" | "SETLMEMBASE" | "SETCTAID" | "PMTRIG"
        | "ISBERD" | "AL2P" | "OUT" | "LDTRAM" | "IPA" | "CS2UR" | "TTUOPEN" | "TTUGO" | "TTULD"
        | "TTUST" | "TTUCLOSE" | "GETCRSPTR" | "SETCRSPTR" => Class::Misc,
        "TEX" | "TEXS" | "TLD" | "TLDS" | "TLD4" | "TLD4S" | "TMML" | "TXA" | "TXD" | "TXQ" | "TXQS"
        | "SULD" | "SUST" | "SUATOM" | "SURED" | "SUQUERY" => Class::Texture,
        "REPLAY_START" | "REPLAY_END" => Class::Pseudo,
        "R2UR" | "VOTEU" | "ELECT" => Class::Uniform,
        _ if is_uniform(base) => Class::Uniform,
        _ => Class::Unknown,
    }
}

/// The uniform forms are the vector names with a leading `U`.
fn is_uniform(base: &str) -> bool {
    matches!(
        base,
        "UBMSK"
            | "UBREV"
            | "UCLEA"
            | "UF2FP"
            | "UFLO"
            | "UIADD3"
            | "UIMAD"
            | "UIMNMX"
            | "UISETP"
            | "ULEA"
            | "ULEPC"
            | "ULOP"
            | "ULOP3"
            | "ULOP32I"
            | "UMOV"
            | "UP2UR"
            | "UPLOP3"
            | "UPOPC"
            | "UPRMT"
            | "UPSETP"
            | "UR2UP"
            | "USEL"
            | "USGXT"
            | "USHF"
            | "USHL"
            | "USHR"
            | "UGETNEXTWORKID"
    )
}
