//! The loop over a scripted model and small tools.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dormouse_agent_loop::{
    Access, AgentError, Gate, Hooks, LoopAgent, LoopConfig, LoopEvent, LoopOutcome, Observer, OnError, PlannedCall,
    RunContext, StopReason, Tool, ToolOutput, ToolSet, Verdict, invoke, keep_last,
};
use dormouse_model::{FinishReason, Message, ModelError, Reply, Role, ScriptedModel, ToolCall, ToolSpec, Usage};
use serde_json::{Value, json};

type Log = Arc<Mutex<Vec<String>>>;

/// A tool that notes its calls and answers by its closure.
struct Fake {
    spec: ToolSpec,
    access: Option<&'static str>,
    answer: fn(&Value) -> ToolOutput,
    log: Log,
    running: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }
    fn access(&self, arguments: &Value) -> Access {
        match self.access {
            Some(key) => Access::Read(vec![arguments[key].as_str().unwrap_or_default().into()]),
            None => Access::Exclusive,
        }
    }
    async fn call(&self, arguments: Value, _: &RunContext) -> ToolOutput {
        self.log.lock().unwrap().push(format!("{} {arguments}", self.spec.name));
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(now, Ordering::SeqCst);
        let ms = arguments["ms"].as_u64().unwrap_or(1);
        tokio::time::sleep(Duration::from_millis(ms)).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        (self.answer)(&arguments)
    }
}

