//! The command from outside: what it prints, what it exits with, what it leaves in the vault.

mod contract;
mod cycle;
mod kills;
mod odd_vaults;
mod program;
