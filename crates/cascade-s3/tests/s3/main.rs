//! The endpoint over real sockets, with requests made by hand.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failing helper fails its test"
)]

mod bodies;
mod client;
mod limits;
mod signed;
mod uploads;
