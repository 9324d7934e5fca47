//! From a netlist to a circuit: cells are built when an output needs them, each once; of a clocked design once in a cycle.
//!
//! The order follows the outputs, not the names of cells, so that equal designs give equal circuits.

use crate::blocks::Built;
use crate::cells::{self, Inputs};
use crate::error::{Error, Result};
use crate::netlist::{Cell, Direction, Driver, Module, Port, Signal};
use crate::number::Number;
use crate::sums::{self, Sign, Term};
use circuit::blocks::Goal;
use circuit::{Bit, Builder, Circuit, Type};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The most bits of all ports together.
const MOST_PORT_BITS: usize = 1 << 20;

/// A circuit, and the ports of the module in the circuit's order.
pub struct Made<'a> {
    /// The circuit.
    pub circuit: Circuit,
    /// The inputs.
    pub inputs: Vec<&'a Port>,
    /// The outputs.
    pub outputs: Vec<&'a Port>,
}

/// The circuit of a module: its inputs and outputs are the module's, in their order.
///
/// # Errors
/// If the module has what no circuit has: registers, latches, loops, wires that nothing drives.
pub fn circuit(module: &Module, goal: Goal) -> Result<Made<'_>> {
    let of = |direction| module.ports.iter().filter(move |port| port.direction == direction && !port.bits.is_empty());
    let (inputs, outputs): (Vec<&Port>, Vec<&Port>) = (of(Direction::Input).collect(), of(Direction::Output).collect());
    check(module, &inputs, &outputs)?;
    module.no_states()?;
    let mut mapper = Mapper::new(module, goal, Builder::new(&module.name));
    inputs.iter().for_each(|port| mapper.input(port));
    for port in &outputs {
        mapper.output(port)?;
    }
    Ok(Made { circuit: mapper.c.try_finish()?, inputs, outputs })
}

