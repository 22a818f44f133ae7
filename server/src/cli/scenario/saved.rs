//! `cascade scenario save|list|show|compare|delete`: scenarios that the app keeps.

use cascade_api::{SavedScenario, ScenarioSave};
use cascade_client::Client;

use super::ask::Args;
use super::base::{Base, checked};
use super::compare::Comparison;
use super::show::{ms, plain};
use crate::cli::fail::Fail;
use crate::cli::numbers::grouped;
use crate::cli::out::Out;
use crate::cli::remote::Remote;
use crate::cli::table::Table;
use crate::cli::{Result, block_on};

/// What ids of saved scenarios begin with; anything else is a name.
const ID_PREFIX: &str = "scn-";

/// Saved scenarios by id or by name.
#[derive(Debug, clap::Args)]
pub(crate) struct Chosen {
    /// Saved scenarios, each by its id or its name
    #[arg(required = true, value_name = "ID|NAME")]
    wanted: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

/// Runs a scenario in the app and keeps it.
pub(super) fn save(name: &str, args: &Args, out: &mut Out) -> Result {
    let Base::App(client) = Base::of(args)? else {
        return Err(Fail::usage(
            "saved scenarios rest on a trace of the app: give --trace or --model, not --sample, --timeline or --datasheet",
        ));
    };
    let ask = ScenarioSave {
        name: name.to_owned(),
        scenario: checked(args.body()?)?,
    };
    let saved = block_on(async { Ok(client.save_scenario(&ask).await?) })?;
    if out.is_json() {
        return out.json(&saved);
    }
    show_one(&saved, out)
}

/// Every saved scenario.
pub(super) fn list(remote: &Remote, out: &mut Out) -> Result {
    let client = remote.client()?;
    let all = block_on(async { Ok(client.saved_scenarios().await?) })?;
    if out.is_json() {
        return out.json(&all);
    }
    let mut table = Table::default()
        .text("id")
        .text("name")
        .text("trace")
        .text("gpu")
        .number("requests")
        .number("p50 TTFT ms")
        .number("p50 ITL ms")
        .number("p99 E2E ms")
        .number("tokens/s")
        .text("saved");
    for saved in &all {
        let (result, sums) = (&saved.result, &saved.result.aggregate);
        table.row([
            saved.id.clone(),
            saved.name.clone(),
            result.trace_id.to_string(),
            result.gpu_config.to_string(),
            grouped(result.requests),
            ms(sums.p50_ttft_ms),
            ms(sums.p50_itl_ms),
            ms(sums.p99_e2e_ms),
            format!("{:.2}", sums.throughput_output_tokens_s),
            saved.created_at.to_string(),
        ]);
    }
    out.table(&table)
}

/// Saved scenarios, one after the other.
pub(super) fn show(chosen: &Chosen, out: &mut Out) -> Result {
    let found = chosen.find()?;
    if out.is_json() {
        return match found.as_slice() {
            [one] => out.json(one),
            _ => out.json(&found),
        };
    }
    found.iter().try_for_each(|saved| show_one(saved, out))
}

/// Saved scenarios side by side.
pub(super) fn compare(chosen: &Chosen, out: &mut Out) -> Result {
    if chosen.wanted.len() < 2 {
        return Err(Fail::usage("name at least two saved scenarios to compare"));
    }
    let comparison = Comparison::of(&chosen.find()?)?;
    if out.is_json() {
        return out.json(&comparison);
    }
    comparison.show(out)
}

/// Deletes saved scenarios; all are looked up before the first goes.
pub(super) fn delete(chosen: &Chosen, out: &mut Out) -> Result {
    let client = chosen.remote.client()?;
    let found = block_on(async {
        let found = chosen.find_with(&client).await?;
        for saved in &found {
            client.delete_scenario(&saved.id).await?;
        }
        Ok(found)
    })?;
    if out.is_json() {
        let ids: Vec<&str> = found.iter().map(|saved| saved.id.as_str()).collect();
        return out.json(&ids);
    }
    for saved in &found {
        out.line(format_args!("deleted {} ({})", saved.id, saved.name))?;
    }
    Ok(())
}

impl Chosen {
    /// The scenarios in the order in which they were named.
    fn find(&self) -> Result<Vec<SavedScenario>> {
        let client = self.remote.client()?;
        block_on(self.find_with(&client))
    }

    async fn find_with(&self, client: &Client) -> Result<Vec<SavedScenario>> {
        let by_name = self.wanted.iter().any(|wanted| !wanted.starts_with(ID_PREFIX));
        let all = match by_name {
            true => client.saved_scenarios().await?,
            false => Vec::new(),
        };
        let mut found = Vec::new();
        for wanted in &self.wanted {
            found.push(match wanted.starts_with(ID_PREFIX) {
                true => client.saved_scenario(wanted).await?,
                false => named(&all, wanted)?.clone(),
            });
        }
        Ok(found)
    }
}

/// The one scenario with this name.
fn named<'a>(all: &'a [SavedScenario], name: &str) -> Result<&'a SavedScenario> {
    let mut with_name = all.iter().filter(|saved| saved.name == name);
    match (with_name.next(), with_name.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Fail::usage(format_args!(
            "no saved scenario is called {name:?}; `cascade scenario list` shows what is saved"
        ))),
        (Some(_), Some(_)) => {
            let ids: Vec<&str> = all
                .iter()
                .filter(|saved| saved.name == name)
                .map(|saved| saved.id.as_str())
                .collect();
            Err(Fail::usage(format_args!(
                "{} saved scenarios are called {name:?}: give an id, {}",
                ids.len(),
                ids.join(" or ")
            )))
        }
    }
}

fn show_one(saved: &SavedScenario, out: &mut Out) -> Result {
    let result = &saved.result;
    out.line(format_args!(
        "{} · {} · saved {}",
        saved.id, saved.name, saved.created_at
    ))?;
    out.line(format_args!(
        "{} · trace {} · {} · {}",
        result.gpu_config, result.trace_id, result.run_id, result.sim_id
    ))?;
    let mut table = Table::default().text("").number("value");
    for (name, value) in super::compare::inputs(saved)? {
        table.row([name, plain(&value)]);
    }
    for (name, value) in super::compare::metrics(result) {
        table.row([name.to_owned(), super::compare::number(value)]);
    }
    out.table(&table)?;
    out.line("Predictions, not measurements, as they were when it was saved.")
}
