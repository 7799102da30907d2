//! A measurement.
fn main() {}
