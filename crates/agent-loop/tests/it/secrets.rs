//! AGT-11: a key in a note, in a prompt or in what a tool breaks with never reaches the logs, `audit/`
//! or `meta/`.

use std::io::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dormouse_agent_loop::{
    CycleConfig, Hooks, LoopAgent, LoopConfig, MemoryCycle, MemoryTools, RecallBefore, RememberAfter, RunContext, Tool,
    ToolOutput, ToolSet, memory_tools,
};
use dormouse_dream::ExtractiveAbstractor;
use dormouse_fixtures::temp_vault;
use dormouse_model::{FinishReason, Message, ModelError, Reply, ScriptedModel, ToolCall, ToolSpec, Usage};
use dormouse_recall::{Recall, RecallConfig};
use dormouse_vault::{Clock, FixedClock, Vault};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

const KEY: &str = "AAAABBBBCCCC";

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Breaks with the key in its hand.
struct Breaks(ToolSpec);

#[async_trait]
impl Tool for Breaks {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    async fn call(&self, arguments: Value, _: &RunContext) -> ToolOutput {
        std::panic::resume_unwind(Box::new(arguments.to_string()))
    }
}

fn calls(name: &str, arguments: Value) -> Result<Reply, ModelError> {
    let tool_calls = vec![ToolCall { id: name.into(), name: name.into(), arguments }];
    Ok(Reply { text: String::new(), tool_calls, finish: FinishReason::ToolCalls, usage: Usage::default() })
}

#[tokio::test]
async fn agt_11_a_key_stays_out_of_logs_errors_audit_and_meta() {
    let logs = Captured::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(logs.clone()).finish();
    // For every thread of this binary, since searches and commits run on threads of their own.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let note = format!("token: test-key-{KEY}DDDD\n");
    let dir = temp_vault(&format!("=== n.md\n{note}"));
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::new("2026-11-30T10:00:00+01:00".parse().unwrap()));
    let vault = Arc::new(Vault::open(dir.path()).unwrap());
    let recall = Arc::new(Recall::open(vault, RecallConfig::default()).unwrap().with_clock(Arc::clone(&clock)));
    recall.sync().unwrap();
    let cycle = Arc::new(MemoryCycle::new(
        Arc::clone(&recall),
        Arc::new(ExtractiveAbstractor),
        Arc::clone(&clock),
        CycleConfig::default(),
    ));
    let spec = ToolSpec {
        name: "breaks".into(),
        description: "Breaks.".into(),
        parameters: json!({"type": "object", "properties": {"with": {"type": "string"}}}),
    };
    let memory = memory_tools(&MemoryTools::new(recall, clock)).unwrap();
    let all = ["search", "list"].map(|name| Arc::clone(memory.get(name).unwrap()));
    let tools = ToolSet::new(all.into_iter().chain([Arc::new(Breaks(spec)) as Arc<dyn Tool>])).unwrap();
    let hooks = Hooks {
        contributors: vec![Arc::new(RecallBefore(Arc::clone(&cycle)))],
        after_loop: vec![Arc::new(RememberAfter(Arc::clone(&cycle)))],
        ..Hooks::default()
    };
    let model = Arc::new(ScriptedModel::with_results(vec![
        calls("search", json!({"query": "token"})),
        calls("breaks", json!({"with": KEY})),
        calls("list", json!({"since": KEY})),
        Ok(Reply::text("Use the one in the note. Always keep it there.")),
        Err(ModelError::Unauthorized { status: 401 }),
    ]));
    let agent = LoopAgent::new("a", model, tools, LoopConfig::default()).with_hooks(hooks);
    let asked = vec![Message::user("Which token should we use for the harbour crane? hello")];
    let outcome = agent.run(asked.clone(), &RunContext::new("s")).await;
    let refused = agent.run(asked, &RunContext::new("s2")).await;
    assert!(agent.jobs().drain(std::time::Duration::from_secs(30)).await.is_empty());

    let found = outcome.messages.iter().find(|m| m.tool_call_id.as_deref() == Some("search")).unwrap();
    assert!(found.content.contains(KEY), "the caller of search gets the note's text: {}", found.content);
    let broken = outcome.messages.iter().find(|m| m.tool_call_id.as_deref() == Some("breaks")).unwrap();
    assert!(broken.is_error && !broken.content.contains(KEY), "{}", broken.content);
    let error = refused.error.unwrap();
    assert!(!format!("{error} {error:?} {:?}", refused.detail).contains(KEY));
    assert_eq!(dir.read("n.md"), note);
    assert!(dir.exists("audit/2026-11-30/memory.md"), "{}", dir.dump());
    for part in dir.dump().split("=== ").filter(|part| part.starts_with("audit/") || part.starts_with("meta/")) {
        assert!(!part.contains(KEY), "{part}");
    }
    let logs = String::from_utf8(logs.0.lock().unwrap().clone()).unwrap();
    assert!(logs.contains("run ended"), "the logs were captured");
    let leak = logs.lines().find(|line| line.contains(KEY));
    assert_eq!(leak, None);
}
