//! Modules that stay modules in the netlist: each is mapped once, and its gates are copied for every instance.
//!
//! A module is mapped anew for what is known of an instance's inputs, so that no knowledge ends at its border: which bits are
//! constants, and which are equal. What several instances compute from the same bits is built once, as all equal gates are.

use crate::cells::Inputs;
use crate::error::{Error, Result};
use crate::map::{Mapper, Origin};
use crate::netlist::{Cell, Direction, Module, Needed, Port, Signal};
use circuit::blocks::Goal;
use circuit::{Bit, Builder, Circuit, bits};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The most gates of a circuit that instances are copied into.
const MOST_GATES: usize = 1 << 26;

/// A line of the source that several cells share, or one that has it all: places and their shares.
pub(crate) type Shares = Vec<(String, u64)>;

/// The circuit of a module. Its inputs are the bits of which nothing is known, and its outputs those of the module.
pub(crate) struct Mapped {
    pub circuit: Circuit,
    /// Up to which node each line built it, where a profile is wanted.
    pub lines: Vec<(u32, Shares)>,
}

/// The circuits that modules became, and which bits of their outputs those compute: all others are 0.
#[derive(Default)]
pub(crate) struct Copies {
    mapped: FxHashMap<(*const Module, Goal, Vec<u32>), Rc<Mapped>>,
    needed: Needed,
}

impl Copies {
    /// Those for the instances within a module.
    pub fn of(module: &Module) -> Copies {
        Copies { mapped: FxHashMap::default(), needed: Needed::of(module) }
    }
}

/// What is known of the inputs of an instance.
pub(crate) struct Known {
    /// For each bit 0 or 1 if it is a constant, else twice the place of an unknown bit and 2, and 1 if it is its complement.
    codes: Vec<u32>,
    /// The unknown bits.
    pub free: Vec<Bit>,
}

impl Known {
    pub fn of(bits: &[Bit]) -> Known {
        let mut known = Known { codes: Vec::with_capacity(bits.len()), free: Vec::new() };
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        for &bit in bits {
            let code = match bit.node() {
                0 => u32::from(bit == Bit::TRUE),
                node => {
                    let place = *places.entry(node).or_insert(known.free.len() as u32);
                    if place as usize == known.free.len() {
                        known.free.push(bit);
                    }
                    2 * place + 2 + u32::from(bit != known.free[place as usize])
                }
            };
            known.codes.push(code);
        }
        known
    }

    /// All bits, of those that are unknown.
    fn bits(&self, free: &[Bit]) -> Vec<Bit> {
        let bit = |&code: &u32| match code {
            0 | 1 => Bit::constant(code == 1),
            code => free[code as usize / 2 - 1].flip(code % 2 == 1),
        };
        self.codes.iter().map(bit).collect()
    }
}

impl Mapper<'_> {
    /// The outputs of an instance, by port.
    pub fn instance<'c>(&mut self, module: &Rc<Module>, inputs: &Inputs<'c>) -> Result<Vec<(&'c str, Vec<Bit>)>> {
        let known = Known::of(&operands(module, inputs)?);
        let mapped = self.mapped(module, &known)?;
        if self.c.nodes() as usize + mapped.circuit.gates().len() > MOST_GATES {
            let why = format!("more than 2^26 gates with this instance of '{}'", module.name);
            return Err(Error::design(
                &inputs.cell.place,
                why,
                "write a module for one lane, and run it on many lanes",
            ));
        }
        let made = self.copy(&mapped, &known.free);
        results(inputs.cell, module, &made)
    }

    /// The circuit of a module for what is known of its inputs.
    pub fn mapped(&mut self, module: &Rc<Module>, known: &Known) -> Result<Rc<Mapped>> {
        let key = (Rc::as_ptr(module), self.goal(), known.codes.clone());
        if let Some(mapped) = self.copies.mapped.get(&key) {
            return Ok(mapped.clone());
        }
        let mut inner = self.inner(module, Builder::new("module"));
        let made = build(&mut inner, module, known);
        self.take_from(&mut inner);
        made?;
        let mapped = Rc::new(inner.complete_with_lines()?);
        self.copies.mapped.insert(key, mapped.clone());
        Ok(mapped)
    }

    fn copy(&mut self, mapped: &Rc<Mapped>, free: &[Bit]) -> Vec<Bit> {
        let Some(built) = &mut self.built else { return self.c.append(&mapped.circuit, free) };
        let mut line = 0;
        self.c.append_noting(&mapped.circuit, free, |node, nodes| {
            if mapped.lines.get(line).is_some_and(|(end, _)| *end == node + 1) {
                built.push((nodes, Origin::Line(mapped.clone(), line)));
                line += 1;
            }
        })
    }
}

fn build(inner: &mut Mapper, module: &Module, known: &Known) -> Result<()> {
    let free = match known.free.len() {
        0 => Vec::new(),
        width => inner.c.input("bits", bits(width as u32)),
    };
    let all = known.bits(&free);
    let mut rest = &all[..];
    for port in ports(module, Direction::Input) {
        let (word, after) = rest.split_at(port.bits.len());
        inner.set(&port.bits, word);
        rest = after;
    }
    let mut places = 0..;
    for port in ports(module, Direction::Output) {
        let needed = |(bit, place)| if inner.copies.needed.has(module, place) { bit } else { Signal::Zero };
        let bits_needed: Vec<Signal> = port.bits.iter().copied().zip(&mut places).map(needed).collect();
        let word = inner.word(&bits_needed, &port.place)?;
        inner.c.output_as(&port.name, bits(word.len() as u32), &word);
    }
    Ok(())
}

/// The ports of a module that go one way and have bits.
pub(crate) fn ports(module: &Module, direction: Direction) -> impl Iterator<Item = &Port> {
    module.ports.iter().filter(move |port| port.direction == direction && !port.bits.is_empty())
}

/// The bits of the module's inputs, from the ports of an instance.
fn operands(module: &Module, inputs: &Inputs) -> Result<Vec<Bit>> {
    let mut bits = Vec::new();
    for port in ports(module, Direction::Input) {
        let found = inputs.cell.inputs.iter().zip(inputs.values).find(|((name, _), _)| *name == port.name);
        match found {
            Some((_, value)) if value.len() == port.bits.len() => bits.extend(value),
            _ => return Err(unfit(module, inputs.cell, &port.name)),
        }
    }
    Ok(bits)
}

/// What the ports of an instance are, of the bits of the module's outputs.
fn results<'c>(cell: &'c Cell, module: &Module, bits: &[Bit]) -> Result<Vec<(&'c str, Vec<Bit>)>> {
    let word = |(name, signals): &'c (String, Vec<Signal>)| {
        let mut from = 0;
        for port in ports(module, Direction::Output) {
            let word = &bits[from..from + port.bits.len()];
            from += port.bits.len();
            if port.name == *name && [0, word.len()].contains(&signals.len()) {
                return Ok((name.as_str(), word[..signals.len()].to_vec()));
            }
        }
        Err(unfit(module, cell, name))
    };
    cell.outputs.iter().map(word).collect()
}

fn unfit(module: &Module, cell: &Cell, port: &str) -> Error {
    let why = format!("the port '{port}' of '{}' is not connected, or to another width", module.name);
    Error::design(&cell.place, why, "connect as many bits as the port has")
}
