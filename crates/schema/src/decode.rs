//! From the tree to types: a serde deserializer whose errors know the key and its place.

use crate::fault::{Fault, Kind};
use crate::node::{Entry, Node, Value};
use crate::suggest::same_key;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Reads a value; the error has the path of the key and its place.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(Reader(node)).map_err(|mut fault| {
        fault.place.get_or_insert(node.at);
        fault
    })
}

struct Reader<'a>(&'a Node);

impl<'a> Reader<'a> {
    fn text(&self, expected: &str) -> Result<&'a str, Fault> {
        match &self.0.value {
            Value::Scalar { text, .. } if !self.0.is_null() => Ok(text),
            _ => Err(Fault::wrong_type(self.0, expected)),
        }
    }

    /// Text of an unquoted word.
    fn plain(&self, expected: &str) -> Result<&'a str, Fault> {
        match &self.0.value {
            Value::Scalar { text, plain: true } if !self.0.is_null() => Ok(text),
            _ => Err(Fault::wrong_type(self.0, expected)),
        }
    }

    fn number(&self) -> Result<u64, Fault> {
        let text = self.plain("a number")?;
        let digits = text.strip_prefix('+').unwrap_or(text);
        let number = match (digits.strip_prefix("0x"), digits.strip_prefix("0o")) {
            (Some(hex), _) => u64::from_str_radix(hex, 16),
            (_, Some(octal)) => u64::from_str_radix(octal, 8),
            _ => digits.parse(),
        };
        number.map_err(|_| Fault::wrong_type(self.0, "a whole number from 0"))
    }

    fn entries(&self, fields: &'static [&'static str]) -> Result<Entries<'a>, Fault> {
        match &self.0.value {
            Value::Map(entries) => {
                refuse_twice(entries)?;
                Ok(Entries { entries: entries.iter(), fields, value: None })
            }
            _ => Err(Fault::wrong_type(self.0, "a section, that is `key: value` lines")),
        }
    }
}

/// Keys are compared with dashes and underscores equal.
fn refuse_twice(entries: &[Entry]) -> Result<(), Fault> {
    let mut sorted: Vec<(String, usize)> =
        entries.iter().enumerate().map(|(index, e)| (e.key.replace('-', "_"), index)).collect();
    sorted.sort();
    // of several pairs the one that comes first in the file
    let twice = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).min_by_key(|pair| pair[1].1);
    match twice {
        Some(pair) => {
            let (first, second) = (&entries[pair[0].1], &entries[pair[1].1]);
            let kind = Kind::DuplicateKey { key: second.key.clone(), first: first.at.line };
            Err(Fault::new(kind).at(second.at))
        }
        None => Ok(()),
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            _ if self.0.is_null() => visitor.visit_unit(),
            Value::Scalar { text, .. } => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter(), index: 0 }),
            Value::Map(_) => visitor.visit_map(self.entries(&[])?),
        }
        .map_err(|fault| fault.at(self.0.at))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.plain("true or false")? {
            "true" | "True" | "TRUE" => visitor.visit_bool(true),
            "false" | "False" | "FALSE" => visitor.visit_bool(false),
            _ => Err(Fault::wrong_type(self.0, "true or false")),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_u64(self.number()?).map_err(|fault: Fault| fault.at(self.0.at))
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_u32(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.text("text")?).map_err(|fault: Fault| fault.at(self.0.at))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::List(items) => visitor.visit_seq(Items { items: items.iter(), index: 0 }),
            _ => Err(Fault::wrong_type(self.0, "a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(self.entries(&[])?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_map(self.entries(fields)?)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct enum identifier ignored_any
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let step = format!("[{}]", self.index);
        self.index += 1;
        seed.deserialize(Reader(node)).map(Some).map_err(|fault| fault.at(node.at).inside(step))
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    /// Keys of the section, empty for a map with free keys.
    fields: &'static [&'static str],
    value: Option<&'a Entry>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(entry);
        let key = self.fields.iter().find(|field| same_key(&entry.key, field)).copied().unwrap_or(&entry.key);
        let key = de::value::StrDeserializer::new(key);
        seed.deserialize(key).map(Some).map_err(|fault: Fault| fault.at(entry.at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let Some(entry) = self.value.take() else {
            return Err(de::Error::custom("a value without a key"));
        };
        seed.deserialize(Reader(&entry.value)).map_err(|fault| fault.at(entry.value.at).inside(&entry.key))
    }
}
