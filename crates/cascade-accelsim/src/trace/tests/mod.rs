//! Tests of the trace readers.

mod goldens;
mod irregular;
