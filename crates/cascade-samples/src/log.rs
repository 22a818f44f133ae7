//! A log in Accel-Sim's format that holds the published cycles, for replays.

use std::fmt::Write as _;

use crate::PROVENANCE;
use crate::build::{Config, Profile, Simulated};

/// The log of one config: a block for each simulated kernel, in the order of their uids.
///
/// It has what was published, the cycles; a real log has a few hundred statistics more.
pub(crate) fn log(profile: &Profile, config: &Config, simulated: &[Simulated]) -> String {
    let facts = &profile.facts;
    let mut text = format!(
        "This log is {PROVENANCE}; no simulator printed it.\n\
         It holds the cycles of the {} kernels of facebook/opt-125m, traced on {}, that Accel-Sim simulated as {}.\n\
         Cycles are those of the published kernel groups; times at {} MHz.\n",
        simulated.len(),
        facts.gpu_name,
        config.name,
        config.mhz
    );
    let mut total = 0;
    for kernel in simulated {
        let (uid, name) = (kernel.uid, kernel.code.name);
        let cycles = kernel.code.cycles[config.column];
        total += cycles;
        // Writing to a `String` does not fail.
        let written = write!(
            text,
            "launching kernel name: {name} uid: {uid}\n\
             kernel_name = {name} \n\
             kernel_launch_uid = {uid} \n\
             gpu_sim_cycle = {cycles}\n\
             gpu_tot_sim_cycle = {total}\n\
             reconstructed_from_published_statistics = 1\n"
        );
        debug_assert!(written.is_ok());
    }
    text += "GPGPU-Sim: *** exit detected ***\n";
    text
}
