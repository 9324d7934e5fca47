//! The netlist that Yosys writes as JSON: a module of ports, cells and the nets between them.

mod entries;
mod equal;
mod gates;
mod instances;
mod json;
mod kept;
mod needed;
mod parts;
mod place;
mod registers;
mod rewrite;

use crate::blocks::{Block, Given};
use crate::error::{Error, Result};
use crate::yosys::Declared;
use crate::{choices, extremes};
use circuit::blocks::Goal;
use circuit::error::counted;
pub(crate) use instances::block_at;
use json::RawModule;
use parts::Netted;
use place::{Place, Places};
use rustc_hash::FxHashMap;
use std::io;
use std::rc::Rc;

pub(crate) use gates::{Gate, Kind};
pub use json::Parameter;
pub(crate) use kept::{Kept, kept};
pub(crate) use needed::Needed;
pub(crate) use registers::{Register, State};

/// The attribute of registers that were hidden from Yosys.
const HIDDEN: &str = "duologue_state";

/// What a place of a port is joined to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signal {
    /// A net, by its number from zero.
    Net(u32),
    /// The constant 0.
    Zero,
    /// The constant 1.
    One,
    /// `x`: any value will do.
    Unknown,
    /// `z`: nothing drives it.
    Floating,
}

impl Signal {
    /// The net, if it is one.
    pub fn net(self) -> Option<u32> {
        match self {
            Signal::Net(net) => Some(net),
            _ => None,
        }
    }
}

/// Which way a port goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Into the module.
    Input,
    /// Out of it.
    Output,
}

/// A port of the module.
#[derive(Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Which way it goes.
    pub direction: Direction,
    /// Whether it is in two's complement.
    pub signed: bool,
    /// Its bits, least significant first.
    pub bits: Vec<Signal>,
    /// Where it stands in the source.
    pub place: String,
    /// Its attribute `party`.
    pub party: Option<String>,
    /// Its attribute `reveal`.
    pub reveal: Option<String>,
}

/// A cell: an operator, a gate, or what no circuit has.
#[derive(Debug, Default)]
pub struct Cell {
    /// What it is: `$add`.
    pub kind: String,
    /// File and line in the source, or its name.
    pub place: String,
    /// Its parameters by name.
    pub parameters: Vec<(String, Parameter)>,
    /// What it reads, by port.
    pub inputs: Vec<(String, Vec<Signal>)>,
    /// What it drives, by port.
    pub outputs: Vec<(String, Vec<Signal>)>,
    /// Whether it is a register that Yosys knew nothing of, so that it stands for itself alone.
    pub hidden: bool,
    /// The block or the circuit that it is an instance of.
    pub(crate) block: Option<Block>,
    /// The module that it is an instance of, if the netlist has the module's body.
    pub(crate) inner: Option<Rc<Module>>,
    /// What it is made for, if it says so itself.
    pub(crate) goal: Option<Goal>,
}

impl Cell {
    /// What a port reads; nothing if there is none.
    pub fn input(&self, port: &str) -> &[Signal] {
        find(&self.inputs, port).map_or(&[], |bits| bits)
    }

    /// What a port drives; nothing if there is none.
    pub fn output(&self, port: &str) -> &[Signal] {
        find(&self.outputs, port).map_or(&[], |bits| bits)
    }

    /// A parameter.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        find(&self.parameters, name)
    }

    /// Whether a parameter is there and not zero.
    pub fn flag(&self, name: &str) -> bool {
        self.parameter(name).is_some_and(Parameter::is_set)
    }

    /// A parameter that is a number.
    pub fn number(&self, name: &str) -> Result<usize> {
        let number = self.parameter(name).and_then(Parameter::number);
        number.ok_or_else(|| Error::netlist(format!("{} at {} has no number {name}", self.kind, self.place)))
    }
}

fn find<'a, T>(list: &'a [(String, T)], name: &str) -> Option<&'a T> {
    list.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// What drives a net.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Driver {
    /// Nothing.
    None,
    /// An input of the module.
    Input,
    /// A cell, at this bit of its outputs counted through.
    Cell(u32, u32),
    /// A gate of single bits.
    Gate(u32),
}

/// A wire that has a name.
#[derive(Debug)]
struct Wire {
    name: String,
    place: String,
    bits: Vec<Signal>,
    /// What its registers begin with.
    init: Option<Parameter>,
    party: Option<String>,
}

/// A wire of one bit, of which nothing is known but its name.
#[derive(Debug)]
struct Thin {
    net: u32,
    name: Box<str>,
    place: Place,
}

/// A module whose cells are joined by nets.
#[derive(Debug)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Its ports in their order.
    pub ports: Vec<Port>,
    /// Its cells.
    pub cells: Vec<Cell>,
    /// What drives each net.
    pub drivers: Vec<Driver>,
    /// Who wrote the netlist.
    pub creator: String,
    gates: Vec<Gate>,
    places: Places,
    wires: Vec<Wire>,
    thin: Vec<Thin>,
}

