//! Real providers: the port over the `genai` crate. The only file that knows a vendor.
//!
//! What is fixed here and not left to guesses: the adapter comes from settings and never from the
//! model's name; a base URL keeps its last segment; no tool goes out without a description; a key
//! goes only to the server that it was configured for; every request has a time limit; and no error
//! carries a body, a header or a key.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatRole, ChatStreamEvent, ContentPart, JsonSpec, MessageContent,
    StopReason, Tool, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint, Error as ResolverError, ProviderConfig};
use genai::webc::{Error as WebError, StreamTimeout};
use genai::{Client, Error, ModelIden, WebConfig};
use serde_json::Value;

use crate::error::ModelError;
use crate::model::{Delta, DeltaStream, LanguageModel};
use crate::reply::{FinishReason, Reply, ToolCall};
use crate::request::{Message, Request, Role, ToolChoice};
use crate::settings::{Adapter, ModelSettings};
use crate::usage::Usage;

/// How long a request may take when it does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model behind a real server.
pub struct GenaiModel {
    settings: ModelSettings,
    client: Client,
    target: ModelIden,
}

impl GenaiModel {
    /// Prepares a client. Nothing is sent and no key is read yet.
    ///
    /// # Errors
    /// [`ModelError::NotConfigured`] when the model's name is empty or no client can be built.
    pub fn new(settings: ModelSettings) -> Result<Self, ModelError> {
        if settings.model.trim().is_empty() {
            return Err(ModelError::NotConfigured);
        }
        let kind = adapter_kind(settings.adapter);
        let endpoint = settings.base_url_with_slash().map(Endpoint::from_owned);
        let auth = match (&settings.api_key_env, &endpoint) {
            (Some(variable), _) => Some(AuthData::from_env(variable.clone())),
            // Some dialects insist on a key; a server that needs none ignores this one.
            (None, Some(_)) => Some(AuthData::from_single("none")),
            (None, None) => None,
        };
        let client = Client::builder()
            .with_adapter_kind(kind)
            .with_web_config(WebConfig::default().with_connect_timeout(CONNECT_TIMEOUT))
            .append_provider_config(kind, ProviderConfig::from((endpoint, auth)))
            .build()
            .map_err(|_| ModelError::NotConfigured)?;
        let target = ModelIden::new(kind, settings.model.clone());
        Ok(Self { settings, client, target })
    }

    /// The settings that it was made from.
    #[must_use]
    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    fn options(&self, request: &Request, limit: Duration) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_raw_body(true)
            .with_normalize_reasoning_content(true)
            .with_stream_header_timeout(limit)
            .with_stream_read_timeout(limit);
        options.temperature = request.temperature;
        options.max_tokens = request.max_output_tokens;
        options.seed = request.seed;
        options.response_format =
            request.schema.as_ref().map(|s| JsonSpec::new(s.name.clone(), s.schema.clone()).into());
        options.tool_choice = (!request.tools.is_empty()).then(|| match &request.tool_choice {
            ToolChoice::Auto => genai::chat::ToolChoice::Auto,
            ToolChoice::None => genai::chat::ToolChoice::None,
            ToolChoice::Required => genai::chat::ToolChoice::Required,
            ToolChoice::Named(name) => genai::chat::ToolChoice::tool(name.clone()),
        });
        options
    }
}

impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[async_trait]
impl LanguageModel for GenaiModel {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn context_tokens(&self) -> usize {
        self.settings.context_tokens
    }

    fn native_tools(&self) -> bool {
        self.settings.native_tools
    }

    async fn complete(&self, request: Request) -> Result<Reply, ModelError> {
        let limit = request.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let options = self.options(&request, limit);
        let call = self.client.exec_chat(self.target.clone(), chat_request(request), Some(&options));
        let response = match tokio::time::timeout(limit, call).await {
            Err(_) => return Err(ModelError::Timeout(limit)),
            Ok(Err(error)) => return rescued(&error).ok_or_else(|| mapped(error, limit)),
            Ok(Ok(response)) => response,
        };
        let finish = finish(response.stop_reason.as_ref(), !response.tool_calls().is_empty());
        let usage = usage(&response.usage);
        let tool_calls = tool_calls(response.tool_calls());
        Ok(Reply { text: response.into_texts().concat(), tool_calls, finish, usage })
    }

