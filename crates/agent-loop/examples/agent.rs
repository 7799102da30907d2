//! An agent with memory, offline: a scripted model, a temporary vault, the whole cycle.
//!
//! `cargo run -p dormouse-agent-loop --example agent`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use dormouse_agent_loop::{
    CycleConfig, DRAIN_LIMIT, Hooks, LoopAgent, LoopConfig, MemoryCycle, MemoryTools, RecallBefore, RememberAfter,
    RunContext, memory_tools,
};
use dormouse_dream::ExtractiveAbstractor;
use dormouse_model::{Message, Reply, ScriptedModel};
use dormouse_recall::{Recall, RecallConfig};
use dormouse_vault::{Clock, FixedClock, Vault};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::new("2026-11-30T09:00:00+01:00".parse()?));
    let vault = Arc::new(Vault::open(dir.path())?);
    let recall = Arc::new(Recall::open(vault, RecallConfig::default())?.with_clock(Arc::clone(&clock)));
    let cycle = Arc::new(MemoryCycle::new(
        Arc::clone(&recall),
        Arc::new(ExtractiveAbstractor),
        Arc::clone(&clock),
        CycleConfig::default(),
    ));

    let model = Arc::new(ScriptedModel::new(vec![
        Reply::text("Understood: reports are short, with numbers, and reach you before four on Friday."),
        Reply::text("Before four on Friday, short and with numbers."),
    ]));
    let hooks = || Hooks {
        contributors: vec![Arc::new(RecallBefore(Arc::clone(&cycle)))],
        after_loop: vec![Arc::new(RememberAfter(Arc::clone(&cycle)))],
        ..Hooks::default()
    };
    let tools = memory_tools(&MemoryTools::new(recall, clock))?;
    for (session, words) in [
        ("monday", "From now on, always send me the weekly report before four on Friday. Keep it short, with numbers."),
        ("tuesday", "When do I want the weekly report?"),
    ] {
        let agent =
            LoopAgent::new("assistant", model.clone(), tools.clone(), LoopConfig::default()).with_hooks(hooks());
        let outcome = agent.run(vec![Message::user(words)], &RunContext::new(session)).await;
        println!("{session}\n  user:  {words}\n  agent: {}", outcome.text);
        agent.jobs().drain(DRAIN_LIMIT).await;
    }
    let recalled =
        model.requests().last().and_then(|r| r.messages.first().map(|m| m.content.clone())).unwrap_or_default();
    println!("\nWhat the vault told the model on tuesday:\n{recalled}");
    println!("\nNotes:");
    for note in cycle.vault().snapshot().notes() {
        println!("  {}", note.path);
    }
    Ok(())
}
