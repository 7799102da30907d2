//! The provider against a loopback server that speaks the chat-completions dialect.

use std::time::Duration;

use dormouse_model::{
    Adapter, Delta, FinishReason, GenaiModel, LanguageModel, Message, ModelError, ModelSettings, OutputSchema, Request,
    ToolCall, ToolSpec,
};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::server::{Answer, Seen, Server, json as answer, serve};

fn model(server: &Server) -> GenaiModel {
    GenaiModel::new(ModelSettings {
        base_url: Some(server.url.clone()),
        ..ModelSettings::new(Adapter::Openai, "claude-looking-name")
    })
    .unwrap()
}

fn ask(text: &str) -> Request {
    Request { messages: vec![Message::user(text)], ..Request::default() }
}

fn completion(message: &Value, finish: &str) -> Value {
    json!({"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})
}

fn last(server: &Server) -> Seen {
    server.seen.lock().unwrap().last().cloned().unwrap()
}

#[tokio::test]
async fn a_completion_has_text_finish_and_usage_and_the_url_keeps_its_path() {
    let server =
        serve(vec![answer("200 OK", &completion(&json!({"role": "assistant", "content": "你好 there"}), "stop"))])
            .await;
    let reply = model(&server)
        .complete(Request { temperature: Some(0.0), seed: Some(7), max_output_tokens: Some(50), ..ask("hi") })
        .await
        .unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("你好 there", FinishReason::Stop));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.calls), (11, 7, 1));
    let seen = last(&server);
    assert!(seen.head.starts_with("POST /v1/chat/completions "), "{}", seen.head);
    assert_eq!(seen.body["model"], "claude-looking-name");
    assert_eq!(
        (&seen.body["temperature"], &seen.body["seed"], &seen.body["max_tokens"]),
        (&json!(0.0), &json!(7), &json!(50))
    );
}

#[tokio::test]
async fn a_schema_goes_into_the_request_body() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false});
    let server = serve(vec![answer(
        "200 OK",
        &completion(&json!({"role": "assistant", "content": "{\"name\":\"x\"}"}), "stop"),
    )])
    .await;
    let wanted = OutputSchema { name: "unit".into(), schema: schema.clone() };
    let reply = model(&server).complete(Request { schema: Some(wanted.clone()), ..ask("name it") }).await.unwrap();
    assert_eq!(wanted.check(&reply.text).unwrap(), json!({"name": "x"}));
    let format = &last(&server).body["response_format"];
    assert_eq!(
        (&format["type"], &format["json_schema"]["name"], &format["json_schema"]["schema"]),
        (&json!("json_schema"), &json!("unit"), &schema)
    );
}

#[tokio::test]
async fn tools_go_out_with_descriptions_and_calls_and_results_come_back() {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"query\":\"tea\"}"}});
    let server = serve(vec![
        answer(
            "200 OK",
            &completion(&json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls"),
        ),
        answer("200 OK", &completion(&json!({"role": "assistant", "content": "done"}), "stop")),
    ])
    .await;
    let model = model(&server);
    let tools =
        vec![ToolSpec { name: "search".into(), description: String::new(), parameters: json!({"type": "object"}) }];
    let reply = model.complete(Request { tools: tools.clone(), ..ask("look") }).await.unwrap();
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    assert_eq!(
        reply.tool_calls,
        [ToolCall { id: "c1".into(), name: "search".into(), arguments: json!({"query": "tea"}) }]
    );
    assert_eq!(last(&server).body["tools"][0]["function"]["description"], "The tool search.");

    let mut assistant = Message::assistant("");
    assistant.tool_calls = reply.tool_calls;
    let messages = vec![Message::user("look"), assistant, Message::tool("c1", "found it")];
    model.complete(Request { messages, tools, ..Request::default() }).await.unwrap();
    let sent = last(&server).body["messages"].clone();
    assert_eq!(
        (&sent[1]["tool_calls"][0]["id"], &sent[2]["tool_call_id"], &sent[2]["content"]),
        (&json!("c1"), &json!("c1"), &json!("found it"))
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_come_back_as_a_string() {
    let calls = json!([{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"query\": \"te"}},
        {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]);
    let server = serve(vec![answer(
        "200 OK",
        &completion(&json!({"role": "assistant", "content": "", "tool_calls": calls}), "tool_calls"),
    )])
    .await;
    let reply = model(&server).complete(ask("look")).await.unwrap();
    assert_eq!(reply.tool_calls[0].arguments, json!("{\"query\": \"te"));
    assert_eq!(reply.tool_calls[1].arguments, json!({"path": "a"}));
    assert_eq!(reply.usage.output_tokens, 7);
}

#[tokio::test]
async fn a_reply_that_was_cut_says_so() {
    let server =
        serve(vec![answer("200 OK", &completion(&json!({"role": "assistant", "content": "half a"}), "length"))]).await;
    assert_eq!(model(&server).complete(ask("x")).await.unwrap().finish, FinishReason::Length);
}

async fn failure(status: &'static str, body: &Value) -> ModelError {
    let server = serve(vec![answer(status, body)]).await;
    model(&server).complete(ask("x")).await.unwrap_err()
}

#[tokio::test]
async fn refusals_become_typed_errors_without_bodies() {
    let secret = json!({"error": {"message": "bad key sk-AAAABBBBCCCC"}});
    let unauthorized = failure("401 Unauthorized", &secret).await;
    assert_eq!(unauthorized, ModelError::Unauthorized { status: 401 });
    let limited = failure("429 Too Many Requests\r\nretry-after: 7", &secret).await;
    assert_eq!(limited, ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) });
    let broken = failure("503 Service Unavailable", &secret).await;
    assert_eq!(broken, ModelError::Status { status: 503 });
    let long = failure("400 Bad Request", &json!({"error": {"code": "context_length_exceeded"}})).await;
    assert_eq!(long, ModelError::ContextOverflow);
    for error in [unauthorized, limited, broken, long] {
        assert!(!format!("{error} {error:?}").contains("sk-"));
    }
    let nonsense = serve(vec![Answer { status: "200 OK", kind: "text/html", body: "<html>".into() }]).await;
    assert_eq!(model(&nonsense).complete(ask("x")).await, Err(ModelError::Malformed));
}