    async fn stream(&self, request: Request) -> Result<DeltaStream, ModelError> {
        let limit = request.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let options = self.options(&request, limit);
        let response = self
            .client
            .exec_chat_stream(self.target.clone(), chat_request(request), Some(&options))
            .await
            .map_err(|error| mapped(error, limit))?;
        let events = stream::unfold(Some(response.stream), move |state| async move {
            let mut events = state?;
            loop {
                let item = match events.next().await {
                    Some(Ok(ChatStreamEvent::Chunk(chunk))) => Ok(Delta::Text(chunk.content)),
                    Some(Ok(ChatStreamEvent::End(end))) => {
                        let calls = tool_calls(end.captured_tool_calls().unwrap_or_default());
                        let reply = Reply {
                            text: end.captured_texts().unwrap_or_default().concat(),
                            finish: finish(end.captured_stop_reason.as_ref(), !calls.is_empty()),
                            tool_calls: calls,
                            usage: end.captured_usage.as_ref().map_or(Usage { calls: 1, ..Usage::default() }, usage),
                        };
                        return Some((Ok(Delta::Done(reply)), None));
                    }
                    Some(Ok(_)) => continue,
                    Some(Err(error)) => return Some((Err(mapped(error, limit)), None)),
                    // The server closed the connection before it said that it was done.
                    None => return Some((Err(ModelError::Malformed), None)),
                };
                return Some((item, Some(events)));
            }
        });
        Ok(events.boxed())
    }
}

fn adapter_kind(adapter: Adapter) -> AdapterKind {
    match adapter {
        Adapter::Openai => AdapterKind::OpenAI,
        Adapter::OpenaiResponses => AdapterKind::OpenAIResp,
        Adapter::Anthropic => AdapterKind::Anthropic,
        Adapter::Gemini => AdapterKind::Gemini,
        Adapter::Ollama => AdapterKind::Ollama,
        Adapter::Deepseek => AdapterKind::DeepSeek,
        Adapter::Groq => AdapterKind::Groq,
        Adapter::Mistral => AdapterKind::Mistral,
        Adapter::Openrouter => AdapterKind::OpenRouter,
        Adapter::Xai => AdapterKind::Xai,
    }
}

fn chat_request(request: Request) -> ChatRequest {
    // Some dialects name the tool in its result, so the names of the calls are kept by id.
    let names: HashMap<String, String> =
        request.messages.iter().flat_map(|m| &m.tool_calls).map(|call| (call.id.clone(), call.name.clone())).collect();
    let messages = request.messages.into_iter().map(|m| chat_message(m, &names)).collect();
    let mut chat = ChatRequest::new(messages);
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.into_iter().map(|spec| {
            let description = match spec.description.trim() {
                "" => format!("The tool {}.", spec.name),
                _ => spec.description,
            };
            Tool::new(spec.name).with_description(description).with_schema(spec.parameters)
        }));
    }
    chat
}

fn chat_message(message: Message, names: &HashMap<String, String>) -> ChatMessage {
    match message.role {
        Role::System => ChatMessage::system(message.content),
        Role::User => ChatMessage::user(message.content),
        Role::Tool => {
            let id = message.tool_call_id.unwrap_or_default();
            let name = names.get(&id).cloned();
            let mut response = ToolResponse::new(id, message.content);
            response.fn_name = name;
            ChatMessage::from(response)
        }
        Role::Assistant => {
            let text = (!message.content.is_empty() || message.tool_calls.is_empty())
                .then_some(ContentPart::Text(message.content));
            let calls = message.tool_calls.into_iter().map(|call| {
                ContentPart::ToolCall(genai::chat::ToolCall {
                    call_id: call.id,
                    fn_name: call.name,
                    fn_arguments: call.arguments,
                    thought_signatures: None,
                })
            });
            ChatMessage::new(
                ChatRole::Assistant,
                MessageContent::from_parts(text.into_iter().chain(calls).collect::<Vec<_>>()),
            )
        }
    }
}

fn tool_calls(calls: Vec<&genai::chat::ToolCall>) -> Vec<ToolCall> {
    calls
        .into_iter()
        .map(|call| ToolCall {
            id: call.call_id.clone(),
            name: call.fn_name.clone(),
            arguments: call.fn_arguments.clone(),
        })
        .collect()
}

