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
pub mod kernel_name;
pub mod kernels;
pub mod log;
pub mod page;
pub mod request;
pub mod sensitivity;
pub mod sim;
pub mod timeline;
