//! Scripted and recorded models, and the retry layer around them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dormouse_model::{
    LanguageModel, Message, ModelError, Pause, RecordedModel, Reply, Request, RetryPolicy, Retrying, ScriptedModel,
};
use futures::StreamExt;

fn ask(text: &str) -> Request {
    Request { messages: vec![Message::user(text)], ..Request::default() }
}

#[tokio::test]
async fn a_script_is_answered_in_order_and_then_ends() {
    let model = ScriptedModel::with_results(vec![Ok(Reply::text("one")), Err(ModelError::Unreachable)]);
    assert_eq!(model.complete(ask("a")).await.unwrap().text, "one");
    assert_eq!(model.complete(ask("b")).await, Err(ModelError::Unreachable));
    assert_eq!(model.complete(ask("c")).await, Err(ModelError::NoScript));
    let asked: Vec<_> = model.requests().into_iter().map(|r| r.messages[0].content.clone()).collect();
    assert_eq!(asked, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_rule_answers_whatever_is_asked() {
    let model = ScriptedModel::from_rule(|r| Ok(Reply::text(r.messages[0].content.to_uppercase())));
    assert_eq!(model.complete(ask("hi")).await.unwrap().text, "HI");
    let deltas: Vec<_> = model.stream(ask("two")).await.unwrap().collect().await;
    assert_eq!(deltas.len(), 2);
}

#[tokio::test]
async fn a_recording_is_replayed_without_its_model() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("replies.json");
    let inner = Arc::new(ScriptedModel::new(vec![Reply::text("四十二")]).named("big").with_context_tokens(99));
    let recorder = RecordedModel::record(&file, inner.clone()).unwrap();
    assert_eq!(recorder.complete(ask("meaning?")).await.unwrap().text, "四十二");
    assert_eq!(recorder.complete(ask("meaning?")).await.unwrap().text, "四十二", "the second time from the file");
    assert_eq!(inner.requests().len(), 1);

    let replay = RecordedModel::replay(&file).unwrap();
    assert_eq!((replay.name(), replay.context_tokens(), replay.len()), ("big", 99, 1));
    assert_eq!(replay.complete(ask("meaning?")).await.unwrap().text, "四十二");
    assert_eq!(replay.complete(ask("meaning!")).await, Err(ModelError::NoScript));
}

#[test]
fn a_recording_that_is_missing_cut_or_newer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.json");
    assert!(matches!(
        RecordedModel::replay(&file),
        Err(ModelError::Recording { kind: std::io::ErrorKind::NotFound, .. })
    ));
    for text in [
        "{\"version\": 1, \"mod",
        "{\"version\":9,\"model\":\"m\",\"context_tokens\":1,\"native_tools\":true,\"replies\":{}}",
    ] {
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        std::fs::write(&file, text).unwrap();
        assert!(matches!(RecordedModel::replay(&file), Err(ModelError::Malformed)));
    }
}

#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<u64>>>);

#[async_trait]
impl Pause for Noted {
    async fn pause(&self, time: Duration) {
        self.0.lock().unwrap().push(u64::try_from(time.as_millis()).unwrap());
    }
}

async fn retried(errors: Vec<ModelError>) -> (Result<Reply, ModelError>, Vec<u64>, usize) {
    let mut script: Vec<_> = errors.into_iter().map(Err).collect();
    script.push(Ok(Reply::text("ok")));
    let pauses = Noted::default();
    let model = Retrying::new(ScriptedModel::with_results(script), RetryPolicy::default(), pauses.clone());
    let result = model.complete(ask("x")).await;
    let asked = model.inner().requests().len();
    let noted = pauses.0.lock().unwrap().clone();
    (result, noted, asked)
}

#[tokio::test]
async fn transient_errors_are_retried_with_growing_pauses_and_all_calls_counted() {
    let (result, pauses, asked) = retried(vec![ModelError::Unreachable, ModelError::Status { status: 503 }]).await;
    assert_eq!((result.unwrap().usage.calls, pauses, asked), (3, vec![1000, 2000], 3));
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_but_not_beyond_the_cap() {
    let limited = |s| ModelError::RateLimited { retry_after: Some(Duration::from_secs(s)) };
    let (result, pauses, _) = retried(vec![limited(7)]).await;
    assert_eq!((result.unwrap().text.as_str(), pauses), ("ok", vec![7000]));
    let (result, pauses, asked) = retried(vec![limited(600)]).await;
    assert_eq!((result, pauses, asked), (Err(limited(600)), vec![], 1));
}

#[tokio::test]
async fn other_errors_are_not_retried_and_tries_end() {
    let (result, _, asked) = retried(vec![ModelError::Unauthorized { status: 401 }]).await;
    assert_eq!((result, asked), (Err(ModelError::Unauthorized { status: 401 }), 1));
    let (result, pauses, asked) = retried(vec![ModelError::Unreachable; 3]).await;
    assert_eq!((result, pauses.len(), asked), (Err(ModelError::Unreachable), 2, 3));
}

#[tokio::test]
async fn a_stream_is_retried_until_it_has_begun() {
    let pauses = Noted::default();
    let script = ScriptedModel::with_results(vec![Err(ModelError::Unreachable), Ok(Reply::text("late"))]);
    let model = Retrying::new(script, RetryPolicy::default(), pauses);
    let deltas: Vec<_> = model.stream(ask("x")).await.unwrap().collect().await;
    assert!(deltas.iter().all(Result::is_ok));
}
