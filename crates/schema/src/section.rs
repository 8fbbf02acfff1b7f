//! How sections of a file are declared: one declaration per key gives the field, its (de)serialisation,
//! its merging and its line in the key reference, so that none of them can forget a key.

use std::collections::BTreeMap;

/// One known key, for documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDoc {
    /// Full path as written, lists marked with `[]`: `probes[].timeout`.
    pub path: String,
    /// What the key means, one line.
    pub meaning: &'static str,
}

/// What every value of a file can do.
pub(crate) trait Field: Sized {
    /// Lays `over` above `self`: sections and maps merge key by key, everything else is replaced.
    fn merge(&mut self, over: Self) {
        *self = over;
    }

    /// Appends the keys found below a value of this type; `prefix` is the path of the value itself.
    fn describe(prefix: &str, out: &mut Vec<KeyDoc>) {
        let _ = (prefix, out);
    }
}

impl<T: Field> Field for Option<T> {
    fn merge(&mut self, over: Self) {
        match (self.as_mut(), over) {
            (Some(base), Some(over)) => base.merge(over),
            (None, over) => *self = over,
            (Some(_), None) => {}
        }
    }

    fn describe(prefix: &str, out: &mut Vec<KeyDoc>) {
        T::describe(prefix, out);
    }
}

impl<T: Field> Field for Vec<T> {
    fn describe(prefix: &str, out: &mut Vec<KeyDoc>) {
        T::describe(&format!("{prefix}[]"), out);
    }
}

impl<T: Field> Field for BTreeMap<String, T> {
    fn merge(&mut self, over: Self) {
        for (key, value) in over {
            match self.get_mut(&key) {
                Some(base) => base.merge(value),
                None => {
                    self.insert(key, value);
                }
            }
        }
    }
}

impl Field for String {}
impl Field for bool {}
impl Field for u32 {}

pub(crate) fn describe_key<T: Field>(prefix: &str, key: &str, meaning: &'static str, out: &mut Vec<KeyDoc>) {
    let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    out.push(KeyDoc { path: path.clone(), meaning: meaning.trim() });
    T::describe(&path, out);
}

/// Declares a section: every key is optional, unknown keys are refused, unset keys are not written.
///
/// `field("key")` gives a key that cannot be a Rust name.
macro_rules! section {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[doc = $doc:literal])+ pub $field:ident $(($key:literal))? : $ty:ty, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde(rename = $key)])?
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$ty>,
            )+
        }

        impl $crate::section::Field for $name {
            fn merge(&mut self, over: Self) {
                // no `..`: a key that is not merged does not compile
                let Self { $($field),+ } = over;
                $( $crate::section::Field::merge(&mut self.$field, $field); )+
            }

            fn describe(prefix: &str, out: &mut Vec<$crate::section::KeyDoc>) {
                $(
                    $crate::section::describe_key::<$ty>(
                        prefix,
                        $crate::section::section!(@key $field $($key)?),
                        concat!($($doc),+),
                        out,
                    );
                )+
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

pub(crate) use section;
