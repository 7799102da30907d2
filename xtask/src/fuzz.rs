//! `cargo xtask fuzz [TARGET] --seconds N`: looks for inputs that break a law of dormouse-fuzz.
//!
//! The engine is libFuzzer, built with the toolchain as it is: the compiler's coverage pass is switched
//! on by flags, in a target folder of its own. Its bytes come from `fuzz/corpus`, `fuzz/regressions` and
//! the seeds that dormouse-fuzz makes; what it learns stays in `target/fuzz/corpus/<target>`.
#![allow(clippy::print_stdout, reason = "the report is the command's output")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use dormouse_fuzz::{TARGETS, Target, seeds};

use crate::root;

/// What the coverage pass is told: counters on every edge, which libFuzzer reads.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

/// Options of `cargo xtask fuzz`.
#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// The target; all of them one after the other when none is named.
    target: Option<String>,
    /// How long each target is run.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Names the targets and stops.
    #[arg(long)]
    list: bool,
    /// Runs the target once on this file, as a finding is looked at, without the engine.
    #[arg(long, value_name = "FILE", requires = "target")]
    replay: Option<PathBuf>,
}

/// Failure when a law is broken; the input is kept and named.
pub(crate) fn run(args: &FuzzArgs) -> Result<ExitCode> {
    if args.list {
        for target in TARGETS {
            anstream::println!("{:<18} {}", target.name, target.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen: Vec<&Target> = match &args.target {
        Some(name) => vec![find(name)?],
        None => TARGETS.iter().collect(),
    };
    if let (Some(file), [target]) = (&args.replay, chosen.as_slice()) {
        let data = fs::read(file).with_context(|| file.display().to_string())?;
        (target.run)(&data);
        anstream::println!("{}: no law of {} is broken", file.display(), target.name);
        return Ok(ExitCode::SUCCESS);
    }
    let engine = build()?;
    let mut broken = Vec::new();
    for target in chosen {
        if !hunt(&engine, target, args.seconds)? {
            broken.push(target.name);
        }
    }
    if broken.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("laws are broken: {}", broken.join(", "));
    Ok(ExitCode::FAILURE)
}

fn find(name: &str) -> Result<&'static Target> {
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        bail!("no target {name:?}; there are {}", names.join(", "));
    };
    Ok(target)
}

fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    root().join(target).join("fuzz")
}

/// Builds the engine: its path.
fn build() -> Result<PathBuf> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        bail!(
            "libFuzzer is C++, and {} can't be started: install a C++ compiler (g++ or clang++), or name one in CXX",
            compiler.to_string_lossy()
        );
    }
    let host = host()?;
    let status = Command::new(cargo())
        .args(["build", "--quiet", "--release", "--locked", "--target", &host])
        // Flags of the environment would replace ours, or be replaced.
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        .env("CARGO_TARGET_DIR", folder())
        .current_dir(root().join("fuzz/engine"))
        .status()
        .context("`cargo build` could not be started")?;
    if !status.success() {
        bail!("the engine in fuzz/engine could not be built ({status})");
    }
    Ok(folder().join(host).join("release/dormouse-fuzz-engine"))
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The machine's own triple. With it named, build scripts are built without instrumentation.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("`rustc -vV` could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// Runs one target: whether every law held.
#[expect(clippy::disallowed_methods, reason = "seeds in the build folder, in no vault")]
fn hunt(engine: &Path, target: &Target, seconds: u64) -> Result<bool> {
    let make = |path: PathBuf| -> Result<PathBuf> {
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    };
    let learned = make(folder().join("corpus").join(target.name))?;
    let planted = make(folder().join("seeds").join(target.name))?;
    let found = make(root().join("fuzz/regressions").join(target.name))?;
    for (name, data) in seeds(target.name) {
        let file = planted.join(name);
        fs::write(&file, data).with_context(|| file.display().to_string())?;
    }
    let before = listing(&found)?;
    anstream::eprintln!("==> {} for {seconds} s", target.name);
    let mut command = Command::new(engine);
    command.arg(format!("-max_total_time={seconds}")).args([
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
    ]);
    command.arg(format!("-artifact_prefix={}{}", found.display(), std::path::MAIN_SEPARATOR));
    command.env("DORMOUSE_FUZZ_TARGET", target.name).arg(&learned).arg(&planted).arg(&found);
    let given = root().join("fuzz/corpus").join(target.name);
    if given.is_dir() {
        command.arg(given);
    }
    let status = command.status().with_context(|| format!("{} could not be started", engine.display()))?;
    if status.success() {
        anstream::println!("{}: no law was broken in {seconds} s", target.name);
        return Ok(true);
    }
    let new: Vec<PathBuf> = listing(&found)?.into_iter().filter(|file| !before.contains(file)).collect();
    if new.is_empty() {
        anstream::println!("{}: broken by an input that was there before; see above ({status})", target.name);
    }
    for file in new {
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        anstream::println!("{}: broken by {shown}", target.name);
        anstream::println!("  again: cargo xtask fuzz {} --replay {shown}", target.name);
    }
    Ok(false)
}

fn listing(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}
