//! What a process has used.

use std::fs;
use std::path::Path;

/// Milliseconds of processor time of this process; 0 where the system has no `/proc`.
pub(crate) fn cpu_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(')').next().unwrap_or("").split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    // Of the fields after the name, user and system time are the 12th and 13th, in hundredths.
    10.0 * (fields.get(11).unwrap_or(&0.0) + fields.get(12).unwrap_or(&0.0))
}

/// The most memory that this process has had, in megabytes, pages of mapped files among it.
pub(crate) fn peak_mb() -> f64 {
    status_mb("VmHWM:")
}

/// The memory of this process now, in megabytes, without the pages of mapped files, which the system
/// takes back when it needs them.
pub(crate) fn own_mb() -> f64 {
    status_mb("RssAnon:")
}

fn status_mb(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1_024.0
}

/// The bytes of all files below a folder.
pub(crate) fn bytes_below(folder: &Path, but: &str) -> f64 {
    let mut sum = 0.0;
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let Ok(meta) = entry.metadata() else {
            continue;
        };
        if meta.is_dir() {
            if entry.file_name() != but {
                sum += bytes_below(&entry.path(), but);
            }
        } else {
            sum += meta.len() as f64;
        }
    }
    sum
}

/// The value below which a share of the values lies.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((share * last).round() as usize).copied().unwrap_or(0.0)
}
