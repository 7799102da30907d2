//! The idle loop under a paused clock: it runs what is due, and stops when it is told to or the
//! foreground wakes.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use dormouse_agent_loop::{CycleConfig, MemoryCycle, run_when_idle};
use dormouse_consolidate::{ConsolidateReport, TaskState};
use dormouse_dream::ExtractiveAbstractor;
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_recall::{Recall, RecallConfig};
use dormouse_vault::{Clock, FixedClock, Vault};
use tokio_util::sync::CancellationToken;

const NOW: &str = "2026-11-30T10:00:00+01:00";
const NOTES: &str = "=== digest/wiki/a.md\n---\nname: A\n---\nText. [[digest/wiki/b|B]]\n=== digest/wiki/b.md\n---\nname: B\n---\nText.\n";

/// A clock that, on any thread but the test's, says that it was asked and waits to be let go.
struct Halting {
    time: FixedClock,
    home: std::thread::ThreadId,
    asked: Mutex<Sender<()>>,
    go: Mutex<Receiver<()>>,
}

impl Clock for Halting {
    fn now(&self) -> DateTime<FixedOffset> {
        if std::thread::current().id() != self.home {
            let _ = self.asked.lock().unwrap().send(());
            // Once the other end is gone it never waits again.
            let _ = self.go.lock().unwrap().recv();
        }
        self.time.now()
    }
}

struct Scene {
    _dir: TempVault,
    cycle: Arc<MemoryCycle>,
    time: FixedClock,
    asked: Receiver<()>,
    go: Sender<()>,
    cancel: CancellationToken,
    reports: Arc<Mutex<Vec<ConsolidateReport>>>,
}

fn scene() -> Scene {
    let dir = temp_vault(NOTES);
    let time = FixedClock::new(NOW.parse().unwrap());
    let ((tell, asked), (go, wait)) = (channel(), channel());
    let clock: Arc<dyn Clock> = Arc::new(Halting {
        time: time.clone(),
        home: std::thread::current().id(),
        asked: Mutex::new(tell),
        go: Mutex::new(wait),
    });
    let vault = Arc::new(Vault::open(dir.path()).unwrap());
    let recall = Arc::new(Recall::open(vault, RecallConfig::default()).unwrap());
    let cycle = Arc::new(MemoryCycle::new(recall, Arc::new(ExtractiveAbstractor), clock, CycleConfig::default()));
    let (cancel, reports) = (CancellationToken::new(), Arc::default());
    Scene { _dir: dir, cycle, time, asked, go, cancel, reports }
}

/// Starts the loop, asking every hour.
fn start(scene: &Scene) -> tokio::task::JoinHandle<()> {
    let (cycle, cancel, reports) = (Arc::clone(&scene.cycle), scene.cancel.clone(), Arc::clone(&scene.reports));
    tokio::spawn(run_when_idle(cycle, Duration::from_secs(3_600), cancel, move |report| {
        reports.lock().unwrap().push(report.clone());
    }))
}

/// Lets the loop get as far as its work asking for the time.
async fn under_way(scene: &Scene) {
    while scene.asked.try_recv().is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_loop_asks_again_and_again_and_ends_at_once_when_cancelled_in_between() {
    let scene = scene();
    let (started, idle) = (tokio::time::Instant::now(), start(&scene));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(scene.reports.lock().unwrap().is_empty(), "the user was here a moment ago");
    scene.time.advance(chrono::Duration::minutes(30));
    let Scene { cancel, reports, go, .. } = scene;
    drop(go);
    while reports.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(started.elapsed().as_secs() / 3_600, 1, "asked again after an hour");
    assert!(reports.lock().unwrap()[0].tasks.iter().all(|t| t.state == TaskState::Done));
    let before = tokio::time::Instant::now();
    cancel.cancel();
    idle.await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(1));
}

/// Wakes the loop's run with `wake` while it is under way, gives it half a second on the paused
/// clock to notice, and returns what its tasks became.
async fn interrupted(wake: impl Fn(&Scene)) -> Vec<TaskState> {
    let scene = scene();
    scene.time.advance(chrono::Duration::minutes(30));
    let idle = start(&scene);
    under_way(&scene).await;
    wake(&scene);
    tokio::time::advance(Duration::from_millis(500)).await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let Scene { go, reports, cancel, .. } = scene;
    drop(go);
    while reports.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    cancel.cancel();
    idle.await.unwrap();
    reports.lock().unwrap()[0].tasks.iter().map(|task| task.state.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_under_way_writes_nothing_more_once_the_foreground_wakes_or_the_loop_is_cancelled() {
    let undisturbed = interrupted(|_| {}).await;
    assert!(!undisturbed.is_empty() && undisturbed.iter().all(|s| *s == TaskState::Done), "{undisturbed:?}");
    let stopped = |states: &[TaskState]| states.iter().all(|s| matches!(s, TaskState::Skipped | TaskState::Cancelled));
    let touched = interrupted(|scene| {
        scene.time.advance(chrono::Duration::seconds(1));
        scene.cycle.touch();
    })
    .await;
    assert!(stopped(&touched), "{touched:?}");
    let cancelled = interrupted(|scene| scene.cancel.cancel()).await;
    assert!(stopped(&cancelled), "{cancelled:?}");
}
