//! A scenario evaluated on a profile: no server, no files, no clock. The server, the command line and the browser
//! all answer with this.

mod engine;
mod evaluate;
mod load;
mod profile;
mod search;

pub use engine::{check_rules, scheduler};
pub use evaluate::{Ran, Refused, Scenario, evaluate, provenance};
pub use profile::{facts, profile, with_efficiency};
pub use search::{Planned, plan, put, search};
