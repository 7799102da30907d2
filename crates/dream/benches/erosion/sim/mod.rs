//! A year of events, a model that errs, and what must hold after every day.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a measurement stops when something is broken"
)]

mod answers;
pub(crate) mod checks;
mod claims;
mod faults;
mod model;
mod random;
mod words;
mod world;
mod year;

pub(crate) use year::{Plan, Year, live};
