//! The nets, cells and wires of a module as its file is read, and the module that they make.

use super::instances::{Others, of_library, own_block};
use super::json::{Ordered, Parameter, Parts, RawBit, RawCell, RawModule, RawPort, RawWire};
use super::{Cell, Direction, Driver, Gate, HIDDEN, Module, Places, Port, Signal, Thin, Wire, direction, place_text};
use crate::blocks;
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

/// What is read of a module. Its nets have numbers of their own, from zero.
#[derive(Default)]
pub(super) struct Netted {
    ports: Option<Vec<(String, RawPort)>>,
    /// What wires say of the ports whose names they have; of all wires, if they come before the ports.
    described: FxHashMap<String, Described>,
    numbers: Numbers,
    drivers: Vec<Driver>,
    /// A net that two cells drive.
    twice: Option<u32>,
    cells: Vec<Cell>,
    gates: Vec<Gate>,
    places: Places,
    wires: Vec<Wire>,
    thin: Vec<Thin>,
    /// The blocks that cells name themselves.
    named: FxHashMap<u32, String>,
    refused: Option<Refused>,
}

/// The numbers of nets by those that the file has for them. Yosys gives low ones, which index a list.
#[derive(Default)]
struct Numbers {
    low: Vec<u32>,
    others: FxHashMap<u64, u32>,
}

impl Numbers {
    /// The number of a net, which is `next` if it was not named before.
    fn number(&mut self, name: u64, next: u32) -> u32 {
        // A list as long as eight times the nets, so that its length follows from that of the file.
        let most = 8 * u64::from(next) + (1 << 16);
        if name < most && name >= self.low.len() as u64 && !self.others.contains_key(&name) {
            self.low.resize(name as usize + 1, NONE);
        }
        match self.low.get_mut(name as usize) {
            // It may have been named when it was too high.
            Some(known) if *known == NONE => {
                *known = self.others.get(&name).copied().unwrap_or(next);
                *known
            }
            Some(known) => *known,
            None => *self.others.entry(name).or_insert(next),
        }
    }
}

/// No number of a net.
const NONE: u32 = u32::MAX;

/// What a wire says of itself.
struct Described {
    place: String,
    party: Option<String>,
    reveal: Option<String>,
}

/// A cell that no module can have.
enum Refused {
    Box { kind: String, place: String },
    Memory { place: String },
    Wrong(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Wrong(error)
    }
}

impl Parts for Netted {
    fn ports(&mut self, ports: Ordered<RawPort>) {
        self.ports = Some(ports.0);
    }

    fn cell(&mut self, name: String, raw: RawCell) {
        let place = place_text(&raw.attributes, &name);
        match self.joined(raw, &place) {
            Ok((cell, block)) => self.keep(cell, block),
            Err(refused) => drop(self.refused.get_or_insert(refused)),
        }
    }

    fn wire(&mut self, name: String, raw: RawWire) {
        let bits = self.signals(&raw.bits);
        let (init, party) = (raw.attributes.get("init"), raw.attributes.get("party"));
        let place = place_text(&raw.attributes, &name);
        if self.ports.as_ref().is_none_or(|ports| ports.iter().any(|(port, _)| *port == name)) {
            let text = |key: &str| raw.attributes.get(key).map(Parameter::text);
            let described = Described { place: place.clone(), party: text("party"), reveal: text("reveal") };
            self.described.insert(name.clone(), described);
        }
        match bits[..] {
            [signal] if init.is_none() && party.is_none() => {
                // Names are for errors: a net that is driven once gives rise to none.
                let net =
                    signal.net().filter(|&net| self.drivers[net as usize] == Driver::None || self.twice == Some(net));
                if let Some(net) = net {
                    let place = self.places.add(&place);
                    self.thin.push(Thin { net, name: name.into(), place });
                }
            }
            _ => {
                let (init, party) = (init.cloned(), party.map(Parameter::text));
                self.wires.push(Wire { name: format!("'{name}'"), place, bits, init, party });
            }
        }
    }
}