impl Module {
    /// Reads the top module of a netlist.
    ///
    /// # Errors
    /// If it is no netlist, a net is driven twice, or a port goes both ways.
    pub fn read(json: &[u8]) -> Result<Module> {
        Module::read_from(json, &[])
    }

    /// Reads the top module of a netlist that need not fit into the memory; instances of the modules that are given stand for
    /// their circuits.
    ///
    /// # Errors
    /// As [`read`](Self::read), if the file cannot be read, or if an attribute of an instance says nothing.
    pub fn read_from(json: impl io::Read, given: &[Given]) -> Result<Module> {
        Module::of(json::read(json)?, given)
    }

    fn of(file: json::File<Netted>, given: &[Given]) -> Result<Module> {
        let creator = file.creator;
        let mut modules =
            file.modules.ok_or_else(|| Error::netlist("no netlist in JSON: it has no entry 'modules'"))?;
        let is_top = |module: &RawModule<Netted>| module.attributes.get("top").is_some_and(Parameter::is_set);
        let top = match modules.iter().position(|(_, module)| is_top(module)) {
            Some(top) => top,
            None if modules.len() == 1 => 0,
            None if modules.is_empty() => {
                return Err(Error::usage("there is no module in it", "give the files that have one"));
            }
            None => {
                return Err(Error::netlist(format!(
                    "{}, none of them the top",
                    counted(modules.len() as u64, "module")
                )));
            }
        };
        let (name, raw) = modules.swap_remove(top);
        instances::Others::new(modules, given, creator).module(name, raw)
    }

    /// Finds what stands in several cells.
    fn settled(mut self) -> Module {
        choices::find(&mut self);
        extremes::find(&mut self);
        self.sweep();
        self
    }

    /// Gives ports the order and the signs with which they are declared, where that is known.
    pub(crate) fn declare(&mut self, declared: &[Declared]) {
        let places: FxHashMap<&str, usize> =
            declared.iter().enumerate().map(|(place, port)| (port.name.as_str(), place)).collect();
        self.ports.sort_by_key(|port| places.get(port.name.as_str()).copied().unwrap_or(usize::MAX));
        for port in &mut self.ports {
            if let Some(&place) = places.get(port.name.as_str()) {
                port.signed = declared[place].signed;
            }
        }
    }

    /// Where a net is declared and what it is called there.
    pub fn wire(&self, net: u32) -> (String, String) {
        let bit = |wire: &Wire| wire.bits.iter().position(|bit| *bit == Signal::Net(net));
        let found = self.wires.iter().find_map(|wire| bit(wire).map(|bit| (wire, bit)));
        match found {
            Some((wire, _)) if wire.bits.len() == 1 => (wire.place.clone(), wire.name.clone()),
            Some((wire, bit)) => (wire.place.clone(), format!("{}, bit {bit}", wire.name)),
            None => self.thin_wire(net),
        }
    }

    fn thin_wire(&self, net: u32) -> (String, String) {
        let port = |port: &&Port| port.bits.contains(&Signal::Net(net));
        match (self.thin.iter().find(|wire| wire.net == net), self.ports.iter().find(port)) {
            (Some(wire), _) => (self.places.text(wire.place), format!("'{}'", wire.name)),
            (None, Some(port)) => (port.place.clone(), format!("'{}'", port.name)),
            (None, None) => (format!("module {}", self.name), "a wire without a name".into()),
        }
    }

    /// A gate by its number.
    pub(crate) fn gate(&self, number: u32) -> &Gate {
        &self.gates[number as usize]
    }

    /// The gate that drives a signal.
    pub(crate) fn gate_of(&self, signal: Signal) -> Option<&Gate> {
        match self.drivers[signal.net()? as usize] {
            Driver::Gate(number) => Some(self.gate(number)),
            _ => None,
        }
    }

    /// Where a gate stands.
    pub(crate) fn place_of(&self, gate: &Gate) -> String {
        self.places.text(gate.place)
    }
}

fn direction(text: &str, name: &str, place: &str) -> Result<Direction> {
    match text {
        "input" => Ok(Direction::Input),
        "output" => Ok(Direction::Output),
        "inout" => {
            let hint = "write an input and an output";
            Err(Error::design(place, format!("the port '{name}' goes both ways (inout)"), hint))
        }
        _ => Err(Error::netlist(format!("the port '{name}' has the direction '{text}'"))),
    }
}

fn place_text(attributes: &json::Ordered<Parameter>, name: &str) -> String {
    match attributes.get("src").map(Parameter::text) {
        // Of several places the first, which is the one that people look for.
        Some(places) => places.split('|').next().unwrap_or_default().to_string(),
        None => name.to_string(),
    }
}
