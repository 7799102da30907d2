//! Integration tests of the vault, in one binary.

mod snapshot;
mod faults;
mod commit;
mod process;
