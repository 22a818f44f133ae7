//! Hypothetical GPUs: a known GPU with some values changed.

use std::collections::BTreeMap;

use super::{GpuFileError, GpuModel, Status};

/// Longest name and title of a derived GPU, in bytes.
pub const MAX_GPU_NAME: usize = 64;
/// The changes that move another fact with them.
const CLOCK: &str = "chip.core_clock";
const L2_LATENCY: &str = "latency.l2";
const DRAM_LATENCY: &str = "latency.dram";

/// What a derived GPU was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Name of the GPU it inherits from.
    pub base: String,
    /// What was changed, by dotted key such as `chip.sms`.
    pub changes: BTreeMap<String, Change>,
}

/// One changed value, in the unit of its key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// What the base has.
    pub from: f64,
    /// What the derived GPU has.
    pub to: f64,
}

impl GpuModel {
    /// This GPU under another name with some values changed, by dotted key (`chip.sms`), each in the unit of its
    /// key. Nothing of it is validated, and every changed fact says that it is hypothetical.
    ///
    /// Latencies are counted in core cycles, but DRAM does not run at the core's clock, and it lies behind L2: when
    /// `chip.core_clock` or `latency.l2` changes and `latency.dram` is not among the changes, the part of it that lies
    /// beyond L2 keeps its nanoseconds.
    ///
    /// # Errors
    /// The name does not fit (it starts as the base's does, `SM90_`), this GPU is itself derived, a key does not
    /// exist, or a value is out of range; names the key.
    pub fn derive(
        &self,
        name: &str,
        title: Option<&str>,
        changes: &BTreeMap<String, f64>,
    ) -> Result<Self, GpuFileError> {
        let fail = |key: &str, problem: String| GpuFileError::Value {
            file: name.to_owned(),
            key: key.to_owned(),
            problem,
        };
        if let Some(derived) = &self.derived {
            let problem = format!(
                "{} is itself derived: use {} and repeat its changes",
                self.name, derived.base
            );
            return Err(fail("base", problem));
        }
        let mut model = self.clone();
        let mut made = BTreeMap::new();
        for (key, &to) in changes {
            let fact = model.fact_mut(key).ok_or_else(|| {
                let problem = format!(
                    "is not a value of {}; `cascade gpus {}` lists them",
                    self.name, self.name
                );
                fail(key, problem)
            })?;
            let from = fact.value;
            fact.value = to;
            fact.source = format!("hypothetical: {} has {from}", self.name);
            made.insert(key.clone(), Change { from, to });
        }
        let moved = made.contains_key(CLOCK) || made.contains_key(L2_LATENCY);
        if moved && !made.contains_key(DRAM_LATENCY) {
            let faster = model.chip.core_clock.value / self.chip.core_clock.value;
            let beyond = self.latency.dram.value - self.latency.l2.value;
            model.latency.dram.value = model.latency.l2.value + beyond * faster;
            model.latency.dram.source = format!(
                "hypothetical: {} at {} MHz; beyond L2 the same nanoseconds as {}",
                self.latency.dram.source, self.chip.core_clock.value, self.name
            );
        }
        let changed: Vec<_> = made
            .iter()
            .map(|(key, change)| match change.to == change.from {
                true => format!("{key} {} as there", change.to),
                false => format!("{key} {} instead of {}", change.to, change.from),
            })
            .collect();
        let what = if changed.is_empty() {
            "nothing changed".to_owned()
        } else {
            changed.join(", ")
        };
        let prefix = self.name.split_inclusive('_').next().unwrap_or_default();
        let named = name.starts_with(prefix) && name.len() > prefix.len() && name.len() <= MAX_GPU_NAME;
        model.title = title.map_or_else(|| format!("{} with {what}", self.name), str::to_owned);
        model.status = Status::Unvalidated;
        model.status_note = format!(
            "A hypothetical GPU: {} with {what}. No such GPU was measured.",
            self.name
        );
        model.derived = Some(Derived {
            base: self.name.clone(),
            changes: made,
        });
        // The values first: a name made from a value that is out of range would only hide that.
        model.validate().map_err(|(key, problem)| fail(&key, problem))?;
        if let Some((key, problem)) = model.contradiction(|key| changes.contains_key(key)) {
            return Err(fail(&key, problem));
        }
        if !named {
            let problem = format!(
                "starts with `{prefix}`, as its base does, goes on, and has at most {MAX_GPU_NAME} characters"
            );
            return Err(fail("name", problem));
        }
        model.name = name.to_owned();
        model.validate().map_err(|(key, problem)| fail(&key, problem))?;
        Ok(model)
    }

