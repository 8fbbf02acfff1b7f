//! A plan for programs to read: all of it, with bytes as text.

use super::Known;
use serde_json::Value;

/// Keys of machine code, which is written as hexadecimal digits.
const CODE: &str = "program";
/// Keys of texts that need not be UTF-8.
const TEXTS: [&str; 2] = ["content", "hostname"];

/// The plan as a value.
pub(super) fn of(known: &Known<'_>) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(known)?;
    simplify(&mut value);
    Ok(value)
}

fn simplify(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(fields) => {
            // The system's strings come as bytes under the system's name.
            if let (1, Some(bytes)) = (fields.len(), fields.get("Unix").and_then(bytes)) {
                *value = Value::String(String::from_utf8_lossy(&bytes).into_owned());
                return;
            }
            for (key, field) in fields.iter_mut() {
                match bytes(field) {
                    Some(code) if key == CODE => *field = Value::String(hexadecimal(&code)),
                    Some(text) if TEXTS.contains(&key.as_str()) => {
                        *field = Value::String(String::from_utf8_lossy(&text).into_owned());
                    }
                    _ => simplify(field),
                }
            }
        }
        _ => {}
    }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    value.as_array()?.iter().map(|item| item.as_u64().and_then(|byte| u8::try_from(byte).ok())).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bytes_become_text() {
        let mut value = json!({
            "words": [{"Unix": [97, 98]}],
            "seccomp": [{"program": [1, 255], "flags": 3}],
            "content": [104, 105],
            "groups": [1, 2],
        });
        simplify(&mut value);
        let expected = json!({
            "words": ["ab"],
            "seccomp": [{"program": "01ff", "flags": 3}],
            "content": "hi",
            "groups": [1, 2],
        });
        assert_eq!(value, expected);
    }
}
