//! A macro for objects that keep the fields they do not know.

/// Declares a struct with its reading and writing. A field's mode says what absence means:
/// `must` is an error, `null` is written as null, `maybe` is left out again, `list` is empty.
///
/// serde's own `flatten` would copy each step with all its kernels into a buffer first, and its errors do
/// not name the field.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $mode:ident $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
            /// Fields that have no name here.
            pub extra: $crate::timeline::Extra,
        }

        impl<'de> $crate::timeline::Read<'de> for $name {
            fn read<D: serde::Deserializer<'de>>(
                deserializer: D,
                shapes: &mut $crate::timeline::Shapes,
            ) -> Result<Self, D::Error> {
                struct Fields<'a>(&'a mut $crate::timeline::Shapes);
                impl<'de> serde::de::Visitor<'de> for Fields<'_> {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut extra = $crate::timeline::Extra::new();
                        $(let mut $field: Option<$ty> = None;)*
                        while let Some(key) = map.next_key_seed($crate::timeline::read_text())? {
                            match &*key {
                                $(stringify!($field) => {
                                    let value = $crate::timeline::Read::next(&mut map, self.0);
                                    $field = Some(value.map_err(|e| {
                                        serde::de::Error::custom(format_args!("{}: {e}", stringify!($field)))
                                    })?);
                                })*
                                _ => {
                                    extra.insert(key.into_owned(), map.next_value()?);
                                }
                            }
                        }
                        Ok($name {
                            $($field: $crate::timeline::record!(@take $mode $field extra),)*
                            extra,
                        })
                    }
                }
                deserializer.deserialize_map(Fields(shapes))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $($crate::timeline::record!(@put $mode map self $field);)*
                for (key, value) in &self.extra {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    };
    (@take must $field:ident $extra:ident) => {
        $field.ok_or_else(|| serde::de::Error::missing_field(stringify!($field)))?
    };
    (@take null $field:ident $extra:ident) => {
        $field.flatten()
    };
    // An explicit null is kept as an unnamed field, so that it is written again.
    (@take maybe $field:ident $extra:ident) => {
        match $field {
            Some(None) => {
                $extra.insert(stringify!($field).to_owned(), serde_json::Value::Null);
                None
            }
            value => value.flatten(),
        }
    };
    (@take list $field:ident $extra:ident) => {
        $field.unwrap_or_default()
    };
    (@put maybe $map:ident $self:ident $field:ident) => {
        if $self.$field.is_some() {
            $map.serialize_entry(stringify!($field), &$crate::timeline::Out(&$self.$field))?;
        }
    };
    (@put $mode:ident $map:ident $self:ident $field:ident) => {
        $map.serialize_entry(stringify!($field), &$crate::timeline::Out(&$self.$field))?
    };
}

pub(crate) use record;
