//! Measured kernel times that came with a trace.

use cascade_api::RealKernel;
use serde_json::Value;

/// Why a file holds no real timing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RealTimingError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// JSON, but no list, or an empty one.
    #[error("not a list of rows")]
    NotRows,
    /// A row without what is needed.
    #[error("row {row}: {field} is missing or not {wanted}")]
    Row {
        /// 0-based position.
        row: usize,
        /// The field.
        field: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
}

/// Reads `real_timing.json`: a list of `{kernel_id, kernel_name, duration_ns}`, ordered by `kernel_id`.
///
/// Rows with the same id keep their order in the file. Other fields are ignored.
pub fn parse_real_timing(json: &[u8]) -> Result<Vec<RealKernel>, RealTimingError> {
    let value: Value = serde_json::from_slice(json).map_err(|e| RealTimingError::Json(e.to_string()))?;
    let rows = value
        .as_array()
        .filter(|rows| !rows.is_empty())
        .ok_or(RealTimingError::NotRows)?;
    let mut kernels = rows
        .iter()
        .enumerate()
        .map(|(row, value)| {
            let bad = |field, wanted| RealTimingError::Row { row, field, wanted };
            let kernel_id = value.get("kernel_id").and_then(Value::as_i64);
            let duration_ns = value.get("duration_ns").and_then(Value::as_f64);
            Ok(RealKernel {
                kernel_id: kernel_id.ok_or(bad("kernel_id", "an integer"))?,
                kernel_name: value
                    .get("kernel_name")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                duration_ns: duration_ns
                    .filter(|ns| *ns >= 0.0)
                    .ok_or(bad("duration_ns", "a number of at least 0"))?,
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    kernels.sort_by_key(|kernel| kernel.kernel_id);
    Ok(kernels)
}

#[cfg(test)]
mod tests;
