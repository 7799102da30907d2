//! Running the calls of one reply: side by side where they are independent, results by id.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, future::BoxFuture};

use super::calls::PlannedCall;
use super::config::LoopConfig;
use crate::agent::RunContext;
use crate::hooks::{Hooks, LoopEvent, Verdict};
use crate::tools::{Access, Tool, ToolOutput, ToolSet, dependencies};

const UNKNOWN_EFFECT: &str = "cancelled while it was running; whether it had an effect is unknown";
const NOT_STARTED: &str = "cancelled before it started; it had no effect";

/// What running calls needs.
pub(crate) struct Executor<'a> {
    pub(crate) tools: &'a ToolSet,
    pub(crate) hooks: &'a Hooks,
    pub(crate) config: &'a LoopConfig,
    pub(crate) cx: &'a RunContext,
}

enum Job {
    Run(Arc<dyn Tool>, PlannedCall),
    Settled,
}

impl Executor<'_> {
    /// Runs the calls and returns a result for each, by id. Never fails: whatever goes wrong is a
    /// result.
    pub(crate) async fn run(&self, calls: Vec<PlannedCall>) -> Vec<(String, ToolOutput)> {
        let mut results: Vec<(String, ToolOutput)> = Vec::new();
        let mut jobs: Vec<(String, Job)> = Vec::new();
        for call in calls {
            let id = call.id.clone();
            match self.gated(call).await {
                Ok((tool, call)) => jobs.push((id, Job::Run(tool, call))),
                Err((call, output)) => {
                    self.emit(&LoopEvent::ToolFinished { call: &call, output: &output });
                    results.push((id.clone(), output));
                    jobs.push((id, Job::Settled));
                }
            }
        }
        let access: Vec<Access> = jobs
            .iter()
            .map(|(_, job)| match job {
                Job::Run(tool, call) => tool.access(&call.arguments),
                Job::Settled => Access::Pure,
            })
            .collect();
        self.scheduled(jobs, dependencies(&access), &mut results).await;
        results
    }

    async fn scheduled(
        &self,
        jobs: Vec<(String, Job)>,
        deps: Vec<Vec<usize>>,
        results: &mut Vec<(String, ToolOutput)>,
    ) {
        let mut done: BTreeSet<usize> =
            jobs.iter().enumerate().filter(|(_, (_, j))| matches!(j, Job::Settled)).map(|(at, _)| at).collect();
        let mut started = done.clone();
        let mut running: FuturesUnordered<BoxFuture<'_, (usize, ToolOutput)>> = FuturesUnordered::new();
        loop {
            for (at, (_, job)) in jobs.iter().enumerate() {
                let ready = deps.get(at).is_none_or(|d| d.iter().all(|dep| done.contains(dep)));
                if running.len() >= self.config.max_parallel.max(1) || self.cx.cancel.is_cancelled() {
                    break;
                }
                if let (Job::Run(tool, call), true, false) = (job, ready, started.contains(&at)) {
                    started.insert(at);
                    running.push(async move { (at, self.called(tool, call).await) }.boxed());
                }
            }
            if running.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                finished = running.next() => {
                    if let Some((at, output)) = finished {
                        done.insert(at);
                        if let Some((id, _)) = jobs.get(at) {
                            results.push((id.clone(), output));
                        }
                    }
                }
                () = self.cx.cancel.cancelled() => break,
            }
        }
        for (at, (id, _)) in jobs.iter().enumerate().filter(|(at, _)| !done.contains(at)) {
            let text = if started.contains(&at) { UNKNOWN_EFFECT } else { NOT_STARTED };
            results.push((id.clone(), ToolOutput::error(text)));
        }
    }

    /// Asks the gates, in order; each sees what the one before made of the arguments.
    async fn gated(&self, mut call: PlannedCall) -> Result<(Arc<dyn Tool>, PlannedCall), (PlannedCall, ToolOutput)> {
        let Some(tool) = self.tools.get(&call.name).cloned() else {
            let output = ToolOutput::error(format!("no such tool: {}", call.name));
            return Err((call, output));
        };
        for gate in &self.hooks.gates {
            let asked = AssertUnwindSafe(gate.before_tool(&call, self.cx)).catch_unwind();
            let denied = match tokio::time::timeout(self.config.hook_timeout, asked).await {
                Ok(Ok(Ok(Verdict::Allow))) => continue,
                Ok(Ok(Ok(Verdict::Replace { arguments }))) => {
                    call.arguments = arguments;
                    continue;
                }
                Ok(Ok(Ok(Verdict::Deny { reason }))) => format!("denied: {reason}"),
                Ok(Ok(Err(error))) => format!("denied: the gate failed: {error}"),
                Ok(Err(_)) => "denied: the gate failed".to_owned(),
                Err(_) => "denied: the gate failed: it did not answer in time".to_owned(),
            };
            return Err((call, ToolOutput::error(denied)));
        }
        Ok((tool, call))
    }

    async fn called(&self, tool: &Arc<dyn Tool>, call: &PlannedCall) -> ToolOutput {
        self.emit(&LoopEvent::ToolStarted { call });
        let work = AssertUnwindSafe(tool.call(call.arguments.clone(), self.cx)).catch_unwind();
        let mut output = match tokio::time::timeout(self.config.tool_timeout, work).await {
            Ok(Ok(output)) => output,
            Ok(Err(_)) => ToolOutput::error("the tool crashed; whether it had an effect is unknown"),
            Err(_) => ToolOutput::error(format!(
                "the tool did not finish within {} s; whether it had an effect is unknown",
                self.config.tool_timeout.as_secs()
            )),
        };
        self.emit(&LoopEvent::ToolFinished { call, output: &output });
        for filter in &self.hooks.filters {
            let filtered = AssertUnwindSafe(filter.after_tool(call, output, self.cx)).catch_unwind();
            output = match tokio::time::timeout(self.config.hook_timeout, filtered).await {
                Ok(Ok(output)) => output,
                _ => ToolOutput::error("the result was withheld: a filter failed"),
            };
        }
        output
    }

    /// Tells the observers. What one of them breaks stays with it.
    pub(crate) fn emit(&self, event: &LoopEvent<'_>) {
        for observer in &self.hooks.observers {
            if std::panic::catch_unwind(AssertUnwindSafe(|| observer.on(event))).is_err() {
                tracing::warn!("an observer panicked; the run goes on");
            }
        }
    }
}
