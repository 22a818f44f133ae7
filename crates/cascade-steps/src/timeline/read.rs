//! Reading with a table of kernel shapes at hand, so that a name is stored once.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

use indexmap::{Equivalent, IndexSet};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Extra, Shape, Stamp};

/// A type that is read with the table of shapes.
pub(crate) trait Read<'de>: Sized {
    /// Reads one value.
    fn read<D: Deserializer<'de>>(deserializer: D, shapes: &mut Shapes) -> Result<Self, D::Error>;

    /// Reads the value of the key just seen.
    fn next<A: MapAccess<'de>>(map: &mut A, shapes: &mut Shapes) -> Result<Self, A::Error> {
        map.next_value_seed(Seed(shapes, PhantomData))
    }
}

struct Seed<'a, T>(&'a mut Shapes, PhantomData<T>);

impl<'de, T: Read<'de>> DeserializeSeed<'de> for Seed<'_, T> {
    type Value = T;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer, self.0)
    }
}

/// Reads a type through serde alone.
macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl<'de> Read<'de> for $ty {
            fn read<D: Deserializer<'de>>(deserializer: D, _: &mut Shapes) -> Result<Self, D::Error> {
                serde::Deserialize::deserialize(deserializer)
            }
        }
    )*};
}
plain!(bool, i64, u64, f64, String, Stamp, Extra);
plain!(
    Option<bool>,
    Option<i64>,
    Option<u64>,
    Option<f64>,
    Option<String>,
    Option<Stamp>
);

impl<'de, T: Read<'de>> Read<'de> for Vec<T> {
    fn read<D: Deserializer<'de>>(deserializer: D, shapes: &mut Shapes) -> Result<Self, D::Error> {
        struct Items<'a, T>(&'a mut Shapes, PhantomData<T>);
        impl<'de, T: Read<'de>> Visitor<'de> for Items<'_, T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
                let mut items = Vec::new();
                loop {
                    match seq.next_element_seed(Seed(&mut *self.0, PhantomData)) {
                        Ok(Some(item)) => items.push(item),
                        Ok(None) => return Ok(items),
                        Err(e) => return Err(de::Error::custom(format_args!("[{}]: {e}", items.len()))),
                    }
                }
            }
        }
        deserializer.deserialize_seq(Items(shapes, PhantomData))
    }
}

/// Reads text without copying it where the input holds it as it is.
pub(crate) fn read_text() -> Text {
    Text
}

/// The seed of [`read_text`].
pub(crate) struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Reads text or null.
pub(crate) struct MaybeText;

impl<'de> DeserializeSeed<'de> for MaybeText {
    type Value = Option<Cow<'de, str>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for MaybeText {
    type Value = Option<Cow<'de, str>>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or null")
    }
    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Text.deserialize(deserializer).map(Some)
    }
}

/// The shapes met so far: kernels of one shape share one.
#[derive(Default)]
pub(crate) struct Shapes(IndexSet<Arc<Shape>>);

impl Shapes {
    /// The shared shape of a name, grid and block.
    pub(crate) fn intern(&mut self, name: &str, grid: Option<&str>, block: Option<&str>) -> Arc<Shape> {
        let wanted = Wanted { name, grid, block };
        if let Some(shape) = self.0.get(&wanted) {
            return Arc::clone(shape);
        }
        let shape = Arc::new(Shape {
            name: name.to_owned(),
            grid: grid.map(str::to_owned),
            block: block.map(str::to_owned),
        });
        self.0.insert(Arc::clone(&shape));
        shape
    }
}

/// A shape that is looked for; hashes as [`Shape`] does.
struct Wanted<'a> {
    name: &'a str,
    grid: Option<&'a str>,
    block: Option<&'a str>,
}

impl Hash for Wanted<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.grid, self.block).hash(state);
    }
}

impl Equivalent<Arc<Shape>> for Wanted<'_> {
    fn equivalent(&self, shape: &Arc<Shape>) -> bool {
        shape.name == self.name && shape.grid.as_deref() == self.grid && shape.block.as_deref() == self.block
    }
}
