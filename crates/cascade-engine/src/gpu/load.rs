//! Reading a `gpus/*.toml` file.

use thiserror::Error;

use super::GpuModel;

/// Most bytes that a GPU file may have.
pub const MAX_GPU_FILE_BYTES: usize = 256 * 1024;

/// Keys of which the first must not have more than the second: nothing is nearer to an SM than what is behind it, and
/// shared memory is part of the array that L1 gets the rest of.
const ORDERED: [(&str, &str); 4] = [
    ("latency.l1", "latency.l2"),
    ("latency.l2", "latency.dram"),
    ("sm_core.shared_memory", "sm_core.l1_size"),
    ("sm_core.shared_reserved", "sm_core.shared_memory"),
];

/// Why a GPU file was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GpuFileError {
    /// Not TOML, a key missing or unknown, or a value of the wrong type.
    #[error("{file}: {message}")]
    Syntax {
        /// The file's name as given.
        file: String,
        /// Line and key, from the TOML reader.
        message: String,
    },
    /// A value with the wrong unit, out of range, or without a source.
    #[error("{file}: {key} {problem}")]
    Value {
        /// The file's name as given.
        file: String,
        /// Dotted key such as `chip.sms`.
        key: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// Too long to be a GPU file.
    #[error("{file}: has {bytes} bytes, a GPU file may have {MAX_GPU_FILE_BYTES}")]
    TooLong {
        /// The file's name as given.
        file: String,
        /// Its length.
        bytes: usize,
    },
}

pub(super) fn check_length(text: &str, file: &str) -> Result<(), GpuFileError> {
    if text.len() > MAX_GPU_FILE_BYTES {
        return Err(GpuFileError::TooLong {
            file: file.to_owned(),
            bytes: text.len(),
        });
    }
    Ok(())
}

pub(super) fn syntax(file: &str, error: &toml::de::Error) -> GpuFileError {
    GpuFileError::Syntax {
        file: file.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    }
}

impl GpuModel {
    /// Reads and checks a GPU file; `file_name` appears in errors only.
    ///
    /// # Errors
    /// Names file and key: syntax, unknown or missing keys, wrong units, values out of range, no source.
    pub fn from_toml(text: &str, file_name: &str) -> Result<Self, GpuFileError> {
        let file = file_name.to_owned();
        check_length(text, file_name)?;
        let model: Self = toml::from_str(text).map_err(|error| syntax(file_name, &error))?;
        model
            .validate()
            .map_err(|(key, problem)| GpuFileError::Value { file, key, problem })?;
        match model.contradiction(|_| true) {
            Some((key, problem)) => Err(GpuFileError::Value {
                file: file_name.to_owned(),
                key,
                problem,
            }),
            None => Ok(model),
        }
    }

    /// The first pair of values of which one must not exceed the other and does: a key of the pair that `blame` takes,
    /// the first if it takes none, and what is wrong.
    pub(super) fn contradiction(&self, blame: impl Fn(&str) -> bool) -> Option<(String, String)> {
        let fact = |key: &str| {
            let mut found = None;
            self.each_fact(&mut |other, fact, _| {
                if other == key {
                    found = Some(fact);
                }
            });
            found
        };
        ORDERED.iter().find_map(|(low, high)| {
            let (small, large) = (fact(low)?, fact(high)?);
            if small.value <= large.value {
                return None;
            }
            let (key, value, than, other, bound) = match !blame(low) && blame(high) {
                true => (high, large, "less", low, small),
                false => (low, small, "more", high, large),
            };
            let problem = format!(
                "is {} {}, {than} than {other} ({}): change both",
                value.value, value.unit, bound.value
            );
            Some(((*key).to_owned(), problem))
        })
    }

    /// The first key whose value breaks its rule, with what is wrong.
    pub(super) fn validate(&self) -> Result<(), (String, String)> {
        let mut first = None;
        self.each_fact(&mut |key, fact, rule| {
            if first.is_none() {
                first = rule.check(fact).map(|problem| (key, problem));
            }
        });
        if first.is_none()
            && (self.name.is_empty()
                || self
                    .name
                    .contains(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        {
            first = Some((
                "name".to_owned(),
                "may only have letters, digits and `_`".to_owned(),
            ));
        }
        if first.is_none() && self.tensor.rates.is_empty() && self.sm >= 70 {
            first = Some((
                "tensor.rates".to_owned(),
                "is empty, but this GPU has tensor cores".to_owned(),
            ));
        }
        first.map_or(Ok(()), Err)
    }
}
