//! Schema checks, without a network: what a model was asked for and what it sent.

use serde::Serialize;
use serde_json::Value;

use crate::json::json_in;
use crate::request::OutputSchema;

/// The most faults that are reported; a model that must correct itself needs no more.
const MAX_FAULTS: usize = 8;

/// One place that does not fit the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// JSON pointer into the value; empty for the whole.
    pub path: String,
    /// What is wrong, at most 200 characters, without the value itself.
    pub reason: String,
}

/// Why a text does not satisfy a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaMismatch {
    /// There is no JSON in the text.
    #[error("the reply holds no JSON")]
    NoJson,
    /// The JSON does not fit.
    #[error("the reply does not fit the schema: {}", .faults.iter().map(|f| format!("{} {}", if f.path.is_empty() { "/" } else { &f.path }, f.reason)).collect::<Vec<_>>().join("; "))]
    Faults {
        /// What is wrong, in document order, eight at most.
        faults: Vec<Fault>,
    },
    /// The schema itself is no JSON schema, or refers to something outside itself.
    #[error("the schema can't be used; it must be a JSON schema without outside references")]
    BadSchema,
}

impl OutputSchema {
    /// Reads the JSON in a reply (bare, fenced or in prose) and checks it. The first value that fits
    /// wins.
    ///
    /// # Errors
    /// [`SchemaMismatch`]; its faults are those of the first value.
    pub fn check(&self, reply: &str) -> Result<Value, SchemaMismatch> {
        let mut first = SchemaMismatch::NoJson;
        for value in json_in(reply) {
            match check_value(&self.schema, &value) {
                Ok(()) => return Ok(value),
                Err(mismatch) if first == SchemaMismatch::NoJson => first = mismatch,
                Err(_) => {}
            }
        }
        Err(first)
    }
}

/// Checks one value against a schema.
///
/// # Errors
/// [`SchemaMismatch::Faults`] or [`SchemaMismatch::BadSchema`].
pub fn check_value(schema: &Value, value: &Value) -> Result<(), SchemaMismatch> {
    let validator = jsonschema::validator_for(schema).map_err(|_| SchemaMismatch::BadSchema)?;
    let faults: Vec<Fault> = validator
        .iter_errors(value)
        .take(MAX_FAULTS)
        .map(|error| Fault {
            path: error.instance_path().to_string(),
            reason: error.masked().to_string().chars().take(200).collect(),
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(SchemaMismatch::Faults { faults }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> OutputSchema {
        OutputSchema {
            name: "unit".into(),
            schema: json!({
                "type": "object",
                "required": ["name", "bucket"],
                "properties": {"name": {"type": "string"}, "bucket": {"enum": ["wiki", "personal"]}},
            }),
        }
    }

    #[test]
    fn a_reply_that_fits_is_returned_even_behind_prose() {
        let value = schema().check("Here:\n```json\n{\"name\": \"n\", \"bucket\": \"wiki\"}\n```").unwrap();
        assert_eq!(value["bucket"], "wiki");
        let second = schema().check("{\"name\": 1} no, {\"name\": \"n\", \"bucket\": \"personal\"}").unwrap();
        assert_eq!(second["bucket"], "personal");
    }

    #[test]
    fn faults_name_the_place_and_not_the_value() {
        let error = schema().check("{\"name\": 5, \"bucket\": \"secret-value\"}").unwrap_err();
        expect_test::expect![[r#"the reply does not fit the schema: /name value is not of type "string"; /bucket value is not one of "wiki" or "personal""#]].assert_eq(&error.to_string());
        assert_eq!(schema().check("I'd rather not."), Err(SchemaMismatch::NoJson));
    }

    #[test]
    fn an_outside_reference_is_refused_and_never_fetched() {
        let outside = json!({"$ref": "http://127.0.0.1:9/schema.json"});
        assert_eq!(check_value(&outside, &json!({})), Err(SchemaMismatch::BadSchema));
        assert_eq!(check_value(&json!({"type": "no-such-type"}), &json!({})), Err(SchemaMismatch::BadSchema));
    }
}
