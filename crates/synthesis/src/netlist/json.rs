//! The form of the file.

use super::Signal;
use super::entries::Entries;
use crate::error::Result;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

/// What a module is made of, taken on as it is read: a file may have millions of cells.
pub(super) trait Parts: Default {
    fn ports(&mut self, ports: Ordered<RawPort>);
    fn cell(&mut self, name: String, cell: RawCell);
    fn wire(&mut self, name: String, wire: RawWire);
}

/// Reads a file a cell at a time.
pub(super) fn read<T: Parts>(from: impl Read) -> Result<File<T>> {
    let mut file = File { creator: String::new(), modules: None };
    let mut entries = Entries::new(from);
    entries.each(|entries, key| {
        match key.as_str() {
            "creator" => file.creator = entries.value()?,
            "modules" => {
                let modules = file.modules.get_or_insert_with(Vec::new);
                entries.each(|entries, name| {
                    modules.push((name, module(entries)?));
                    Ok(())
                })?;
            }
            _ => entries.skip()?,
        }
        Ok(())
    })?;
    entries.end()?;
    Ok(file)
}

fn module<T: Parts>(entries: &mut Entries<impl Read>) -> Result<RawModule<T>> {
    let mut module = RawModule { attributes: Ordered::default(), parameters: Ordered::default(), parts: T::default() };
    entries.each(|entries, key| {
        let parts = &mut module.parts;
        match key.as_str() {
            "attributes" => module.attributes = entries.value()?,
            "parameter_default_values" => module.parameters = entries.value()?,
            "ports" => parts.ports(entries.value()?),
            "cells" => entries.each(|entries, name| {
                parts.cell(name, entries.value()?);
                Ok(())
            })?,
            "netnames" => entries.each(|entries, name| {
                parts.wire(name, entries.value()?);
                Ok(())
            })?,
            _ => entries.skip()?,
        }
        Ok(())
    })?;
    Ok(module)
}

pub(super) struct File<T> {
    pub creator: String,
    /// None if the file does not speak of modules.
    pub modules: Option<Vec<(String, RawModule<T>)>>,
}

pub(super) struct RawModule<T> {
    pub attributes: Ordered<Parameter>,
    pub parameters: Ordered<Parameter>,
    pub parts: T,
}

#[derive(Deserialize)]
pub(super) struct RawPort {
    pub direction: String,
    pub bits: Vec<RawBit>,
    #[serde(default)]
    pub signed: u32,
}

#[derive(Deserialize)]
pub(super) struct RawCell {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub parameters: Ordered<Parameter>,
    #[serde(default)]
    pub attributes: Ordered<Parameter>,
    #[serde(default, rename = "port_directions")]
    pub directions: Ordered<String>,
    #[serde(default)]
    pub connections: Ordered<Vec<RawBit>>,
}

#[derive(Deserialize)]
pub(super) struct RawWire {
    #[serde(default)]
    pub bits: Vec<RawBit>,
    #[serde(default)]
    pub attributes: Ordered<Parameter>,
}

/// An object as it stands: its order is that of the ports.
pub(super) struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Ordered(Vec::new())
    }
}

impl<T> Ordered<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        super::find(&self.0, name)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Ordered<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        from.deserialize_map(Entries(PhantomData))
    }
}

/// The number of a net, or a constant.
#[derive(Clone, Copy)]
pub(super) enum RawBit {
    Net(u64),
    Constant(Signal),
}

impl<'de> Deserialize<'de> for RawBit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Bit;
        impl Visitor<'_> for Bit {
            type Value = RawBit;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(r#"the number of a net, "0", "1", "x" or "z""#)
            }

            fn visit_u64<E>(self, net: u64) -> std::result::Result<RawBit, E> {
                Ok(RawBit::Net(net))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<RawBit, E> {
                Ok(RawBit::Constant(match text {
                    "0" => Signal::Zero,
                    "1" => Signal::One,
                    "x" => Signal::Unknown,
                    "z" => Signal::Floating,
                    _ => return Err(E::custom(format_args!("'{text}' is no bit"))),
                }))
            }
        }
        from.deserialize_any(Bit)
    }
}

/// A parameter or an attribute: a string of bits, the highest first, a text, or a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// Bits or a text; the file does not tell them apart.
    Text(String),
    /// A number.
    Number(u64),
}

impl Parameter {
    /// As a text.
    pub fn text(&self) -> String {
        match self {
            // A text that looks like bits is written with a space behind it.
            Parameter::Text(text) => text.trim_end().to_string(),
            Parameter::Number(number) => number.to_string(),
        }
    }

    /// As a number, unless it is none or too large.
    pub fn number(&self) -> Option<usize> {
        match self {
            Parameter::Number(number) => usize::try_from(*number).ok(),
            Parameter::Text(bits) => {
                let digits = bits.trim_start_matches('0');
                let digits = if digits.is_empty() && !bits.is_empty() { "0" } else { digits };
                usize::from_str_radix(digits, 2).ok().filter(|_| digits.len() < 48)
            }
        }
    }

    /// Whether a bit of it is one.
    pub fn is_set(&self) -> bool {
        match self {
            Parameter::Number(number) => *number != 0,
            Parameter::Text(bits) => bits.contains('1'),
        }
    }

    /// Its bits, the lowest first; what is neither 0 nor 1 is none.
    pub fn bits(&self) -> Vec<Option<bool>> {
        match self {
            Parameter::Number(number) => (0..64).map(|i| Some(number >> i & 1 == 1)).collect(),
            Parameter::Text(bits) => bits.bytes().rev().map(bit).collect(),
        }
    }
}

fn bit(digit: u8) -> Option<bool> {
    match digit {
        b'0' => Some(false),
        b'1' => Some(true),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Value;
        impl Visitor<'_> for Value {
            type Value = Parameter;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string or a number")
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Parameter, E> {
                Ok(Parameter::Number(number))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Parameter, E> {
                // As a parameter in bits has it.
                Ok(Parameter::Text(format!("{number:b}")))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Parameter, E> {
                Ok(Parameter::Text(text.to_string()))
            }
        }
        from.deserialize_any(Value)
    }
}
