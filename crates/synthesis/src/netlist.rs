//! The netlist that Yosys writes as JSON: a module of ports, cells and the nets between them.

mod json;
mod registers;
mod rewrite;

use crate::error::{Error, Result};
use crate::yosys::Declared;
use crate::{choices, extremes};
use circuit::error::counted;
use json::{RawBit, RawCell, RawModule};
use rustc_hash::{FxHashMap, FxHashSet};

pub use json::Parameter;
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
#[derive(Debug)]
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
    wires: Vec<Wire>,
}

impl Module {
    /// Reads the top module of a netlist.
    ///
    /// # Errors
    /// If it is no netlist, a net is driven twice, or a port goes both ways.
    pub fn read(json: &[u8]) -> Result<Module> {
        let file = json::read(json)?;
        let creator = file.creator;
        let mut modules = file.modules.0;
        let known: FxHashSet<String> = modules.iter().map(|(name, _)| name.clone()).collect();
        let is_top = |module: &RawModule| module.attributes.get("top").is_some_and(Parameter::is_set);
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
        let mut module = Nets { numbers: FxHashMap::default(), known }.module(name, raw, creator)?;
        choices::find(&mut module);
        extremes::find(&mut module);
        module.sweep();
        Ok(module)
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
            None => (format!("module {}", self.name), "a wire without a name".into()),
        }
    }
}

/// The nets of a module by the numbers that the file has for them.
struct Nets {
    numbers: FxHashMap<u64, u32>,
    /// The modules of the file.
    known: FxHashSet<String>,
}

impl Nets {
    fn module(mut self, name: String, raw: RawModule, creator: String) -> Result<Module> {
        let cells: Vec<Cell> =
            raw.cells.0.into_iter().map(|(name, cell)| self.cell(name, cell)).collect::<Result<_>>()?;
        let wires: Vec<Wire> = raw
            .netnames
            .0
            .iter()
            .map(|(name, wire)| Wire {
                name: format!("'{name}'"),
                place: place(&wire.attributes, name),
                bits: self.signals(&wire.bits),
                init: wire.attributes.get("init").cloned(),
                party: wire.attributes.get("party").map(Parameter::text),
            })
            .collect();
        let mut ports = Vec::new();
        let named: FxHashMap<&str, _> =
            raw.netnames.0.iter().map(|(name, wire)| (name.as_str(), &wire.attributes)).collect();
        for (name, port) in raw.ports.0 {
            let attributes = named.get(name.as_str()).copied();
            let text = |key: &str| attributes.and_then(|list| list.get(key)).map(Parameter::text);
            let place = attributes.map_or_else(|| name.clone(), |list| place(list, &name));
            let direction = direction(&port.direction, &name, &place)?;
            let bits = self.signals(&port.bits);
            let (party, reveal) = (text("party"), text("reveal"));
            ports.push(Port { direction, signed: port.signed != 0, bits, party, reveal, name, place });
        }
        let drivers = vec![Driver::None; self.numbers.len()];
        let mut module = Module { name, ports, cells, drivers, creator, wires };
        module.drive()?;
        Ok(module)
    }

    fn cell(&mut self, name: String, raw: RawCell) -> Result<Cell> {
        let place = place(&raw.attributes, &name);
        if raw.kind.starts_with("$mem") && raw.attributes.get("party").is_some() {
            let hint = "give it a register of all words side by side, or fill the memory from inputs in a loop";
            return Err(Error::design(place, "a memory has a party", hint));
        }
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (port, bits) in &raw.connections.0 {
            let bits = self.signals(bits);
            match raw.directions.get(port).map(String::as_str) {
                Some("output") => outputs.push((port.clone(), bits)),
                Some("input") => inputs.push((port.clone(), bits)),
                _ if self.known.contains(&raw.kind) => {
                    let why = format!("an instance of '{}' that was not made part of the module", raw.kind);
                    return Err(Error::design(place, why, "give Yosys the command 'flatten' before write_json"));
                }
                // Of a module that Yosys does not know.
                _ => {
                    let why = format!("'{}' is a box whose inside is not there", raw.kind);
                    return Err(Error::design(place, why, "give the file with this module as well"));
                }
            }
        }
        // In one order, so that equal designs give equal circuits.
        inputs.sort_by(|a, b| a.0.cmp(&b.0));
        outputs.sort_by(|a, b| a.0.cmp(&b.0));
        let parameters = raw.parameters.0;
        let hidden = raw.attributes.get(HIDDEN).is_some();
        Ok(Cell { kind: raw.kind, place, parameters, inputs, outputs, hidden })
    }

    fn signals(&mut self, bits: &[RawBit]) -> Vec<Signal> {
        bits.iter().map(|bit| self.signal(*bit)).collect()
    }

    fn signal(&mut self, bit: RawBit) -> Signal {
        match bit {
            RawBit::Net(number) => {
                let next = self.numbers.len() as u32;
                Signal::Net(*self.numbers.entry(number).or_insert(next))
            }
            RawBit::Constant(signal) => signal,
        }
    }
}

impl Module {
    /// Notes what drives each net.
    fn drive(&mut self) -> Result<()> {
        let inputs = self.ports.iter().filter(|port| port.direction == Direction::Input);
        let inputs = inputs.flat_map(|port| port.bits.iter().map(|bit| (*bit, Driver::Input)));
        let of_cell = |(number, cell): (usize, &Cell)| {
            let bits: Vec<Signal> = cell.outputs.iter().flat_map(|(_, bits)| bits).copied().collect();
            (0..).zip(bits).map(move |(i, bit)| (bit, Driver::Cell(number as u32, i)))
        };
        let pairs: Vec<(Signal, Driver)> = inputs.chain(self.cells.iter().enumerate().flat_map(of_cell)).collect();
        for (bit, driver) in pairs {
            let Signal::Net(net) = bit else { continue };
            if self.drivers[net as usize] != Driver::None {
                let (place, wire) = self.wire(net);
                let why = format!("{wire} is driven twice");
                return Err(Error::design(place, why, "assign each wire in one place alone"));
            }
            self.drivers[net as usize] = driver;
        }
        Ok(())
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

fn place(attributes: &json::Ordered<Parameter>, name: &str) -> String {
    match attributes.get("src").map(Parameter::text) {
        // Of several places the first, which is the one that people look for.
        Some(places) => places.split('|').next().unwrap_or_default().to_string(),
        None => name.to_string(),
    }
}
