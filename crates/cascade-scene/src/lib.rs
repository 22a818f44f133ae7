//! What the pictures and tables show, worked out without a browser: readable names, numbers as people read
//! them, the real-against-simulated table that grows with the event stream, and chart data.
//!
//! Nothing here does IO, reads a clock or knows a pixel of the screen beyond the sizes it is given. What draws
//! is in `app`.

pub mod chart;
pub mod compare;
pub mod comparison;
pub mod csv;
pub mod engine;
pub mod explorer;
pub mod format;
pub mod group;
pub mod kernel_name;
pub mod kernels;
pub mod log;
pub mod page;
pub mod request;
pub mod sensitivity;
pub mod sim;
pub mod timeline;

/// What stands for a trace's own times on `gpu`: measured ones, or those that a synthetic trace was given.
fn own_times(gpu: &str) -> String {
    match gpu {
        cascade_api::SYNTHETIC_GPU => "Assigned by a rule, not measured".to_owned(),
        gpu => format!("Real {gpu}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_nobody_measured_is_not_called_real() {
        assert_eq!(super::own_times("H100"), "Real H100");
        assert!(!super::own_times("none (synthetic)").contains("Real"));
    }
}
