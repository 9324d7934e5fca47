//! How values are written on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use duologue::channel::Link;
use duologue::circuit::Port;
use duologue::circuit::blocks::Goal;
use duologue::cost::choice::Wish;
use duologue::{Garbling, Party, Scheme, Timing};
use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use values::Location;

/// `100M`, `500k`, `1G` or plain digits.
pub fn number(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((end, 'k' | 'K')) => (&text[..end], 1_000),
        Some((end, 'M')) => (&text[..end], 1_000_000),
        Some((end, 'G')) => (&text[..end], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "write a number such as 500k, 100M or 1G")?;
    let product = number.checked_mul(factor).filter(|&number| number <= 1 << 40);
    product.ok_or_else(|| "that is more than a pool can be: 2^40".into())
}

/// `6.8ns`, `25us` or `0.1ms`, in nanoseconds.
pub fn nanoseconds(text: &str) -> Result<f64, String> {
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6)];
    let time = units.iter().find_map(|(unit, scale)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * scale));
    time.filter(|time| (0.0..=1e9).contains(time)).ok_or_else(|| "write a time such as 6.8ns, 25us or 0.1ms".into())
}

pub fn party() -> impl TypedValueParser<Value = Party> {
    PossibleValuesParser::new(["alice", "bob"]).map(|name| match &*name {
        "alice" => Party::Alice,
        _ => Party::Bob,
    })
}

pub fn garbling() -> impl TypedValueParser<Value = Garbling> {
    PossibleValuesParser::new(Garbling::ALL.map(Garbling::name)).try_map(|name| name.parse::<Garbling>())
}

pub fn scheme() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::ALL.map(Scheme::name)).try_map(|name| name.parse::<Scheme>())
}

const AUTO: &str = "auto";

/// A protocol, or that it is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// By prediction, for the line that is assumed.
    Auto,
    This(Scheme),
}

pub fn protocol() -> impl TypedValueParser<Value = Protocol> {
    let names = Scheme::ALL.map(Scheme::name).into_iter().chain([AUTO]);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Protocol>())
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            AUTO => Ok(Protocol::Auto),
            named => named
                .parse()
                .map(Protocol::This)
                .map_err(|why: duologue::Error| format!("{AUTO}, or a protocol: {why}")),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protocol::Auto => f.write_str(AUTO),
            Protocol::This(scheme) => scheme.fmt(f),
        }
    }
}

pub fn wish() -> impl TypedValueParser<Value = Wish> {
    PossibleValuesParser::new(Wish::ALL.map(Wish::name)).try_map(|name| name.parse::<Wish>())
}

/// One protocol, or Yao and GMW.
pub fn schemes() -> impl TypedValueParser<Value = Schemes> {
    let names = Scheme::ALL.map(Scheme::name).into_iter().chain(["both"]);
    PossibleValuesParser::new(names).try_map(|name| match &*name {
        "both" => Ok(Schemes(vec![Scheme::Yao, Scheme::Gmw])),
        name => name.parse::<Scheme>().map(|scheme| Schemes(vec![scheme])),
    })
}

/// Protocols to compare.
#[derive(Clone, Debug)]
pub struct Schemes(pub Vec<Scheme>);

pub fn timing() -> impl TypedValueParser<Value = Timing> {
    PossibleValuesParser::new(["auto", "ahead", "streamed"]).map(|name| match &*name {
        "ahead" => Timing::Ahead,
        "streamed" => Timing::Streamed,
        _ => Timing::Auto,
    })
}

pub fn goal() -> impl TypedValueParser<Value = Goal> {
    PossibleValuesParser::new(["size", "depth"]).map(|name| match &*name {
        "depth" => Goal::Depth,
        _ => Goal::Size,
    })
}

/// `NAME=VALUE`.
#[derive(Clone, Debug)]
pub struct Pair<T> {
    pub name: String,
    pub value: T,
}

impl<T: FromStr<Err: std::fmt::Display>> FromStr for Pair<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
        let value = value.parse().map_err(|why: T::Err| format!("'{value}' after '{name}=': {why}"))?;
        let name = name.to_string();
        Ok(Pair { name, value })
    }
}

/// Where an input comes from: `NAME=SOURCE`; or a table, for all inputs that have the name of one of its columns; or a folder,
/// for all inputs that have the name of one of its files.
#[derive(Clone, Debug)]
pub struct Source {
    /// The input, unless it is a table or a folder for several.
    pub name: Option<String>,
    pub value: String,
}

impl FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) => Ok(Source { name: Some(name.into()), value: value.into() }),
            None if Location::is_table(text) || Path::new(text).is_dir() => {
                Ok(Source { name: None, value: text.into() })
            }
            None => Err(
                "write NAME=SOURCE, or FILE.csv for all inputs that have the name of a column, or a folder that is there",
            ),
        }
    }
}

/// `7100-7199`, or one port.
pub fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
    match (port(from), port(to)) {
        (Some(from), Some(to)) if from <= to => Ok(from..=to),
        _ => Err("write FROM-TO, two numbers from 1 to 65535, the lower first".into()),
    }
}

/// The name or the address of a machine, without a port.
pub fn host(text: &str) -> Result<String, String> {
    let is_address = text.parse::<IpAddr>().is_ok();
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    if (is_address || is_name) && text.len() <= 255 { Ok(text.into()) } else { Err(HOST.into()) }
}

const HOST: &str = "write a name or an address, without brackets and without a port: --ports says which ports";

/// `NAME:TYPE`, a port of a circuit.
pub fn port(text: &str) -> Result<Port, String> {
    let (name, ty) = text.rsplit_once(':').ok_or("write NAME:TYPE, such as \"key:bits(128)\"")?;
    let ty = ty.parse().map_err(|why: duologue::circuit::Error| why.to_string())?;
    Ok(Port::new(name, ty))
}

/// A simulated line, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PerhapsLink(pub Option<Link>);

pub fn perhaps_link(text: &str) -> Result<PerhapsLink, duologue::Error> {
    if text == "none" { Ok(PerhapsLink(None)) } else { text.parse().map(|link| PerhapsLink(Some(link))) }
}
