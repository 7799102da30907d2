//! Times opening, refreshing and reading on a generated vault.
//!
//! `cargo run --release -p dormouse-vault --example measure_open -- 10000`
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use dormouse_vault::{NotePath, Vault};

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(10_000), |count| count.parse())?;
    let folder = dormouse_fixtures::temp_vault("");
    for i in 0..count {
        folder.write(&name(i), text(i, count));
    }
    let vault = timed("cold open", || Vault::open(folder.path()))?;
    let snapshot = vault.snapshot();
    println!("{} notes, {} links", snapshot.notes().count(), snapshot.graph().edge_count());

    // Until a file is three seconds old its time proves nothing, and it is read again.
    timed("refresh, all files fresh", || vault.refresh())?;
    std::thread::sleep(std::time::Duration::from_secs(4));
    timed("refresh, to settle", || vault.refresh())?;
    timed("refresh, nothing new", || vault.refresh())?;
    folder.write(&name(7), "Other words and [[note-000009]].\n");
    timed("refresh, one edit", || vault.refresh())?;
    folder.write("new.md", "[[note-000001]]\n");
    timed("refresh, one new file", || vault.refresh())?;
    folder.remove(&name(3));
    timed("refresh, one file gone", || vault.refresh())?;
    let path = NotePath::new(&name(9))?;
    timed("read", || vault.read(&path))?;
    timed("fingerprint", || Ok::<_, std::fmt::Error>(vault.snapshot().fingerprint()))?;
    timed("all problems", || Ok::<_, std::fmt::Error>(vault.snapshot().problems()))?;
    drop(vault);
    timed("open again", || Vault::open(folder.path()))?;
    Ok(())
}

fn timed<T, E>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let done = work();
    println!("{what:26} {:9.2} ms", start.elapsed().as_secs_f64() * 1e3);
    done
}

fn name(i: usize) -> String {
    format!("folder-{:02}/note-{i:06}.md", i % 50)
}

/// About 1.5 kB: properties, a heading, eight links, plain words.
fn text(i: usize, count: usize) -> String {
    let mut text = format!("---\nname: Note {i}\ntags: [t{}]\n---\n# Note {i}\n\n", i % 40);
    for step in 1..=8 {
        let target = (i * 31 + step * step * 977) % count;
        let _ = writeln!(
            text,
            "Some words of an ordinary sentence that says a thing about [[note-{target:06}|another]] and then goes on for a while, so that it is as long as they are.\n"
        );
    }
    text
}
