//! `cascade runs kernels`: a run's kernels on every GPU, beside the real ones where they are known.

use cascade_api::{Comparison, Engine, GpuConfig, GpuName};

use super::Result;
use super::numbers::{shortened, time_ns};
use super::out::Out;
use super::remote::Remote;
use super::table::Table;

/// Widest kernel name in the table.
const NAME_WIDTH: usize = 60;

pub(crate) async fn show(run: &str, remote: &Remote, out: &mut Out) -> Result {
    let client = remote.client()?;
    let comparison = client.comparison(run).await?;
    if out.is_json() {
        return out.json(&comparison);
    }
    if comparison.rows.is_empty() {
        return out.line("No kernel of this run has finished yet.");
    }
    let known = client.gpu_configs().await?;
    out.table(&table(&comparison))?;
    for gpu in &comparison.configs {
        let engines = comparison.engines.get(gpu).map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> = engines.iter().map(|engine| engine.as_str()).collect();
        let kind = match engines {
            [Engine::Replay] => "replayed, not from this trace",
            _ => "simulated",
        };
        out.line(format_args!(
            "{gpu}: {kind} by {}, median of its replicas",
            names.join(" and ")
        ))?;
        if engines.contains(&Engine::Cascade) {
            notes(&known, gpu, out)?;
        }
    }
    Ok(())
}

/// What a reader of a GPU's figures should know: whether they are validated, and on what.
pub(super) fn notes(known: &[GpuConfig], gpu: &GpuName, out: &mut Out) -> Result {
    let of = known.iter().filter(|known| known.name == *gpu);
    for note in of.flat_map(|known| &known.notes) {
        out.line(format_args!("{gpu}: {note}"))?;
    }
    Ok(())
}

fn table(comparison: &Comparison) -> Table {
    let mut table = Table::default().number("#").text("kernel");
    if comparison.has_real_timing {
        table = table.number("real");
    }
    for gpu in &comparison.configs {
        table = table.number(gpu.as_str());
        if comparison.has_real_timing {
            table = table.number("error");
        }
    }
    for row in &comparison.rows {
        let mut cells = vec![
            (row.kernel_index + 1).to_string(),
            shortened(&row.kernel_name, NAME_WIDTH),
        ];
        if comparison.has_real_timing {
            cells.push(time(row.real_ns));
        }
        for gpu in &comparison.configs {
            let simulated = row.sim_ns.get(gpu).copied().flatten();
            cells.push(time(simulated));
            if comparison.has_real_timing {
                cells.push(error(simulated, row.real_ns));
            }
        }
        table.row(cells);
    }
    table.row(totals(comparison));
    table
}

/// The sum over every kernel, for GPUs that finished all of them.
fn totals(comparison: &Comparison) -> Vec<String> {
    let sum = |gpu: &GpuName| -> Option<f64> {
        comparison
            .rows
            .iter()
            .map(|row| row.sim_ns.get(gpu).copied().flatten())
            .sum()
    };
    let real: Option<f64> = comparison.rows.iter().map(|row| row.real_ns).sum();
    let mut cells = vec![String::new(), "all".to_owned()];
    if comparison.has_real_timing {
        cells.push(time(real));
    }
    for gpu in &comparison.configs {
        cells.push(time(sum(gpu)));
        if comparison.has_real_timing {
            cells.push(error(sum(gpu), real));
        }
    }
    cells
}

fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_owned(), time_ns)
}

fn error(simulated: Option<f64>, real: Option<f64>) -> String {
    match (simulated, real) {
        (Some(simulated), Some(real)) if real > 0.0 => format!("{:+.1} %", (simulated - real) / real * 100.0),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use cascade_api::{Comparison, ComparisonRow};

    use super::table;

    #[test]
    fn errors_are_shown_beside_real_times_and_gaps_as_dashes() {
        let row = |index, real, sim| ComparisonRow {
            kernel_index: index,
            kernel_name: format!("k{index}"),
            real_ns: real,
            sim_ns: [("SM90_H100".into(), sim)].into_iter().collect(),
        };
        let comparison = Comparison {
            has_real_timing: true,
            configs: vec!["SM90_H100".into()],
            rows: vec![row(0, Some(2000.0), Some(2500.0)), row(1, Some(1000.0), None)],
            ..Comparison::default()
        };
        let text = table(&comparison).to_string();
        assert!(text.contains("+25.0 %"), "{text}");
        let all = text.lines().last().unwrap_or_default();
        assert!(
            all.contains("3.000 us") && all.matches('-').count() == 2,
            "an unfinished GPU has no total: {all}"
        );
    }
}
