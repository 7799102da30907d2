//! libFuzzer over the target that `DORMOUSE_FUZZ_TARGET` names. Started by `cargo xtask fuzz`.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static RUN: OnceLock<fn(&[u8])> = OnceLock::new();

fn target() -> fn(&[u8]) {
    let name = std::env::var("DORMOUSE_FUZZ_TARGET").unwrap_or_default();
    let found = dormouse_fuzz::TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("DORMOUSE_FUZZ_TARGET={name:?} is no target; start it by `cargo xtask fuzz`")).run
}

fuzz_target!(|data: &[u8]| {
    RUN.get_or_init(target)(data);
});
