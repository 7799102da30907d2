//! The one way to call an agent: hooks and schema checks around its work, in a fixed order.

use dormouse_model::check_value;
use serde_json::Value;

use crate::agent::{Agent, Outcome, Record, RunContext};
use crate::error::AgentError;

/// Calls `agent`: `on_start` hooks → input schema → cancellation → process → output schema →
/// `on_success` or `on_error` hooks → `on_end` hooks, exactly once. Each hook sees what the one
/// before it made of the value.
///
/// # Errors
/// [`AgentError::Input`], [`AgentError::Output`], [`AgentError::Cancelled`], or the agent's own.
pub async fn invoke(agent: &dyn Agent, input: Record, cx: &RunContext) -> Result<Record, AgentError> {
    let result = checked(agent, input, cx).await;
    let hooks = agent.hooks();
    let result = match result {
        Ok(mut output) => {
            for hook in hooks {
                output = hook.on_success(output, cx).await;
            }
            Ok(output)
        }
        Err(error) => {
            for hook in hooks {
                hook.on_error(&error, cx).await;
            }
            Err(error)
        }
    };
    for hook in hooks {
        hook.on_end(result.as_ref(), cx).await;
    }
    result
}

async fn checked(agent: &dyn Agent, mut input: Record, cx: &RunContext) -> Result<Record, AgentError> {
    for hook in agent.hooks() {
        input = hook.on_start(input, cx).await?;
    }
    let info = agent.info();
    let name = || info.name.clone();
    if let Some(schema) = &info.input_schema {
        check_value(schema, &Value::Object(input.clone()))
            .map_err(|mismatch| AgentError::Input { agent: name(), mismatch })?;
    }
    if cx.cancel.is_cancelled() {
        return Err(AgentError::Cancelled);
    }
    let Outcome::Record(output) = agent.process(input, cx).await?;
    if let Some(schema) = &info.output_schema {
        check_value(schema, &Value::Object(output.clone()))
            .map_err(|mismatch| AgentError::Output { agent: name(), mismatch })?;
    }
    Ok(output)
}