fn fake(
    name: &str,
    required: &[&str],
    access: Option<&'static str>,
    log: &Log,
    answer: fn(&Value) -> ToolOutput,
) -> Arc<Fake> {
    let properties: Value =
        required.iter().map(|r| ((*r).to_owned(), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>().into();
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    Arc::new(Fake {
        spec: ToolSpec { name: name.into(), description: format!("the {name} tool"), parameters },
        access,
        answer,
        log: Arc::clone(log),
        running: Arc::default(),
        peak: Arc::default(),
    })
}

fn calls(list: &[(&str, &str, Value)]) -> Reply {
    let tool_calls = list
        .iter()
        .map(|(id, name, arguments)| ToolCall { id: (*id).into(), name: (*name).into(), arguments: arguments.clone() })
        .collect();
    Reply {
        text: String::new(),
        tool_calls,
        finish: FinishReason::ToolCalls,
        usage: Usage { input_tokens: 10, output_tokens: 5, calls: 1 },
    }
}

struct Ran {
    outcome: LoopOutcome,
    log: Vec<String>,
    model: Arc<ScriptedModel>,
}

async fn run_with(
    script: Vec<Result<Reply, ModelError>>,
    tools: Vec<Arc<Fake>>,
    config: LoopConfig,
    hooks: Hooks,
    log: &Log,
) -> Ran {
    let model = Arc::new(ScriptedModel::with_results(script));
    let tools = ToolSet::new(tools.into_iter().map(|t| t as Arc<dyn Tool>)).unwrap();
    let agent = LoopAgent::new("test", model.clone(), tools, config).with_hooks(hooks);
    let outcome = agent.run(vec![Message::user("go")], &RunContext::new("s")).await;
    let log = log.lock().unwrap().clone();
    Ran { outcome, log, model }
}

async fn run(script: Vec<Reply>, tools: Vec<Arc<Fake>>, log: &Log) -> Ran {
    run_with(script.into_iter().map(Ok).collect(), tools, LoopConfig::default(), Hooks::default(), log).await
}

fn results(outcome: &LoopOutcome) -> Vec<(String, bool)> {
    outcome
        .messages
        .iter()
        .filter(|m| m.role == Role::Tool)
        .map(|m| (m.tool_call_id.clone().unwrap(), m.is_error))
        .collect()
}

#[tokio::test]
async fn a_call_is_run_and_its_result_answers() {
    let log = Log::default();
    let read = fake("read", &["path"], Some("path"), &log, |_| ToolOutput::ok("content"));
    let ran = run(vec![calls(&[("c1", "read", json!({"path": "a.md"}))]), Reply::text("done")], vec![read], &log).await;
    assert_eq!(
        (ran.outcome.text.as_str(), ran.outcome.stop, ran.outcome.iterations),
        ("done", StopReason::FinalAnswer, 2)
    );
    assert_eq!(ran.outcome.usage, Usage { input_tokens: 10, output_tokens: 5, calls: 2 });
    assert_eq!(ran.model.requests()[1].messages.last().unwrap().content, "content");
}

#[tokio::test]
async fn agt_03_results_stand_in_call_order_and_a_failure_stays_alone() {
    let log = Log::default();
    let slow = fake("slow", &[], Some("out"), &log, |_| ToolOutput::ok("A"));
    let fail = fake("fail", &[], Some("out"), &log, |_| panic!("broken tool"));
    let quick = fake("quick", &[], Some("out"), &log, |_| ToolOutput::ok("C"));
    let round = calls(&[
        ("a", "slow", json!({"ms": 100, "out": "A"})),
        ("b", "fail", json!({})),
        ("c", "quick", json!({"out": "C"})),
    ]);
    let ran = run(vec![round, Reply::text("done")], vec![slow, fail, quick], &log).await;
    assert_eq!(results(&ran.outcome), [("a".into(), false), ("b".into(), true), ("c".into(), false)]);
}

#[tokio::test]
async fn agt_04_arguments_that_do_not_fit_are_told_and_never_run() {
    let log = Log::default();
    let write = fake("write", &["path", "content"], None, &log, |_| ToolOutput::ok("written"));
    let long = format!("{{\"path\":\"{}", "z".repeat(200_000));
    let bad = [
        "{\"path\": \"a.md\"",
        "null",
        "[]",
        "\"x\"",
        "{\"path\":\"a.md\"}{\"path\":\"b.md\"}",
        "{\"path\":5,\"content\":\"x\"}",
        "",
        "{\"path\":\"ok.md\",\"content\":\"fine\"}",
        &long,
    ];
    let round: Vec<(String, Value)> =
        bad.iter().enumerate().map(|(at, text)| ((at + 1).to_string(), json!(text))).collect();
    let round: Vec<(&str, &str, Value)> = round.iter().map(|(id, v)| (id.as_str(), "write", v.clone())).collect();
    let ran = run(vec![calls(&round), Reply::text("done")], vec![write], &log).await;
    assert_eq!(ran.log, ["write {\"path\":\"ok.md\",\"content\":\"fine\"}"]);
    let errors: Vec<String> = results(&ran.outcome).into_iter().filter(|(_, e)| *e).map(|(id, _)| id).collect();
    assert_eq!(errors, ["1", "2", "3", "4", "5", "6", "7", "9"]);
    for message in ran.model.requests()[1].messages.iter() {
        assert!(!message.is_error || message.content.len() < 2_000);
        assert!(message.tool_calls.iter().all(|c| c.arguments.is_object()));
    }
}

#[tokio::test]
async fn agt_05_a_name_that_is_nearly_right_is_understood_and_others_are_listed() {
    let log = Log::default();
    let search = fake("search_notes", &["q"], Some("q"), &log, |_| ToolOutput::ok("found"));
    let read = fake("read_note", &["path"], Some("path"), &log, |_| ToolOutput::ok("text"));
    let round = calls(&[
        ("1", "Search_Notes", json!({"q": "x"})),
        ("2", "frobnicate", json!({})),
        ("3", "read-note", json!({"path": "n.md"})),
        ("4", "", json!({})),
    ]);
    let ran = run(vec![round, Reply::text("done")], vec![search, read], &log).await;
    assert_eq!(
        results(&ran.outcome),
        [("1".into(), false), ("2".into(), true), ("3".into(), false), ("4".into(), true)]
    );
    let told = &ran.outcome.messages.iter().find(|m| m.tool_call_id.as_deref() == Some("2")).unwrap().content;
    assert!(told.contains("search_notes") && told.contains("read_note"), "{told}");
    assert_eq!(ran.outcome.text, "done");
}

#[test]
fn agt_01_a_cut_never_falls_inside_a_batch() {
    let batch = Message {
        tool_calls: ["A", "B"].map(|id| ToolCall { id: id.into(), name: "read".into(), arguments: json!({}) }).to_vec(),
        ..Message::assistant("")
    };
    let messages = vec![
        Message::system("s"),
        Message::user("u1"),
        batch,
        Message::tool("A", "ra"),
        Message::tool("B", "rb"),
        Message::assistant("a2"),
        Message::user("u3"),
    ];
    for count in 1..=5 {
        let kept = keep_last(&messages, count);
        assert_eq!(kept[0], messages[0]);
        assert_eq!(kept.last(), messages.last());
        assert_eq!(dormouse_agent_loop::repair(kept.clone()), kept, "keep {count}");
        let tools = kept.iter().filter(|m| m.role == Role::Tool).count();
        assert!(tools == 0 || tools == 2);
    }
}

#[tokio::test]
async fn the_last_request_has_no_tools_so_that_the_run_ends_in_words() {
    let log = Log::default();
    let read = fake("read", &["path"], Some("path"), &log, |_| ToolOutput::ok("c"));
    let script = vec![
        Ok(calls(&[("c1", "read", json!({"path": "a"}))])),
        Ok(calls(&[("c2", "read", json!({"path": "b"}))])),
        Ok(Reply::text("what I know")),
    ];
    let ran =
        run_with(script, vec![read], LoopConfig { max_iterations: 3, ..LoopConfig::default() }, Hooks::default(), &log)
            .await;
    assert_eq!(
        (ran.outcome.stop, ran.outcome.text.as_str(), ran.outcome.iterations),
        (StopReason::MaxIterations, "what I know", 3)
    );
    assert!(ran.model.requests()[2].tools.is_empty() && !ran.model.requests()[1].tools.is_empty());
}

#[tokio::test]
async fn two_failed_model_calls_in_a_row_end_a_run_and_a_success_between_clears_the_count() {
    let log = Log::default();
    let read = || fake("read", &["path"], Some("path"), &log, |_| ToolOutput::ok("c"));
    let failed = || Err(ModelError::Unreachable);
    let script = vec![failed(), Ok(calls(&[("c1", "read", json!({"path": "a"}))])), failed(), failed()];
    let ran = run_with(script, vec![read()], LoopConfig::default(), Hooks::default(), &log).await;
    assert_eq!(
        (ran.outcome.stop, ran.outcome.iterations, ran.outcome.error),
        (StopReason::ApiError, 4, Some(ModelError::Unreachable))
    );
    let abort = LoopConfig { on_error: OnError::Abort, ..LoopConfig::default() };
    assert_eq!(run_with(vec![failed()], vec![read()], abort, Hooks::default(), &log).await.outcome.iterations, 1);
    let fatal = run_with(
        vec![Err(ModelError::Unauthorized { status: 401 })],
        vec![read()],
        LoopConfig::default(),
        Hooks::default(),
        &log,
    )
    .await;
    assert_eq!(fatal.outcome.iterations, 1);
}

#[tokio::test]
async fn a_cut_reply_is_continued_and_joined() {
    let log = Log::default();
    let cut = |text: &str| Reply { finish: FinishReason::Length, ..Reply::text(text) };
    let ran = run(vec![cut("The answer is for"), Reply::text("ty-two.")], vec![], &log).await;
    assert_eq!((ran.outcome.text.as_str(), ran.outcome.stop), ("The answer is forty-two.", StopReason::FinalAnswer));
    assert!(ran.model.requests()[1].messages.last().unwrap().content.contains("[continue]"));
    assert_eq!(ran.outcome.messages.len(), 2, "the history forgets the pieces");
    let bounded = LoopConfig { max_continuations: 1, ..LoopConfig::default() };
    let ran = run_with(vec![Ok(cut("aa")), Ok(cut("bb"))], vec![], bounded, Hooks::default(), &log).await;
    assert_eq!((ran.outcome.text.as_str(), ran.outcome.stop), ("aabb", StopReason::Truncated));
}

#[tokio::test]
async fn calls_of_a_cut_reply_are_never_run_and_equal_rounds_end() {
    let log = Log::default();
    let edit = || fake("edit", &["path"], None, &log, |_| ToolOutput::ok("edited"));
    let cut = Reply { finish: FinishReason::Length, ..calls(&[("c1", "edit", json!({"path": "a"}))]) };
    let ran = run(vec![cut, Reply::text("ok")], vec![edit()], &log).await;
    assert_eq!((results(&ran.outcome), ran.log.len()), (vec![("c1".into(), true)], 0));
    let same = (0..9).map(|_| calls(&[("x", "edit", json!({"path": "n"}))])).collect();
    let ran = run(same, vec![edit()], &log).await;
    assert_eq!((ran.outcome.stop, ran.log.len()), (StopReason::RepeatedCall, 3));
}

#[tokio::test]
async fn a_model_without_native_calls_uses_text() {
    let log = Log::default();
    let read = fake("read", &["path"], Some("path"), &log, |_| ToolOutput::ok("content"));
    let model = Arc::new(
        ScriptedModel::new(vec![
            Reply::text("```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```"),
            Reply::text("<TOOL_CALL>{bad}</TOOL_CALL>"),
            Reply::text("fin"),
        ])
        .with_native_tools(false),
    );
    let agent =
        LoopAgent::new("t", model.clone(), ToolSet::new([read as Arc<dyn Tool>]).unwrap(), LoopConfig::default());
    let outcome = agent.run(vec![Message::user("go")], &RunContext::new("s")).await;
    assert_eq!((outcome.text.as_str(), log.lock().unwrap().len()), ("fin", 1));
    let asked = model.requests();
    assert!(asked[0].tools.is_empty() && asked[0].messages[0].content.contains("<TOOL_CALL>"));
    assert!(asked[1].messages.last().unwrap().content.contains("content"));
    assert!(asked[2].messages.last().unwrap().content.contains("could not be read"));
}

#[tokio::test]
async fn twenty_five_reads_run_ten_at_a_time() {
    let log = Log::default();
    let read = fake("read", &[], Some("path"), &log, |_| ToolOutput::ok("c"));
    let peak = read.peak.clone();
    let list: Vec<(String, Value)> =
        (0..25).map(|n| (format!("c{n}"), json!({"path": n.to_string(), "ms": 5}))).collect();
    let list: Vec<(&str, &str, Value)> = list.iter().map(|(id, v)| (id.as_str(), "read", v.clone())).collect();
    run(vec![calls(&list), Reply::text("ok")], vec![read], &log).await;
    assert_eq!(peak.load(Ordering::SeqCst), 10);
}

#[tokio::test]
async fn a_cancelled_run_says_what_was_running_and_what_was_not() {
    let log = Log::default();
    let slow = fake("slow", &[], None, &log, |_| ToolOutput::ok("late"));
    let round = calls(&[("c1", "slow", json!({"ms": 60_000})), ("c2", "slow", json!({"ms": 1}))]);
    let agent = LoopAgent::new(
        "t",
        Arc::new(ScriptedModel::new(vec![round])),
        ToolSet::new([slow as Arc<dyn Tool>]).unwrap(),
        LoopConfig::default(),
    );
    let cx = RunContext::new("s");
    let cancel = cx.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let outcome = agent.run(vec![Message::user("go")], &cx).await;
    assert_eq!(outcome.stop, StopReason::Cancelled);
    let texts: Vec<_> = outcome.messages.iter().filter(|m| m.role == Role::Tool).map(|m| m.content.clone()).collect();
    assert!(texts[0].contains("unknown") && texts[1].contains("before it started"), "{texts:?}");
    assert_eq!(dormouse_agent_loop::repair(outcome.messages.clone()), outcome.messages);
}

struct Closed;
#[async_trait]
impl Gate for Closed {
    async fn before_tool(&self, call: &PlannedCall, _: &RunContext) -> Result<Verdict, AgentError> {
        if call.name == "edit" {
            Ok(Verdict::Deny { reason: "read-only session".into() })
        } else {
            Err(AgentError::TaskLost)
        }
    }
}

struct Noting(Log);
impl Observer for Noting {
    fn on(&self, event: &LoopEvent<'_>) {
        let word = match event {
            LoopEvent::LoopStarted => "start".to_owned(),
            LoopEvent::IterationStarted { iteration, .. } => format!("iter:{iteration}"),
            LoopEvent::IterationFinished { iteration } => format!("done:{iteration}"),
            LoopEvent::ToolStarted { call } => format!("tool:{}", call.id),
            LoopEvent::LoopFinished { stop, .. } => format!("stop:{stop}"),
            _ => return,
        };
        self.0.lock().unwrap().push(word);
        panic!("observers fail open");
    }
}

#[tokio::test]
async fn gates_fail_closed_and_observers_fail_open() {
    let log = Log::default();
    let edit = fake("edit", &[], None, &log, |_| ToolOutput::ok("edited"));
    let other = fake("other", &[], None, &log, |_| ToolOutput::ok("x"));
    let seen = Log::default();
    let hooks =
        Hooks { gates: vec![Arc::new(Closed)], observers: vec![Arc::new(Noting(seen.clone()))], ..Hooks::default() };
    let script =
        vec![Ok(calls(&[("c1", "edit", json!({})), ("c2", "other", json!({}))])), Ok(Reply::text("understood"))];
    let ran = run_with(script, vec![edit, other], LoopConfig::default(), hooks, &log).await;
    let texts: Vec<_> =
        ran.outcome.messages.iter().filter(|m| m.role == Role::Tool).map(|m| m.content.clone()).collect();
    assert!(texts[0].contains("read-only session") && texts[1].contains("the gate failed"), "{texts:?}");
    assert!(ran.log.is_empty());
    assert_eq!(*seen.lock().unwrap(), ["start", "iter:1", "done:1", "iter:2", "done:2", "stop:final answer"]);
}

#[tokio::test]
async fn agt_07_what_does_not_fit_the_window_ends_with_the_sizes_and_asks_nobody() {
    let model = Arc::new(ScriptedModel::new(vec![Reply::text("summary")]).with_context_tokens(1_000));
    let agent = LoopAgent::new(
        "t",
        model.clone(),
        ToolSet::default(),
        LoopConfig { instructions: "x".repeat(2_800), ..LoopConfig::default() },
    );
    let outcome = agent.run(vec![Message::user("y".repeat(2_000))], &RunContext::new("s")).await;
    assert_eq!((outcome.stop, model.requests().len()), (StopReason::ContextOverflow, 0));
    expect_test::expect![
        "the context does not fit: 704 tokens of instructions and 504 of the newest messages, 800 are there"
    ]
    .assert_eq(&outcome.detail.unwrap());
}

#[tokio::test]
async fn agt_07_a_server_that_finds_every_request_too_large_is_asked_twice_at_most() {
    let log = Log::default();
    let overflow = (0..9).map(|_| Err(ModelError::ContextOverflow)).collect();
    let read = fake("read", &["path"], Some("path"), &log, |_| ToolOutput::ok("c"));
    let ran = run_with(overflow, vec![read], LoopConfig::default(), Hooks::default(), &log).await;
    assert_eq!((ran.outcome.stop, ran.log.len()), (StopReason::ContextOverflow, 0));
    assert!(ran.model.requests().len() <= 2, "{}", ran.model.requests().len());
}

/// Writes what it is given into its map.
struct Write(ToolSpec, Arc<Mutex<std::collections::BTreeMap<String, String>>>);

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    async fn call(&self, arguments: Value, _: &RunContext) -> ToolOutput {
        let text = |key: &str| arguments[key].as_str().unwrap().to_owned();
        self.1.lock().unwrap().insert(text("path"), text("content"));
        ToolOutput::ok("written")
    }
}

#[tokio::test]
async fn agt_10_the_same_successful_write_again_and_again_ends_the_run() {
    let files = Arc::new(Mutex::default());
    let properties = json!({"path": {"type": "string"}, "content": {"type": "string"}});
    let spec = ToolSpec {
        name: "write".into(),
        description: "Writes a file.".into(),
        parameters: json!({"type": "object", "properties": properties, "required": ["path", "content"]}),
    };
    // The order of the arguments and the ids of the calls make no difference.
    let reply = |n: usize| {
        let text = if n.is_multiple_of(2) {
            "{\"path\":\"n.md\",\"content\":\"same\"}"
        } else {
            "{\"content\": \"same\", \"path\": \"n.md\"}"
        };
        calls(&[(&format!("c{n}"), "write", json!(text))])
    };
    let model = Arc::new(ScriptedModel::new((0..50).map(reply).collect()));
    let runs = Log::default();
    let hooks = Hooks { observers: vec![Arc::new(Counting(runs.clone()))], ..Hooks::default() };
    let tools = ToolSet::new([Arc::new(Write(spec, Arc::clone(&files))) as Arc<dyn Tool>]).unwrap();
    let agent = LoopAgent::new("t", model, tools, LoopConfig::default()).with_hooks(hooks);
    let outcome = agent.run(vec![Message::user("write it")], &RunContext::new("s")).await;
    assert_eq!((outcome.stop, runs.lock().unwrap().len()), (StopReason::RepeatedCall, 3));
    assert_eq!(dormouse_agent_loop::repair(outcome.messages.clone()), outcome.messages, "pairs stay whole");
    assert_eq!(files.lock().unwrap()["n.md"], "same");
}

/// Notes each tool that is started.
struct Counting(Log);

impl Observer for Counting {
    fn on(&self, event: &LoopEvent<'_>) {
        if let LoopEvent::ToolStarted { call } = event {
            self.0.lock().unwrap().push(call.id.clone());
        }
    }
}

#[tokio::test]
async fn an_agent_is_called_through_its_lifecycle() {
    let agent = LoopAgent::new(
        "guide",
        Arc::new(ScriptedModel::new(vec![Reply::text("hello")])),
        ToolSet::default(),
        LoopConfig::default(),
    );
    let cx = RunContext::new("s");
    let bad = invoke(&agent, json!({"message": 5}).as_object().unwrap().clone(), &cx).await.unwrap_err();
    assert!(bad.to_string().contains("/message"), "{bad}");
    let good = invoke(&agent, json!({"message": "hi"}).as_object().unwrap().clone(), &cx).await.unwrap();
    assert_eq!(good["message"], "hello");
}
