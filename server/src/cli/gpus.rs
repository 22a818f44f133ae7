//! `cascade gpus`: the GPUs of Cascade's engine, and where each of their values comes from.

use std::path::PathBuf;

use cascade_worker::simulate::{Gpu, GpuDirs, find_gpu, known_gpus, shadowed};
use serde_json::{Map, Value, json};

use super::Result;
use super::fail::Fail;
use super::numbers::bytes;
use super::out::{Out, note};
use super::table::Table;

/// Where GPUs are, besides those that Cascade ships.
#[derive(Debug, clap::Args)]
pub(crate) struct DirArgs {
    /// A checkout of Accel-Sim, for its configs
    #[arg(long, env = "CASCADE_ACCELSIM_DIR", value_name = "DIR")]
    accelsim_dir: Option<PathBuf>,
    /// Your own GPU files, <NAME>.toml each; `base = "SM90_H100"` and the values that differ are enough
    #[arg(long, env = "CASCADE_GPUS_DIR", value_name = "DIR")]
    gpus_dir: Option<PathBuf>,
}

impl DirArgs {
    /// The folders; an empty variable counts as none.
    pub(crate) fn dirs(self) -> GpuDirs {
        let given = |dir: Option<PathBuf>| dir.filter(|dir| !dir.as_os_str().is_empty());
        GpuDirs {
            accelsim: given(self.accelsim_dir),
            own: given(self.gpus_dir),
        }
    }

    /// The same for a person, who is told of folders that are not there and of files that nothing reads.
    pub(crate) fn told(self) -> GpuDirs {
        let dirs = self.dirs();
        for dir in [&dirs.accelsim, &dirs.own].into_iter().flatten() {
            if !dir.is_dir() {
                note(format_args!(
                    "{}: no such folder, so no GPU is read from it",
                    dir.display()
                ));
            }
        }
        for file in dirs.own.as_deref().map(shadowed).unwrap_or_default() {
            note(format_args!(
                "{}: left out, Cascade ships a GPU of this name: choose another",
                file.display()
            ));
        }
        dirs
    }
}

/// All GPUs, or one with every value and its source.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// One GPU, such as SM90_H100
    name: Option<String>,
    #[command(flatten)]
    dirs: DirArgs,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let dirs = args.dirs.told();
    let find = |name: &str| find_gpu(name, &dirs).map_err(Fail::usage);
    if let Some(name) = &args.name {
        return one(&find(name)?, out);
    }
    let mut table = Table::default()
        .text("name")
        .text("arch")
        .number("SMs")
        .number("clock");
    table = table.number("DRAM").number("L2").text("validated").text("from");
    let mut values = Vec::new();
    for name in known_gpus(&dirs).map_err(Fail::usage)?.into_keys() {
        match find(name.as_str()) {
            Ok(gpu) => {
                let chip = &gpu.model.chip;
                table.row([
                    name.to_string(),
                    format!("sm_{}", gpu.model.sm),
                    chip.sms.count().to_string(),
                    format!("{} MHz", chip.core_clock.value),
                    format!("{} GB/s", chip.dram_bandwidth.value),
                    bytes(chip.l2_size.count()),
                    gpu.model.status.as_str().to_owned(),
                    origin(&gpu),
                ]);
                values.push(value(&gpu));
            }
            // One config of a checkout that cannot be used does not hide the others.
            Err(fail) => note(format_args!(
                "{name}: {}",
                fail.message().unwrap_or("cannot be used")
            )),
        }
    }
    if out.is_json() {
        out.json(&values)
    } else {
        out.table(&table)
    }
}

fn one(gpu: &Gpu, out: &mut Out) -> Result {
    if out.is_json() {
        return out.json(&value(gpu));
    }
    let model = &gpu.model;
    out.line(format_args!(
        "{} · {} · sm_{} · {}",
        model.name,
        model.title,
        model.sm,
        model.status.as_str()
    ))?;
    out.line(&model.status_note)?;
    out.line(format_args!(
        "From {}; facts hash {}",
        origin(gpu),
        model.facts_hash()
    ))?;
    out.line("")?;
    let mut table = Table::default()
        .text("fact")
        .number("value")
        .text("unit")
        .text("source");
    model.each_fact(&mut |key, fact, _| {
        table.row([
            key,
            fact.value.to_string(),
            fact.unit.clone(),
            fact.source.clone(),
        ]);
    });
    out.table(&table)?;
    for other in &gpu.disagreements {
        out.line(format_args!(
            "note: the Accel-Sim config of this name says {} = {} {}",
            other.key, other.config, other.unit
        ))?;
    }
    Ok(())
}

fn origin(gpu: &Gpu) -> String {
    gpu.config
        .as_ref()
        .map_or_else(|| "cascade".to_owned(), |path| path.display().to_string())
}

fn value(gpu: &Gpu) -> Value {
    let mut facts = Map::new();
    gpu.model.each_fact(&mut |key, fact, _| {
        facts.insert(
            key,
            json!({ "value": fact.value, "unit": fact.unit, "source": fact.source }),
        );
    });
    json!({
        "name": gpu.model.name,
        "title": gpu.model.title,
        "arch": format!("sm_{}", gpu.model.sm),
        "status": gpu.model.status.as_str(),
        "status_note": gpu.model.status_note,
        "origin": origin(gpu),
        "facts_hash": gpu.model.facts_hash(),
        "facts": facts,
        "disagreements": gpu.disagreements.iter().map(|other| json!({
            "key": other.key, "facts": other.facts, "config": other.config, "unit": other.unit,
        })).collect::<Vec<_>>(),
    })
}