impl Netted {
    /// A cell, and the block that it names.
    fn joined(&mut self, raw: RawCell, place: &str) -> std::result::Result<(Cell, Option<String>), Refused> {
        if raw.kind.starts_with("$mem") && raw.attributes.get("party").is_some() {
            return Err(Refused::Memory { place: place.into() });
        }
        let block = own_block(&raw, place)?;
        let goal = blocks::goal(raw.attributes.get(blocks::GOAL), place)?;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (port, bits) in raw.connections.0 {
            let bits = self.signals(&bits);
            let direction = raw.directions.get(&port).map(String::as_str);
            match direction.or_else(|| of_library(&raw.kind, &port)) {
                Some("output") => outputs.push((port, bits)),
                Some("input") => inputs.push((port, bits)),
                // Of a module that Yosys does not know, or that it left as it is.
                _ => return Err(Refused::Box { kind: raw.kind, place: place.into() }),
            }
        }
        // In one order, so that equal designs give equal circuits.
        inputs.sort_by(|a, b| a.0.cmp(&b.0));
        outputs.sort_by(|a, b| a.0.cmp(&b.0));
        let hidden = raw.attributes.get(HIDDEN).is_some();
        let (place, parameters) = (place.into(), raw.parameters.0);
        Ok((Cell { kind: raw.kind, place, parameters, inputs, outputs, hidden, block: None, inner: None, goal }, block))
    }

    /// Keeps a cell, as a gate if it is one.
    fn keep(&mut self, cell: Cell, block: Option<String>) {
        if let Some(gate) = Gate::of(&cell, || self.places.add(&cell.place)) {
            self.drive(gate.output, Driver::Gate(self.gates.len() as u32));
            self.gates.push(gate);
            return;
        }
        let number = self.cells.len() as u32;
        self.named.extend(block.map(|block| (number, block)));
        for (place, &bit) in (0..).zip(cell.outputs.iter().flat_map(|(_, bits)| bits)) {
            self.drive(bit, Driver::Cell(number, place));
        }
        self.cells.push(cell);
    }

    fn drive(&mut self, bit: Signal, driver: Driver) {
        let Signal::Net(net) = bit else { return };
        let known = &mut self.drivers[net as usize];
        if *known != Driver::None {
            self.twice.get_or_insert(net);
        }
        *known = driver;
    }

    fn port(&mut self, name: String, raw: RawPort) -> Result<Port> {
        let described = self.described.remove(&name);
        let place = described.as_ref().map_or_else(|| name.clone(), |wire| wire.place.clone());
        let direction = direction(&raw.direction, &name, &place)?;
        let bits = self.signals(&raw.bits);
        if direction == Direction::Input {
            bits.iter().for_each(|&bit| self.drive(bit, Driver::Input));
        }
        let (party, reveal) = described.map_or((None, None), |wire| (wire.party, wire.reveal));
        Ok(Port { direction, signed: raw.signed != 0, bits, party, reveal, name, place })
    }

    fn signals(&mut self, bits: &[RawBit]) -> Vec<Signal> {
        bits.iter().map(|bit| self.signal(*bit)).collect()
    }

    fn signal(&mut self, bit: RawBit) -> Signal {
        match bit {
            RawBit::Net(number) => {
                let next = self.drivers.len() as u32;
                let net = self.numbers.number(number, next);
                if net == next {
                    self.drivers.push(Driver::None);
                }
                Signal::Net(net)
            }
            RawBit::Constant(signal) => signal,
        }
    }
}

/// The module of what was read, beside the other modules of the file.
pub(super) fn module(name: String, raw: RawModule<Netted>, creator: String, others: &mut Others<'_>) -> Result<Module> {
    let mut parts = raw.parts;
    match parts.refused {
        Some(Refused::Box { kind, place }) if others.has(&kind) => {
            let why = format!("an instance of '{kind}' that was not made part of the module");
            return Err(Error::design(place, why, "give Yosys the command 'flatten' before write_json"));
        }
        Some(Refused::Box { kind, place }) => {
            let why = format!("'{kind}' is a box whose inside is not there");
            return Err(Error::design(place, why, "give the file with this module as well"));
        }
        Some(Refused::Memory { place }) => {
            let hint = "give it a register of all words side by side, or fill the memory from inputs in a loop";
            return Err(Error::design(place, "a memory has a party", hint));
        }
        Some(Refused::Wrong(error)) => return Err(error),
        None => {}
    }
    for (number, cell) in (0..).zip(&mut parts.cells) {
        cell.block = others.block(&cell.kind, parts.named.get(&number), &cell.parameters, &cell.place)?;
        if cell.block.is_none() {
            cell.inner = others.inner(&cell.kind, &cell.place)?;
        }
    }
    let mut ports = Vec::new();
    for (name, port) in parts.ports.take().unwrap_or_default() {
        ports.push(parts.port(name, port)?);
    }
    let Netted { drivers, twice, cells, gates, places, wires, thin, .. } = parts;
    let module = Module { name, ports, cells, drivers, creator, gates, places, wires, thin };
    match twice {
        Some(net) => {
            let (place, wire) = module.wire(net);
            let why = format!("{wire} is driven twice");
            Err(Error::design(place, why, "assign each wire in one place alone"))
        }
        None => Ok(module),
    }
}