    /// A derived GPU as a file that [`super::read`] takes; `None` for one that is not derived.
    pub fn derived_toml(&self) -> Option<String> {
        let derived = self.derived.as_ref()?;
        let mut root = toml::Table::new();
        for (key, text) in [
            ("base", &derived.base),
            ("name", &self.name),
            ("title", &self.title),
        ] {
            root.insert(key.to_owned(), text.clone().into());
        }
        for (key, change) in &derived.changes {
            let mut table = &mut root;
            let mut parts = key.split('.').peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_none() {
                    table.insert(part.to_owned(), change.to.into());
                    break;
                }
                let next = table.entry(part).or_insert_with(|| toml::Table::new().into());
                table = next.as_table_mut()?;
            }
        }
        toml::to_string(&root).ok()
    }
}

/// Reads a GPU file that may inherit: with `base = "SM90_H100"` it gives a name and the values that differ, as
/// plain numbers in the same tables (`[chip]`, `sms = 160`). `base` looks a GPU up by name.
///
/// # Errors
/// As [`GpuModel::from_toml`] and [`GpuModel::derive`]; a base that does not exist.
pub fn read(
    text: &str,
    file: &str,
    base: &dyn Fn(&str) -> Option<GpuModel>,
) -> Result<GpuModel, GpuFileError> {
    let fail = |key: &str, problem: &str| GpuFileError::Value {
        file: file.to_owned(),
        key: key.to_owned(),
        problem: problem.to_owned(),
    };
    super::load::check_length(text, file)?;
    let table: toml::Table = toml::from_str(text).map_err(|error| super::load::syntax(file, &error))?;
    if !table.contains_key("base") {
        return GpuModel::from_toml(text, file).map_err(|error| match error {
            GpuFileError::Syntax { file, message } if has_plain_number(&table) => GpuFileError::Syntax {
                message: format!(
                    "{message}. Plain numbers need a base, such as `base = \"SM90_H100\"` at the top; without one each \
                     value is {{ value, unit, source }}"
                ),
                file,
            },
            other => other,
        });
    }
    let word = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(fail(key, "is not a text")),
    };
    let parent = word("base")?.unwrap_or_default();
    let parent = base(parent).ok_or_else(|| {
        let problem =
            format!("names {parent:?}, which is no GPU that Cascade ships; one of a file cannot be a base");
        fail("base", &problem)
    })?;
    let name = word("name")?.ok_or_else(|| fail("name", "is missing"))?;
    let title = word("title")?;
    let mut changes = BTreeMap::new();
    for (key, value) in &table {
        if !matches!(key.as_str(), "base" | "name" | "title") {
            flatten(key, value, &mut changes).map_err(|key| {
                fail(
                    &key,
                    "is not a number: a file with a base gives numbers in the base's units",
                )
            })?;
        }
    }
    parent.derive(name, title, &changes).map_err(|error| match error {
        GpuFileError::Value { key, problem, .. } => fail(&key, &problem),
        other => other,
    })
}

/// Whether a table of `table` gives a number without unit and source.
fn has_plain_number(table: &toml::Table) -> bool {
    let of_facts = table.values().filter_map(toml::Value::as_table);
    of_facts
        .flat_map(toml::Table::values)
        .any(|value| value.is_integer() || value.is_float())
}

/// Adds the numbers under `value` by dotted key. The error is the key of something else.
fn flatten(key: &str, value: &toml::Value, into: &mut BTreeMap<String, f64>) -> Result<(), String> {
    match value {
        toml::Value::Table(table) => {
            for (name, inner) in table {
                flatten(&format!("{key}.{name}"), inner, into)?;
            }
        }
        toml::Value::Integer(number) => {
            into.insert(key.to_owned(), *number as f64);
        }
        toml::Value::Float(number) => {
            into.insert(key.to_owned(), *number);
        }
        _ => return Err(key.to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
