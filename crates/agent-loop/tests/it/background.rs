//! Background jobs under a paused clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dormouse_agent_loop::{BackgroundJobs, Submitted};

fn job(log: &Arc<Mutex<Vec<&'static str>>>, name: &'static str, ms: u64) -> impl Future<Output = ()> + Send + 'static {
    let log = Arc::clone(log);
    async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        log.lock().unwrap().push(name);
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_arrive_while_one_runs_become_one_more_run_with_the_newest() {
    let (jobs, log) = (BackgroundJobs::new(), Arc::default());
    assert_eq!(jobs.submit("s", job(&log, "A", 100)), Submitted::Started);
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(jobs.submit("s", job(&log, "B", 100)), Submitted::Coalesced);
    assert_eq!(jobs.submit("s", job(&log, "C", 100)), Submitted::Coalesced);
    assert_eq!(jobs.drain(Duration::from_secs(60)).await, [] as [String; 0]);
    assert_eq!(*log.lock().unwrap(), ["A", "C"]);
    assert_eq!(jobs.submit("s", job(&log, "D", 1)), Submitted::Refused);
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_after_its_limit_and_says_what_was_lost() {
    let (jobs, log) = (BackgroundJobs::new(), Arc::default());
    jobs.submit("stuck", job(&log, "never", 3_600_000));
    jobs.submit("panics", async { panic!("a job that breaks") });
    let before = tokio::time::Instant::now();
    assert_eq!(jobs.drain(Duration::from_secs(60)).await, ["stuck"]);
    assert_eq!(before.elapsed().as_secs(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_never_yields_does_not_hold_an_exit() {
    let (jobs, log) = (BackgroundJobs::new(), Arc::default());
    let (release, held) = std::sync::mpsc::channel::<()>();
    jobs.submit("blocks", async move {
        let _ = held.recv();
    });
    jobs.submit("quick", job(&log, "done", 1));
    let before = std::time::Instant::now();
    assert_eq!(jobs.drain(Duration::from_millis(50)).await, ["blocks"]);
    assert!(before.elapsed() < Duration::from_secs(10));
    drop(release);
}
