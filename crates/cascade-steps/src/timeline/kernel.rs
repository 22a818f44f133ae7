//! One kernel launch of a step.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::read::MaybeText;
use super::{Extra, Out, Read, Shapes, read_text};
use crate::Provenance;

/// What kernels of one code and launch shape have in common; stored once for each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The function's name, mangled as the profiler gave it.
    pub name: String,
    /// CTAs, as `XxYxZ`.
    pub grid: Option<String>,
    /// Threads of a CTA, as `XxYxZ`.
    pub block: Option<String>,
}

impl Shape {
    /// A kernel with its CTAs and threads of a CTA, where they are known.
    pub fn new(name: &str, grid: Option<(u32, u32, u32)>, block: Option<(u32, u32, u32)>) -> Self {
        let text = |(x, y, z): (u32, u32, u32)| format!("{x}x{y}x{z}");
        Self {
            name: name.to_owned(),
            grid: grid.map(text),
            block: block.map(text),
        }
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name.as_str(), self.grid.as_deref(), self.block.as_deref()).hash(state);
    }
}

/// One launch of a kernel in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its number, unique in its step.
    pub seq: i64,
    /// Name, grid and block.
    pub shape: Arc<Shape>,
    /// How long it ran, in ns.
    pub duration_ns: f64,
    /// From the start of the profiled step to its start, in ns.
    pub start_offset_ns: Option<f64>,
    /// Where a simulated duration came from; none where `duration_ns` was measured.
    pub provenance: Option<Provenance>,
    /// Fields that have no name here.
    pub extra: Option<Box<Extra>>,
}

impl Kernel {
    /// A measured kernel.
    pub fn new(seq: i64, shape: Arc<Shape>, duration_ns: f64, start_offset_ns: Option<f64>) -> Self {
        Self {
            seq,
            shape,
            duration_ns,
            start_offset_ns,
            provenance: None,
            extra: None,
        }
    }
}

impl<'de> Read<'de> for Kernel {
    fn read<D: Deserializer<'de>>(deserializer: D, shapes: &mut Shapes) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(shapes))
    }
}

struct Fields<'a>(&'a mut Shapes);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = Kernel;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kernel")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kernel, A::Error> {
        let (mut seq, mut duration_ns, mut start_offset_ns) = (None, None, None);
        let (mut name, mut grid, mut block) = (None, None, None);
        let (mut provenance, mut extra) = (None, None::<Box<Extra>>);
        while let Some(key) = map.next_key_seed(read_text())? {
            let field = |e: A::Error| de::Error::custom(format_args!("{key}: {e}"));
            match &*key {
                "seq" => seq = Some(map.next_value().map_err(field)?),
                "name" => name = Some(map.next_value_seed(read_text()).map_err(field)?),
                "grid" => grid = map.next_value_seed(MaybeText).map_err(field)?,
                "block" => block = map.next_value_seed(MaybeText).map_err(field)?,
                "duration_ns" => duration_ns = Some(map.next_value().map_err(field)?),
                "start_offset_ns" => start_offset_ns = map.next_value().map_err(field)?,
                "provenance" => provenance = map.next_value().map_err(field)?,
                _ => {
                    extra
                        .get_or_insert_default()
                        .insert(key.into_owned(), map.next_value()?);
                }
            }
        }
        let name = name.ok_or_else(|| de::Error::missing_field("name"))?;
        Ok(Kernel {
            seq: seq.ok_or_else(|| de::Error::missing_field("seq"))?,
            shape: self.0.intern(&name, grid.as_deref(), block.as_deref()),
            duration_ns: duration_ns.ok_or_else(|| de::Error::missing_field("duration_ns"))?,
            start_offset_ns,
            provenance,
            extra,
        })
    }
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("name", &self.shape.name)?;
        map.serialize_entry("grid", &self.shape.grid)?;
        map.serialize_entry("block", &self.shape.block)?;
        map.serialize_entry("duration_ns", &Out(&self.duration_ns))?;
        map.serialize_entry("start_offset_ns", &Out(&self.start_offset_ns))?;
        if let Some(provenance) = &self.provenance {
            map.serialize_entry("provenance", provenance)?;
        }
        for (key, value) in self.extra.iter().flat_map(|extra| extra.iter()) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
