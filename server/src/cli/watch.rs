//! Follows a run's events until it is finished.

use std::collections::BTreeMap;

use cascade_api::{KernelStat, RunDetail, RunEvent, RunState, SimId, SimState};
use cascade_client::Client;

use super::Result;
use super::fail::Fail;
use super::numbers::{counted, grouped, shortened, time_ns};
use super::out::{Out, note};
use super::runs::{ended, print, print_notes};

/// Prints what happens. As JSON, one event a line.
pub(crate) async fn follow(client: &Client, run: &str, out: &mut Out) -> Result {
    let mut events = client.events(run);
    let mut seen = Seen::default();
    while let Some(event) = events.next().await {
        let event = event?;
        if out.is_json() {
            out.json_line(&event)?;
        }
        let quiet = out.is_json();
        match event {
            RunEvent::Snapshot { run, kernels } => {
                for stat in &kernels {
                    seen.kernels.insert((stat.sim_id.clone(), stat.kernel_index));
                }
                for sim in &run.sims {
                    seen.states.insert(sim.id.clone(), sim.state);
                }
                if !quiet && seen.run.is_none() {
                    print(&run, out)?;
                }
                seen.run = Some(*run);
            }
            RunEvent::Sim { sim } => {
                if seen.states.insert(sim.id.clone(), sim.state) != Some(sim.state) && !quiet {
                    let why = sim
                        .error
                        .as_deref()
                        .map(|error| format!(": {error}"))
                        .unwrap_or_default();
                    out.line(format_args!(
                        "{} {} is {}{why}",
                        sim.gpu_config, sim.id, sim.state
                    ))?;
                }
                if let Some(run) = &mut seen.run {
                    run.apply(*sim);
                }
            }
            RunEvent::Kernel { stat } => {
                if seen.kernels.insert((stat.sim_id.clone(), stat.kernel_index)) && !quiet {
                    out.line(kernel(&stat))?;
                }
            }
            RunEvent::Lagged { missed } => note(format_args!(
                "missed {}; reading the run anew",
                counted(missed, "event")
            )),
            RunEvent::Log { .. } => {}
        }
        out.finish()?;
        if let Some(run) = seen
            .run
            .as_ref()
            .filter(|run| run.summary.state != RunState::Active)
        {
            if !quiet {
                print(run, out)?;
                print_notes(client, run, out).await?;
            }
            return ended(run);
        }
    }
    Err(Fail::failed("the event stream ended"))
}

/// What was printed already: a new connection repeats it.
#[derive(Default)]
struct Seen {
    run: Option<RunDetail>,
    states: BTreeMap<SimId, SimState>,
    kernels: std::collections::BTreeSet<(SimId, u64)>,
}

fn kernel(stat: &KernelStat) -> String {
    format!(
        "{} kernel {} {}: {} cycles, {}",
        stat.sim_id,
        stat.kernel_index + 1,
        shortened(&stat.kernel_name, 60),
        stat.gpu_sim_cycle.map_or_else(|| "-".to_owned(), grouped),
        stat.sim_time_ns.map_or_else(|| "-".to_owned(), time_ns),
    )
}
