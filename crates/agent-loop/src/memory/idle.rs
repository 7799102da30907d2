//! The idle loop: asks now and then whether something is due, and stops within a second.

use std::sync::Arc;
use std::time::Duration;

use dormouse_consolidate::ConsolidateReport;
use tokio_util::sync::CancellationToken;

use super::cycle::MemoryCycle;

/// How long the foreground's waking may go unnoticed.
const WATCH: Duration = Duration::from_millis(200);

/// Runs consolidate when it is due and the user has been quiet, asking every `every`, until `cancel`.
/// A run under way ends within a second of `cancel`, or of the foreground waking
/// ([`MemoryCycle::touch`]). Failures are logged, and asked again the next time. `report` hears of
/// each run.
pub async fn run_when_idle(
    cycle: Arc<MemoryCycle>,
    every: Duration,
    cancel: CancellationToken,
    report: impl Fn(&ConsolidateReport) + Send,
) {
    loop {
        let now = cycle.clock().now();
        let stop = cancel.child_token();
        let work = cycle.consolidate_if_idle(now, &stop);
        let seen = cycle.last_activity();
        let watch = async {
            loop {
                tokio::time::sleep(WATCH).await;
                if cycle.last_activity() != seen {
                    stop.cancel();
                }
            }
        };
        tokio::select! {
            done = work => match done {
                Ok(Some(done)) => report(&done),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "idle work could not run"),
            },
            () = watch => {}
        }
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
    }
}