fn finish(reason: Option<&StopReason>, has_calls: bool) -> FinishReason {
    match reason {
        Some(StopReason::MaxTokens(_)) => FinishReason::Length,
        Some(StopReason::ContentFilter(_)) => FinishReason::ContentFilter,
        _ if has_calls => FinishReason::ToolCalls,
        Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => FinishReason::Stop,
        Some(StopReason::ToolCall(_)) => FinishReason::ToolCalls,
        Some(StopReason::Other(_)) | None => FinishReason::Unknown,
    }
}

fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|t| u64::try_from(t).ok()).unwrap_or(0);
    Usage { input_tokens: count(usage.prompt_tokens), output_tokens: count(usage.completion_tokens), calls: 1 }
}

/// `genai` refuses a whole reply when the arguments of one tool call are no JSON. The reply is then
/// read from the raw body (chat-completions dialect), the arguments kept as the string they are, so
/// that the loop can tell the model.
fn rescued(error: &Error) -> Option<Reply> {
    let Error::ChatResponseGeneration { response_body, .. } = error else {
        return None;
    };
    let choice = response_body.pointer("/choices/0")?;
    let calls = choice.pointer("/message/tool_calls")?.as_array()?;
    let tool_calls = calls
        .iter()
        .map(|call| {
            let arguments = match call.pointer("/function/arguments") {
                Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
                Some(value) => value.clone(),
                None => Value::Null,
            };
            ToolCall {
                id: call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
                name: call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                arguments,
            }
        })
        .collect();
    let count = |path: &str| response_body.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let length = choice.get("finish_reason").and_then(Value::as_str) == Some("length");
    Some(Reply {
        text: choice.pointer("/message/content").and_then(Value::as_str).unwrap_or_default().to_owned(),
        tool_calls,
        finish: if length { FinishReason::Length } else { FinishReason::ToolCalls },
        usage: Usage {
            input_tokens: count("/usage/prompt_tokens"),
            output_tokens: count("/usage/completion_tokens"),
            calls: 1,
        },
    })
}

/// Our error for theirs. Bodies are looked at for one thing only, a window that is too small, and
/// never passed on: they may quote a key or a prompt.
fn mapped(error: Error, limit: Duration) -> ModelError {
    if let Some(status) = error.status() {
        let body = match &error {
            Error::WebModelCall { webc_error: WebError::ResponseFailedStatus { body, .. }, .. }
            | Error::WebAdapterCall { webc_error: WebError::ResponseFailedStatus { body, .. }, .. }
            | Error::HttpError { body, .. } => body.as_str(),
            _ => "",
        };
        return match status.as_u16() {
            status @ (401 | 403) => ModelError::Unauthorized { status },
            429 => ModelError::RateLimited { retry_after: retry_after(&error) },
            413 => ModelError::ContextOverflow,
            400 | 422 | 500 if tells_of_overflow(body) => ModelError::ContextOverflow,
            status => ModelError::Status { status },
        };
    }
    match error {
        Error::Resolver { resolver_error: ResolverError::ApiKeyEnvNotFound { env_name }, .. } => {
            ModelError::NoKey { variable: env_name }
        }
        Error::RequiresApiKey { .. }
        | Error::NoAuthData { .. }
        | Error::NoAuthResolver { .. }
        | Error::Resolver { .. } => ModelError::NotConfigured,
        Error::WebModelCall { webc_error: WebError::Reqwest(error), .. }
        | Error::WebAdapterCall { webc_error: WebError::Reqwest(error), .. } => {
            if error.is_timeout() {
                ModelError::Timeout(limit)
            } else if error.is_decode() {
                ModelError::Malformed
            } else {
                ModelError::Unreachable
            }
        }
        // A refused stream is reported as a broken one, with the refusal inside.
        Error::WebStream { error, .. } => match error.downcast::<Error>() {
            Ok(inner) => mapped(*inner, limit),
            Err(error) if error.is::<StreamTimeout>() => ModelError::Timeout(limit),
            Err(_) => ModelError::Unreachable,
        },
        _ => ModelError::Malformed,
    }
}

fn retry_after(error: &Error) -> Option<Duration> {
    let headers = error.headers()?;
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn tells_of_overflow(body: &str) -> bool {
    let body = body.to_lowercase();
    [
        "context_length",
        "context length",
        "context size",
        "context window",
        "prompt is too long",
        "too many tokens",
        "exceed_context",
    ]
    .iter()
    .any(|hint| body.contains(hint))
}
