//! Reading a `gpus/*.toml` file.

use thiserror::Error;

use super::GpuModel;

/// Most bytes that a GPU file may have.
pub const MAX_GPU_FILE_BYTES: usize = 256 * 1024;

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
        Ok(model)
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