pub(crate) fn check(module: &Module, inputs: &[&Port], outputs: &[&Port]) -> Result<()> {
    if outputs.is_empty() {
        let why = format!("the module '{}' has no output", module.name);
        return Err(Error::usage(why, "name the module with --top"));
    }
    let ports = inputs.iter().chain(outputs);
    let widest = ports.clone().max_by_key(|port| port.bits.len());
    match widest {
        Some(port) if ports.map(|port| port.bits.len()).sum::<usize>() > MOST_PORT_BITS => {
            let why = format!("more than 2^20 bits of ports: '{}' alone has {}", port.name, port.bits.len());
            Err(Error::design(&port.place, why, "write a module for one lane, and run it on many lanes"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn type_of(port: &Port) -> Type {
    let width = port.bits.len() as u32;
    if port.signed { circuit::int(width) } else { circuit::uint(width) }
}

/// A cell that is being built: what it reads, and how much of that is there.
struct Frame {
    node: Node,
    reads: Vec<Signal>,
    next: usize,
}

/// What is built at once: a bit of a cell, or a whole cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    cell: u32,
    bit: Option<u32>,
}

/// Builds cells into a circuit.
pub(crate) struct Mapper<'a> {
    module: &'a Module,
    pub c: Builder,
    goal: Goal,
    blocks: Built,
    sums: FxHashMap<u32, Rc<Vec<Term>>>,
    values: Vec<Option<Bit>>,
    /// Nets whose nodes are being built.
    waiting: Vec<bool>,
}

impl<'a> Mapper<'a> {
    pub fn new(module: &'a Module, goal: Goal, c: Builder) -> Self {
        let nets = module.drivers.len();
        let sums = sums::find(module).into_iter().map(|(cell, terms)| (cell, Rc::new(terms))).collect();
        Mapper { module, c, goal, blocks: Built::default(), sums, values: vec![None; nets], waiting: vec![false; nets] }
    }

    /// Another cycle: nothing has a value.
    pub fn forget(&mut self) {
        self.values.fill(None);
        self.waiting.fill(false);
    }

    /// Gives nets their values.
    pub fn set(&mut self, signals: &[Signal], bits: &[Bit]) {
        for (net, bit) in signals.iter().zip(bits).filter_map(|(signal, bit)| Some((signal.net()?, bit))) {
            self.values[net as usize] = Some(*bit);
        }
    }

    /// The values of signals, built if they are not there.
    pub fn word(&mut self, signals: &[Signal], place: &str) -> Result<Vec<Bit>> {
        signals.iter().filter_map(|signal| signal.net()).try_for_each(|net| self.need(net))?;
        signals.iter().map(|bit| self.value(*bit, place)).collect()
    }

    fn input(&mut self, port: &Port) {
        let bits = self.c.input(&port.name, type_of(port));
        self.set(&port.bits, &bits);
    }

    fn output(&mut self, port: &Port) -> Result<()> {
        let bits = self.word(&port.bits, &port.place)?;
        self.c.output_as(&port.name, type_of(port), &bits);
        Ok(())
    }

    /// Builds what a net needs and then what drives it.
    fn need(&mut self, net: u32) -> Result<()> {
        let mut stack = Vec::new();
        self.begin(net, &mut stack)?;
        while let Some(frame) = stack.last_mut() {
            match frame.reads.get(frame.next) {
                Some(&Signal::Net(net)) => {
                    frame.next += 1;
                    self.begin(net, &mut stack)?;
                }
                Some(_) => frame.next += 1,
                None => {
                    let frame = stack.pop().expect("the frame that was looked at");
                    self.finish(&frame)?;
                }
            }
        }
        Ok(())
    }

    /// Puts what drives a net onto the stack, unless it is built.
    fn begin(&mut self, net: u32, stack: &mut Vec<Frame>) -> Result<()> {
        if self.values[net as usize].is_some() {
            return Ok(());
        }
        let node = self.node(net)?;
        if self.waiting[net as usize] {
            return Err(self.circle(node, stack));
        }
        let cell = &self.module.cells[node.cell as usize];
        self.driven(node).for_each(|net| self.waiting[net as usize] = true);
        let reads = match (node.bit, self.sums.get(&node.cell)) {
            (Some(bit), _) => cells::operands(cell, bit as usize)?,
            (None, Some(terms)) => terms.iter().flat_map(Term::signals).collect(),
            (None, None) => cell.inputs.iter().flat_map(|(_, bits)| bits).copied().collect(),
        };
        stack.push(Frame { node, reads, next: 0 });
        Ok(())
    }

    fn node(&self, net: u32) -> Result<Node> {
        match self.module.drivers[net as usize] {
            Driver::Cell(cell, place) => {
                let kind = &self.module.cells[cell as usize].kind;
                let bitwise = cells::is_bitwise(kind) && !self.sums.contains_key(&cell);
                Ok(Node { cell, bit: bitwise.then_some(place) })
            }
            Driver::Input => {
                let (place, wire) = self.module.wire(net);
                let why = format!("{wire} is read where it has no value: it is a clock, or has one in each cycle");
                let hint = "name the output with --each, so that it has a value in each cycle as well";
                Err(Error::design(place, why, hint))
            }
            Driver::None => {
                let (place, wire) = self.module.wire(net);
                let hint = "assign it, or connect the port of the instance that should drive it";
                Err(Error::design(place, format!("nothing drives {wire}"), hint))
            }
        }
    }

    /// The nets that a node drives.
    fn driven(&self, node: Node) -> impl Iterator<Item = u32> + use<'a> {
        let outputs = self.module.cells[node.cell as usize].outputs.iter().flat_map(|(_, bits)| bits);
        let (skip, take) = node.bit.map_or((0, usize::MAX), |bit| (bit as usize, 1));
        outputs.skip(skip).take(take).filter_map(|signal| match signal {
            Signal::Net(net) => Some(*net),
            _ => None,
        })
    }

    fn finish(&mut self, frame: &Frame) -> Result<()> {
        let cell = &self.module.cells[frame.node.cell as usize];
        let bits: Vec<Bit> = frame.reads.iter().map(|bit| self.value(*bit, &cell.place)).collect::<Result<_>>()?;
        match (frame.node.bit, self.sums.get(&frame.node.cell).cloned()) {
            (Some(_), _) => {
                let bit = cells::bit(&mut self.c, cell, &frame.reads, &bits);
                self.driven(frame.node).for_each(|net| self.values[net as usize] = Some(bit));
                Ok(())
            }
            (None, Some(terms)) => {
                let bits = self.sum(cell, &terms, &bits)?;
                self.settle(cell, &[("Y", bits)])
            }
            (None, None) => {
                let mut rest = &bits[..];
                let mut part = |signals: &Vec<Signal>| {
                    let (part, after) = rest.split_at(signals.len());
                    rest = after;
                    part.to_vec()
                };
                let values: Vec<Vec<Bit>> = cell.inputs.iter().map(|(_, signals)| part(signals)).collect();
                let inputs = Inputs { cell, values: &values, goal: cell.goal.unwrap_or(self.goal) };
                let outputs = match &cell.block {
                    Some(block) => self.blocks.instance(&mut self.c, block, &inputs)?,
                    None => cells::build(&mut self.c, &inputs)?,
                };
                self.settle(cell, &outputs)
            }
        }
    }

    /// A sum of terms whose bits stand behind one another.
    fn sum(&mut self, cell: &Cell, terms: &[Term], mut bits: &[Bit]) -> Result<Vec<Bit>> {
        let mut number = |count: usize, signed: bool| {
            let (number, rest) = bits.split_at(count);
            bits = rest;
            Number::new(number, signed)
        };
        let made = terms.iter().map(|term| match term {
            Term::Word { signals, signed, sign: Sign::MinusIf(_, value) } => {
                let word = number(signals.len(), *signed);
                let select = number(1, false).extended(1)[0];
                cells::Term::Signed(word, select.flip(!value))
            }
            Term::Word { signals, signed, sign } => {
                cells::Term::Word(number(signals.len(), *signed), *sign == Sign::Minus)
            }
            Term::Product { a, b, signed } => cells::Term::Product(number(a.len(), *signed), number(b.len(), *signed)),
        });
        let made: Vec<cells::Term> = made.collect();
        let widest = terms.iter().filter(|term| matches!(term, Term::Product { .. })).flat_map(|term| match term {
            Term::Product { a, b, .. } => [a.len(), b.len()],
            Term::Word { .. } => [0, 0],
        });
        if let Some(bits) = widest.max().filter(|bits| *bits > cells::MOST_BITS) {
            let why = format!("a product of {bits} bits; the most are {}", cells::MOST_BITS);
            return Err(Error::design(&cell.place, why, "split the product into shorter ones"));
        }
        Ok(cells::sum(&mut self.c, made, cell.output("Y").len(), cell.goal.unwrap_or(self.goal)))
    }

    /// Gives the nets of a cell's outputs their values.
    fn settle(&mut self, cell: &Cell, outputs: &[(&str, Vec<Bit>)]) -> Result<()> {
        for (port, signals) in &cell.outputs {
            let made = outputs.iter().find(|(name, _)| name == port).map(|(_, bits)| bits);
            let made = made.filter(|bits| bits.len() == signals.len());
            let made =
                made.ok_or_else(|| cells::misshapen(cell, format!("the output {port} has {} bits", signals.len())))?;
            for (signal, bit) in signals.iter().zip(made) {
                if let Signal::Net(net) = signal {
                    self.values[*net as usize] = Some(*bit);
                }
            }
        }
        Ok(())
    }

    fn value(&self, signal: Signal, place: &str) -> Result<Bit> {
        match signal {
            Signal::Net(net) => Ok(self.values[net as usize].expect("what a cell reads is built before it")),
            // Any value will do.
            Signal::Zero | Signal::Unknown => Ok(Bit::FALSE),
            Signal::One => Ok(Bit::TRUE),
            Signal::Floating => {
                Err(Error::design(place, "reads 'z', which nothing drives", "write 0, 1 or a select with ?:"))
            }
        }
    }

    /// The error of a node that waits for itself.
    fn circle(&self, node: Node, stack: &[Frame]) -> Error {
        let place = |frame: &Frame| self.module.cells[frame.node.cell as usize].place.as_str();
        let from = stack.iter().position(|frame| frame.node == node).unwrap_or(0);
        let cells = stack[from..].iter().map(|frame| &self.module.cells[frame.node.cell as usize]);
        if let Some(state) = cells.clone().find(|cell| cells::is_state(&cell.kind)) {
            return cells::refuse(state);
        }
        let mut places: Vec<&str> = stack[from..].iter().map(place).collect();
        places.dedup();
        let first = places.first().copied().unwrap_or_default();
        let through = if places.len() > 1 { format!(" through {}", places[1..].join(", ")) } else { String::new() };
        let why = format!("a loop: a value depends on itself{through}");
        Error::design(first, why, "break the loop: give each step of it a wire of its own")
    }
}
