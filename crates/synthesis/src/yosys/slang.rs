//! What read_slang knows of a module's ports and does not leave in the netlist: their order, and which are signed.
//!
//! With `--dump-ast` it writes the elaborated design before anything else, as a tree of symbols in JSON. The ports of the
//! top module stand there in their order, each with its type; a type that has a name is the number of another symbol.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::{fmt, io};

/// A port of the top module, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Whether it is in two's complement.
    pub signed: bool,
}

/// A module that no other contains, and its ports.
type Top = (String, Vec<Declared>);

/// The modules that no other contains with their ports, and how many bytes of the text say so.
pub(super) fn tops(text: impl io::Read) -> Option<(Vec<Top>, usize)> {
    let mut values = serde_json::Deserializer::from_reader(text).into_iter::<Symbol>();
    let root = values.next()?.ok()?;
    let mut types = FxHashMap::default();
    note(&root, &mut types);
    let instances = root.members.iter().filter(|symbol| symbol.kind == "Instance");
    let ports = |instance: &Symbol| {
        let body = instance.body.iter().flat_map(|body| &body.members);
        let port = |port: &Symbol| Declared { name: port.name.clone(), signed: is_signed(&port.ty, &types, 0) };
        body.filter(|symbol| symbol.kind == "Port").map(port).collect()
    };
    let tops = instances.map(|instance| (instance.name.clone(), ports(instance))).collect();
    Some((tops, values.byte_offset()))
}

/// The types that have names, by their numbers.
fn note<'a>(symbol: &'a Symbol, types: &mut FxHashMap<u64, &'a str>) {
    if matches!(symbol.kind.as_str(), "TypeAlias" | "EnumType") {
        types.insert(symbol.addr, &symbol.target);
    }
    symbol.members.iter().chain(symbol.body.as_deref()).for_each(|inner| note(inner, types));
}

/// The most names that a type has one behind the other.
const MOST_NAMES: usize = 100;

fn is_signed(ty: &str, types: &FxHashMap<u64, &str>, names: usize) -> bool {
    if let Some((number, _)) = ty.split_once(' ')
        && let Ok(number) = number.parse()
    {
        let named = types.get(&number).filter(|_| names < MOST_NAMES);
        return named.is_some_and(|target| is_signed(target, types, names + 1));
    }
    let of = |end: char| ty.split(end).next().unwrap_or_default();
    let (first, head) = (of(' ').split('[').next().unwrap_or_default(), of('['));
    match first {
        "int" | "byte" | "shortint" | "longint" | "integer" => !head.contains("unsigned"),
        "logic" | "reg" | "bit" => head.ends_with(" signed"),
        _ => of('{').ends_with(" signed"),
    }
}

/// A symbol: of what it has, that which leads to ports and their types.
#[derive(Default)]
struct Symbol {
    name: String,
    kind: String,
    addr: u64,
    ty: String,
    /// What a name of a type stands for, and the base of an enumeration.
    target: String,
    members: Vec<Symbol>,
    body: Option<Box<Symbol>>,
}

/// What stands behind a key: whatever has no meaning here is nothing.
enum Part {
    Symbol(Symbol),
    List(Vec<Symbol>),
    Text(String),
    Number(u64),
    Nothing,
}

impl<'de> Deserialize<'de> for Symbol {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Symbol, D::Error> {
        match Part::deserialize(from)? {
            Part::Symbol(symbol) => Ok(symbol),
            _ => Ok(Symbol::default()),
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Part, D::Error> {
        from.deserialize_any(Parts)
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a part of a design")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let mut symbol = Symbol::default();
        while let Some(key) = map.next_key::<String>()? {
            // Statements and expressions stand as deep as they were written; they are skipped without being entered.
            let wanted = match key.as_str() {
                "name" | "kind" | "addr" | "type" | "target" | "baseType" | "members" => true,
                "body" => symbol.kind == "Instance",
                _ => false,
            };
            if !wanted {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            match (key.as_str(), map.next_value::<Part>()?) {
                ("name", Part::Text(name)) => symbol.name = name,
                ("kind", Part::Text(kind)) => symbol.kind = kind,
                ("type", Part::Text(ty)) => symbol.ty = ty,
                ("target" | "baseType", Part::Text(target)) => symbol.target = target,
                ("addr", Part::Number(addr)) => symbol.addr = addr,
                ("members", Part::List(members)) => symbol.members = members,
                ("body", Part::Symbol(body)) => symbol.body = Some(Box::new(body)),
                _ => {}
            }
        }
        Ok(Part::Symbol(symbol))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Part, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = list.next_element()? {
            members.push(member);
        }
        Ok(Part::List(members))
    }

    fn visit_str<E>(self, text: &str) -> Result<Part, E> {
        Ok(Part::Text(text.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Part, E> {
        Ok(Part::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Part, E> {
        Ok(Part::Nothing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Part, E> {
        Ok(Part::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Part, E> {
        Ok(Part::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_signed_as_the_standard_has_them() {
        let named = [(1, "logic signed[7:0]"), (2, "1 q::s8"), (3, "int"), (4, "logic[1:0]"), (5, "5 loop")];
        let types: FxHashMap<u64, &str> = named.into_iter().collect();
        for (ty, signed) in [
            ("logic", false),
            ("logic[7:0]", false),
            ("logic signed[3:0][1:0]", true),
            ("reg signed", true),
            ("int", true),
            ("int unsigned", false),
            ("byte[1:0]", true),
            ("struct packed{logic signed[7:0] a;}p::s$1", false),
            ("struct packed signed{logic[2:0] a;}q::s$1", true),
            ("1 q::s8", true),
            ("2 m.T", true),
            ("3 e", true),
            ("4 f", false),
            ("5 loop", false),
            ("6 nothing", false),
            ("", false),
        ] {
            assert_eq!(is_signed(ty, &types, 0), signed, "{ty}");
        }
    }

    #[test]
    fn what_is_no_design_is_none() {
        for text in ["", "[", "{\"members\":[{\"members\":", "{\"body\": 1.5"] {
            assert!(tops(text.as_bytes()).is_none(), "{text}");
        }
        let (tops, _) =
            tops(&b"{\"members\":[-1,null,true,{\"kind\":\"Instance\",\"name\":\"m\",\"body\":{}}]} {"[..]).unwrap();
        assert_eq!(tops, [("m".to_string(), Vec::new())]);
    }
}
