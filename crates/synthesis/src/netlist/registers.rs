//! The registers of a module: what a clock moves on.

use super::{Cell, Direction, Driver, Module, Port, Signal, Wire};
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

/// A register: at each edge of the clock, q becomes d.
pub(crate) struct Register<'a> {
    pub d: &'a [Signal],
    pub q: &'a [Signal],
    cell: &'a Cell,
}

/// A register of which a party says the first value.
pub(crate) struct State<'a> {
    pub name: &'a str,
    pub place: &'a str,
    pub party: &'a str,
    pub bits: &'a [Signal],
}

impl Module {
    /// The registers that outputs need, those first that the first outputs need.
    ///
    /// # Errors
    /// If one has a reset or an enable of its own.
    pub(crate) fn registers(&self) -> Result<Vec<Register<'_>>> {
        let (mut seen, mut found) = (vec![false; self.cells.len()], Vec::new());
        let mut seen_gates = vec![false; self.gates.len()];
        let mut open: Vec<Signal> = self.ports.iter().flat_map(|port| &port.bits).copied().collect();
        open.reverse();
        while let Some(signal) = open.pop() {
            let number = match signal.net().map(|net| self.drivers[net as usize]) {
                Some(Driver::Cell(number, _)) if !std::mem::replace(&mut seen[number as usize], true) => number,
                Some(Driver::Gate(gate)) if !std::mem::replace(&mut seen_gates[gate as usize], true) => {
                    open.extend(self.gates[gate as usize].reads().iter().rev());
                    continue;
                }
                _ => continue,
            };
            let cell = &self.cells[number as usize];
            open.extend(cell.inputs.iter().rev().flat_map(|(_, bits)| bits.iter().rev()));
            if is_register(&cell.kind) {
                let (d, q) = (cell.input("D"), cell.output("Q"));
                if d.len() != q.len() || clock_port(cell).is_none() {
                    return Err(Error::netlist(format!("{} at {} is misshapen", cell.kind, cell.place)));
                }
                found.push(Register { d, q, cell });
            }
        }
        Ok(found)
    }

    /// The port that moves all registers on.
    ///
    /// # Errors
    /// If they have several clocks, or one that is no input.
    pub(crate) fn clock(&self, registers: &[Register]) -> Result<Option<&Port>> {
        let Some(first) = registers.first() else { return Ok(None) };
        let clock = |register: &Register| clock_port(register.cell);
        if let Some(other) = registers.iter().find(|other| clock(other) != clock(first)) {
            let why = format!("a register on another clock or edge than the one at {}", first.cell.place);
            return Err(Error::design(
                &other.cell.place,
                why,
                "use one clock and one edge, and enables: if (go) q <= d",
            ));
        }
        let signal = clock(first).map_or(Signal::Unknown, |(signal, _)| signal);
        let port = self.ports.iter().find(|port| port.bits == [signal]);
        let is_input = |net| matches!(self.drivers[net as usize], Driver::Input);
        match port.filter(|_| signal.net().is_some_and(is_input)) {
            Some(port) => Ok(Some(port)),
            None => {
                let hint = "clock it by an input of one bit, and let an enable say when it moves: if (go) q <= d";
                Err(Error::design(&first.cell.place, "a register whose clock is no input", hint))
            }
        }
    }

    /// What registers begin with; a bit that is not among them may begin with anything.
    pub(crate) fn first_values(&self) -> FxHashMap<u32, bool> {
        let wires = self.wires.iter().filter_map(|wire| Some((&wire.bits, wire.init.as_ref()?.bits())));
        let values = wires.flat_map(|(bits, init)| bits.iter().zip(init));
        values.filter_map(|(signal, value)| Some((signal.net()?, value?))).collect()
    }

    /// The registers with a party: wires of which each bit is one.
    ///
    /// # Errors
    /// If a wire with a party is anything else, or two of them share a bit.
    pub(crate) fn states(&self) -> Result<Vec<State<'_>>> {
        let mut states: Vec<State> = Vec::new();
        let mut known: FxHashMap<Signal, &str> = FxHashMap::default();
        for (wire, party) in self.wires_with_a_party() {
            if let Some((bit, joined)) = (0..).zip(&wire.bits).find_map(|(i, bit)| Some((i, self.not_held(*bit)?))) {
                return Err(not_held(wire, bit, joined));
            }
            let name = wire.name.trim_matches('\'');
            if let Some(other) = wire.bits.iter().find_map(|bit| known.insert(*bit, name)) {
                let why = format!("'{other}' and '{name}' are one register, and each has a party");
                return Err(Error::design(&wire.place, why, "leave the party of one of them away"));
            }
            states.push(State { name, place: &wire.place, party, bits: &wire.bits });
        }
        Ok(states)
    }

    /// Refuses parties of anything but inputs: without a clock there is no register.
    pub(crate) fn no_states(&self) -> Result<()> {
        match self.wires_with_a_party().next() {
            Some((wire, _)) => {
                let why = format!("{} has a party, and is no input", wire.name);
                let hint = "declare it as an input; of a register that a party fills, say with --cycles how often it is clocked";
                Err(Error::design(&wire.place, why, hint))
            }
            None => Ok(()),
        }
    }

    /// The wires with a party that are no inputs.
    fn wires_with_a_party(&self) -> impl Iterator<Item = (&Wire, &str)> {
        let is_input = |wire: &Wire| {
            let inputs = self.ports.iter().filter(|port| port.direction == Direction::Input);
            inputs.map(|port| port.name.as_str()).any(|name| name == wire.name.trim_matches('\''))
        };
        let with = self.wires.iter().filter_map(|wire| Some((wire, wire.party.as_deref()?)));
        with.filter(move |(wire, _)| !is_input(wire))
    }

    /// Whether a signal is no register of its own, and if so whether it is one that may stand for several.
    fn not_held(&self, signal: Signal) -> Option<bool> {
        let cell = self.driver(signal).map(|(cell, _)| &self.cells[cell as usize]);
        match cell.filter(|cell| is_register(&cell.kind)) {
            Some(cell) if cell.hidden => None,
            register => Some(register.is_some()),
        }
    }
}

/// The error of a wire with a party that is no register, or one that Yosys may have `joined` to another.
fn not_held(wire: &Wire, bit: usize, joined: bool) -> Error {
    let what = if wire.bits.len() == 1 { wire.name.clone() } else { format!("{}, bit {bit},", wire.name) };
    if joined {
        let why = format!("{what} has a party, and Yosys may have made it one with another register");
        return Error::design(&wire.place, why, "give the Verilog file, of which such registers are kept apart");
    }
    let why = format!("{what} has a party, and is neither an input nor a register");
    let hint =
        "declare it as an input, or assign all of its bits at the edge of the clock alone, with a synchronous reset";
    Error::design(&wire.place, why, hint)
}

fn is_register(kind: &str) -> bool {
    matches!(kind, "$dff" | "$_DFF_P_" | "$_DFF_N_")
}

/// The clock of a register, and whether its edge is the rising one.
fn clock_port(cell: &Cell) -> Option<(Signal, bool)> {
    match cell.kind.as_str() {
        "$dff" => Some((*cell.input("CLK").first()?, cell.flag("CLK_POLARITY"))),
        kind => Some((*cell.input("C").first()?, kind == "$_DFF_P_")),
    }
}
