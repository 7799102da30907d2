//! Every request is well-formed: each call has exactly one result, right after it, and each result
//! its call.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_model::{Message, Role};

/// What stands in for a result that never came.
const INTERRUPTED: &str = "[no result: the call was interrupted; whether it had an effect is unknown]";

/// Repairs a conversation. A result without an earlier call, or a second one, is dropped; results
/// move to their call, in call order; a call without a result gets one that says that its outcome is
/// unknown. Text is never dropped. Repairing twice changes nothing more. Near-linear.
#[must_use]
pub fn repair(messages: Vec<Message>) -> Vec<Message> {
    let mut results = results_by_call(&messages);
    let mut out = Vec::with_capacity(messages.len());
    for (at, mut message) in messages.into_iter().enumerate() {
        match message.role {
            Role::Tool => {}
            Role::Assistant if !message.tool_calls.is_empty() => {
                make_unique(&mut message, at);
                let found: Vec<Option<Message>> =
                    message.tool_calls.iter().map(|call| results.remove(&(at, call.id.clone()))).collect();
                let ids: Vec<String> = message.tool_calls.iter().map(|c| c.id.clone()).collect();
                out.push(message);
                out.extend(ids.into_iter().zip(found).map(|(id, result)| result.unwrap_or_else(|| placeholder(id))));
            }
            _ => out.push(message),
        }
    }
    out
}

fn placeholder(id: String) -> Message {
    Message { is_error: true, ..Message::tool(id, INTERRUPTED) }
}

/// The first result of each call, keyed by the position of the message that made it. A result
/// belongs to the newest earlier call of its id that has none yet.
fn results_by_call(messages: &[Message]) -> BTreeMap<(usize, String), Message> {
    let mut open: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut out = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for call in &message.tool_calls {
            open.entry(call.id.as_str()).or_default().push(at);
        }
        if message.role == Role::Tool
            && let Some(id) = message.tool_call_id.as_deref()
            && let Some(caller) = open.get_mut(id).and_then(Vec::pop)
        {
            out.insert((caller, id.to_owned()), message.clone());
        }
    }
    out
}

/// Calls of one message that share an id, or have none, get ids of their own.
fn make_unique(message: &mut Message, at: usize) {
    let mut seen = BTreeSet::new();
    for (index, call) in message.tool_calls.iter_mut().enumerate() {
        if call.id.is_empty() || !seen.insert(call.id.clone()) {
            call.id = format!("call_{at}_{index}");
            seen.insert(call.id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_model::ToolCall;
    use proptest::prelude::*;
    use serde_json::json;

    pub(crate) fn calling(text: &str, ids: &[&str]) -> Message {
        let tool_calls =
            ids.iter().map(|id| ToolCall { id: (*id).into(), name: "read".into(), arguments: json!({}) }).collect();
        Message { tool_calls, ..Message::assistant(text) }
    }

    fn shape(messages: &[Message]) -> Vec<String> {
        messages.iter().map(|m| format!("{:?} {}{}", m.role, m.content, if m.is_error { " !" } else { "" })).collect()
    }

    fn check(messages: Vec<Message>, expected: &[&str]) {
        let repaired = repair(messages);
        assert_eq!(shape(&repaired), expected);
        assert_eq!(repair(repaired.clone()), repaired);
    }

    #[test]
    fn agt_02_calls_and_results_find_each_other_after_an_interrupt() {
        let unknown = format!("Tool {INTERRUPTED} !");
        check(
            vec![Message::user("u1"), calling("", &["X"]), Message::user("go on")],
            &["User u1", "Assistant ", &unknown, "User go on"],
        );
        check(
            vec![Message::tool("Z", "old"), Message::user("u2"), Message::assistant("ok")],
            &["User u2", "Assistant ok"],
        );
        check(
            vec![Message::user("u1"), calling("", &["X"]), Message::user("note in between"), Message::tool("X", "r")],
            &["User u1", "Assistant ", "Tool r", "User note in between"],
        );
        check(
            vec![
                Message::user("u1"),
                calling("", &["X"]),
                Message::tool("X", "r1"),
                Message::tool("X", "r2"),
                Message::user("u2"),
            ],
            &["User u1", "Assistant ", "Tool r1", "User u2"],
        );
    }

    #[test]
    fn half_answered_batches_get_the_missing_half_in_call_order() {
        let unknown = format!("Tool {INTERRUPTED} !");
        check(
            vec![calling("two things", &["k1", "k2"]), Message::user("squeezed in"), Message::tool("k2", "second")],
            &["Assistant two things", &unknown, "Tool second", "User squeezed in"],
        );
    }

    fn message() -> impl Strategy<Value = Message> {
        let id = prop_oneof![Just("a"), Just("b"), Just("")];
        prop_oneof![
            "[a-c]{0,3}".prop_map(Message::user),
            prop::collection::vec(id.clone(), 0..4).prop_map(|ids| calling("t", &ids)),
            id.prop_map(|id| Message::tool(id, "r")),
        ]
    }

    proptest! {
        #[test]
        fn any_list_becomes_well_formed_and_stays_so(messages in prop::collection::vec(message(), 0..14)) {
            let repaired = repair(messages.clone());
            let mut due: Vec<String> = Vec::new();
            for m in &repaired {
                if m.role == Role::Tool {
                    prop_assert!(!due.is_empty());
                    prop_assert_eq!(m.tool_call_id.clone().unwrap(), due.remove(0));
                } else {
                    prop_assert!(due.is_empty());
                    due = m.tool_calls.iter().map(|c| c.id.clone()).collect();
                }
            }
            prop_assert!(due.is_empty());
            let texts = |list: &[Message]| list.iter().filter(|m| m.role == Role::User).map(|m| m.content.clone()).collect::<Vec<_>>();
            prop_assert_eq!(texts(&repaired), texts(&messages));
            prop_assert_eq!(repair(repaired.clone()), repaired);
        }
    }
}