#[tokio::test]
async fn silence_and_absence_are_told_apart() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = Server { url: format!("http://{}/v1/", listener.local_addr().unwrap()), seen: Default::default() };
    let limit = Duration::from_millis(200);
    assert_eq!(
        model(&silent).complete(Request { timeout: Some(limit), ..ask("x") }).await,
        Err(ModelError::Timeout(limit))
    );
    drop(listener);
    assert_eq!(model(&silent).complete(ask("x")).await, Err(ModelError::Unreachable));
}

#[tokio::test]
async fn a_key_is_named_by_its_variable_and_never_sent_elsewhere() {
    let settings = ModelSettings {
        api_key_env: Some("DORMOUSE_TEST_NO_SUCH_KEY".into()),
        ..ModelSettings::new(Adapter::Openai, "m")
    };
    let error = GenaiModel::new(settings).unwrap().complete(ask("x")).await.unwrap_err();
    assert_eq!(error, ModelError::NoKey { variable: "DORMOUSE_TEST_NO_SUCH_KEY".into() });
    let server =
        serve(vec![answer("200 OK", &completion(&json!({"role": "assistant", "content": "ok"}), "stop"))]).await;
    model(&server).complete(ask("x")).await.unwrap();
    assert!(last(&server).head.to_lowercase().contains("authorization: bearer none"));
    assert!(GenaiModel::new(ModelSettings::new(Adapter::Openai, " ")).is_err());
}

fn events(chunks: &[Value]) -> Answer {
    let mut body: String = chunks.iter().map(|c| format!("data: {c}\n\n")).collect();
    body.push_str("data: [DONE]\n\n");
    Answer { status: "200 OK", kind: "text/event-stream", body }
}

#[tokio::test]
async fn a_stream_brings_pieces_and_then_the_whole_with_usage() {
    let piece = |delta: Value, finish: Value| json!({"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let server = serve(vec![events(&[
        piece(json!({"content": "He"}), Value::Null),
        piece(json!({"content": "llo"}), Value::Null),
        piece(json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":"}}]}), Value::Null),
        piece(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"a\"}"}}]}), json!("tool_calls")),
        json!({"id": "1", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}),
    ])])
    .await;
    let deltas: Vec<_> = model(&server).stream(ask("hi")).await.unwrap().map(Result::unwrap).collect().await;
    assert_eq!(deltas[..2], [Delta::Text("He".into()), Delta::Text("llo".into())]);
    let Some(Delta::Done(reply)) = deltas.last() else { panic!("no end: {deltas:?}") };
    assert_eq!((reply.text.as_str(), reply.usage.input_tokens, reply.usage.output_tokens), ("Hello", 5, 2));
    assert_eq!(reply.tool_calls[0].arguments, json!({"path": "a"}));
    assert_eq!(last(&server).body["stream_options"]["include_usage"], true);
}

#[tokio::test]
async fn a_stream_that_breaks_off_or_is_refused_ends_in_an_error() {
    let piece = json!({"id": "1", "choices": [{"index": 0, "delta": {"content": "He"}, "finish_reason": null}]});
    let server = serve(vec![
        Answer { status: "200 OK", kind: "text/event-stream", body: format!("data: {piece}\n\n") },
        answer("401 Unauthorized", &json!({"error": "no"})),
    ])
    .await;
    let model = model(&server);
    let deltas: Vec<_> = model.stream(ask("hi")).await.unwrap().collect().await;
    assert!(matches!(deltas.last(), Some(Err(_))), "{deltas:?}");
    let refused: Vec<_> = model.stream(ask("hi")).await.unwrap().collect().await;
    assert_eq!(refused, [Err(ModelError::Unauthorized { status: 401 })]);
}
