//! Ports in formats that know bits alone: `a[0]`, `a[1]`, … in this order are a port `a`.

use crate::error::{Error, Result, counted};
use crate::graph::{Circuit, Port, Type, bits, check_name};
use crate::program::Party;
use std::collections::{BTreeMap, HashSet};

/// Who supplies each input and who learns each output, in the order of the ports, as far as a file says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parties {
    /// Of the inputs.
    pub inputs: Vec<Option<Party>>,
    /// Of the outputs; one that nobody is named for goes to both.
    pub outputs: Vec<Option<Party>>,
}

/// The bits of the ports in this order, with other names and types: first all inputs; outputs that are not given keep theirs.
///
/// # Errors
/// If the widths do not fit.
pub fn with_ports(circuit: Circuit, ports: &[Port]) -> Result<Circuit> {
    let (inputs, rest) = taken("input", circuit.input_width(), ports)?;
    let (outputs, rest) = match rest {
        [] => (circuit.outputs(), rest),
        _ => taken("output", circuit.output_width(), rest)?,
    };
    if let [port, ..] = rest {
        return Err(Error::usage(format!("the port '{}' is one more than the circuit has bits for", port.name)));
    }
    let (name, gates) = (circuit.name().to_owned(), circuit.gates().to_vec());
    let (nodes, bits) = (circuit.input_nodes().to_vec(), circuit.output_bits().to_vec());
    Circuit::from_parts(name, gates, inputs.to_vec(), outputs.to_vec(), nodes, bits)
}

/// The first ports that have so many bits together, and the others.
fn taken<'a>(side: &str, width: usize, ports: &'a [Port]) -> Result<(&'a [Port], &'a [Port])> {
    let (mut count, mut total) = (0, 0);
    while total < width as u64 {
        let Some(port) = ports.get(count) else {
            let (bits, given) = (counted(width as u64, &format!("{side} bit")), counted(total, "bit"));
            return Err(Error::usage(format!("the circuit has {bits}, and the ports have {given} together")));
        };
        total += u64::from(port.ty.width);
        count += 1;
    }
    match ports.get(count.wrapping_sub(1)) {
        Some(port) if total > width as u64 => {
            let before = width as u64 + u64::from(port.ty.width) - total;
            let room = counted(before, &format!("{side} bit"));
            let why = format!("the port '{}' is {}, and there is room for {room}", port.name, port.ty);
            Err(Error::usage(why))
        }
        _ => Ok(ports.split_at(count)),
    }
}

/// The names of bits as a file has them; bits in a row without a name become one port.
pub(super) type Names = Vec<Option<String>>;

/// The ports of these bits: names and types.
pub(super) fn grouped(names: &[Option<String>], default: &str) -> Vec<Port> {
    let (mut ports, mut taken, mut at) = (Vec::new(), HashSet::new(), 0);
    while at < names.len() {
        let (wanted, width) = word(&names[at..]);
        let allowed = |name: &String, taken: &HashSet<String>| check_name(name).is_ok() && !taken.contains(name);
        let mut name = wanted.unwrap_or_else(|| format!("{default}{at}"));
        if !allowed(&name, &taken) {
            name = format!("{default}{at}");
        }
        while !allowed(&name, &taken) {
            name.push('_');
        }
        taken.insert(name.clone());
        ports.push(Port::new(name, bits(width as u32)));
        at += width;
    }
    ports
}

/// The port that the first bit of these begins.
fn word(names: &[Option<String>]) -> (Option<String>, usize) {
    let Some(first) = &names[0] else {
        return (None, names.iter().take_while(|name| name.is_none()).count());
    };
    let Some(base) = first.strip_suffix("[0]") else { return (Some(first.clone()), 1) };
    let follows = |(i, name): (usize, &Option<String>)| {
        let index = name.as_deref().and_then(|name| name.strip_prefix(base));
        index.is_some_and(|index| index == format!("[{i}]"))
    };
    let width = names.iter().enumerate().take_while(|&one| follows(one)).count();
    (Some(base.to_owned()), width)
}

/// Names of ports that a format can have: its own signs for those that it has not, and no name twice, inputs and outputs
/// together.
pub(super) struct Unique<'a> {
    /// With how many more have asked for each.
    taken: BTreeMap<String, u32>,
    allowed: &'a dyn Fn(char) -> bool,
}

impl<'a> Unique<'a> {
    pub fn new(allowed: &'a dyn Fn(char) -> bool) -> Self {
        Unique { taken: BTreeMap::new(), allowed }
    }

    /// A name that nothing has yet, as near to this one as can be.
    pub fn name(&mut self, wanted: &str) -> String {
        let base: String = wanted.chars().map(|sign| if (self.allowed)(sign) { sign } else { '_' }).collect();
        let mut name = base.clone();
        while self.taken.contains_key(&name) {
            let others = self.taken.get_mut(&base).expect("the loop began with it");
            *others += 1;
            name = format!("{base}_{others}");
        }
        self.taken.insert(name.clone(), 0);
        name
    }

    /// The names of ports.
    pub fn ports(&mut self, ports: &[Port]) -> Vec<String> {
        ports.iter().map(|port| self.name(&port.name)).collect()
    }

    /// A beginning that is none of a name with digits behind it.
    pub fn prefix(&self) -> String {
        let mut prefix = String::from("n");
        let begins = |name: &String, prefix: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
        };
        while self.taken.keys().any(|name| begins(name, &prefix)) {
            prefix.push('_');
        }
        prefix
    }
}

/// The name of each bit of a port.
pub(super) fn bit_names(name: &str, ty: Type) -> impl Iterator<Item = String> + use<> {
    let name = name.to_owned();
    (0..ty.width).map(move |i| if ty.width == 1 { name.clone() } else { format!("{name}[{i}]") })
}

/// Whether a sign may stand in a name of BLIF, AIGER and SHDL files, which have brackets for indices.
pub(super) fn is_plain(sign: char) -> bool {
    sign.is_ascii_graphic() && !"[]#\\=\"".contains(sign)
}
