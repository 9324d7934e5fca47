//! From a netlist to a circuit: cells are built when an output needs them, each once; of a clocked design once in a cycle.
//!
//! The order follows the outputs, not the names of cells, so that equal designs give equal circuits.

use crate::blocks::Built;
use crate::cells::{self, Inputs};
use crate::copies::{Copies, Mapped, Shares};
use crate::error::{Error, Result};
use crate::netlist::{Cell, Direction, Driver, Gate, Module, Port, Signal};
use crate::number::Number;
use crate::profile::Profile;
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
    Ok(make(module, goal, false)?.0)
}

/// The circuit of a module, and the ANDs that each line of the source takes in it.
///
/// # Errors
/// As [`circuit()`].
pub fn profile(module: &Module, goal: Goal) -> Result<(Made<'_>, Profile)> {
    make(module, goal, true)
}

fn make(module: &Module, goal: Goal, profiled: bool) -> Result<(Made<'_>, Profile)> {
    let of = |direction| module.ports.iter().filter(move |port| port.direction == direction && !port.bits.is_empty());
    let (inputs, outputs): (Vec<&Port>, Vec<&Port>) = (of(Direction::Input).collect(), of(Direction::Output).collect());
    check(module, &inputs, &outputs)?;
    module.no_states()?;
    let mut mapper = Mapper::new(module, goal, Builder::new(&module.name));
    if profiled {
        mapper = mapper.profiled();
    }
    inputs.iter().for_each(|port| mapper.input(port));
    for port in &outputs {
        mapper.output(port)?;
    }
    let (circuit, profile) = mapper.complete()?;
    Ok((Made { circuit, inputs, outputs }, profile))
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

/// What is being built: what it reads, unless it is a gate, and how much of that is there.
struct Frame {
    node: Node,
    reads: Vec<Signal>,
    next: usize,
}

/// What is built at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// A gate of single bits.
    Gate(u32),
    /// A bit of a cell.
    Bit(u32, u32),
    /// A whole cell.
    Cell(u32),
}

/// What built a part of the circuit.
pub(crate) enum Origin {
    /// A node of the module.
    Node(Node),
    /// An instance: a line of the circuit that was copied.
    Line(Rc<Mapped>, usize),
}

/// Builds cells into a circuit.
pub(crate) struct Mapper<'a> {
    module: &'a Module,
    pub c: Builder,
    goal: Goal,
    blocks: Built,
    pub copies: Copies,
    sums: FxHashMap<u32, Rc<Vec<Term>>>,
    /// The cells whose terms a sum has, with their shares in it.
    shares: FxHashMap<u32, Vec<(u32, u64)>>,
    /// Up to which node of the circuit each part was built, if a profile is wanted.
    pub built: Option<Vec<(u32, Origin)>>,
    values: Vec<Option<Bit>>,
    /// Nets whose nodes are being built.
    waiting: Vec<bool>,
}

impl<'a> Mapper<'a> {
    pub fn new(module: &'a Module, goal: Goal, c: Builder) -> Self {
        Mapper::with(module, goal, c, Copies::of(module))
    }

    fn with(module: &'a Module, goal: Goal, c: Builder, copies: Copies) -> Self {
        let nets = module.drivers.len();
        let found = sums::find(module);
        let sums = found.terms.into_iter().map(|(cell, terms)| (cell, Rc::new(terms))).collect();
        let (values, waiting) = (vec![None; nets], vec![false; nets]);
        let blocks = Built::default();
        Mapper { module, c, goal, blocks, copies, sums, shares: found.shares, built: None, values, waiting }
    }

    /// One for a module that this one contains. It has what was made before, until that is taken back.
    pub fn inner<'b>(&mut self, module: &'b Module, c: Builder) -> Mapper<'b> {
        let mut inner = Mapper::with(module, self.goal, c, Copies::default());
        inner.built = self.built.as_ref().map(|_| Vec::new());
        inner.take_from(self);
        inner
    }

    /// Takes what blocks and modules became.
    pub fn take_from(&mut self, other: &mut Mapper) {
        self.blocks = std::mem::take(&mut other.blocks);
        self.copies = std::mem::take(&mut other.copies);
    }

    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// From now on notes what each cell costs.
    pub fn profiled(mut self) -> Self {
        self.built = Some(Vec::new());
        self
    }

    /// The circuit, and what the lines of the source cost in it.
    pub fn complete(self) -> Result<(Circuit, Profile)> {
        let mut profile = Profile::default();
        let circuit = self.end(|_, shares, ands| {
            profile.divide(shares.iter().map(|(place, share)| (place.as_str(), *share)), ands);
        })?;
        Ok((circuit, profile))
    }

    /// The circuit, and up to which node each line built it.
    pub fn complete_with_lines(self) -> Result<Mapped> {
        let mut lines = Vec::new();
        let circuit = self.end(|end, shares, _| lines.push((end, shares)))?;
        Ok(Mapped { circuit, lines })
    }

    /// The circuit; `line` is told up to which node each line built ANDs of it, and how many.
    fn end(mut self, mut line: impl FnMut(u32, Shares, u64)) -> Result<Circuit> {
        let built = self.built.take().unwrap_or_default();
        let Mapper { module, c, shares, .. } = self;
        let (circuit, moved) = c.try_finish_with_nodes()?;
        let (mut first, mut end) = (0, 0);
        for (until, origin) in built {
            let kept = moved[first..until as usize].iter().filter(|&&node| node != 0);
            first = until as usize;
            let is_and = |&&node: &&u32| matches!(circuit.gates()[node as usize], circuit::Gate::And(..));
            let ands = kept.clone().filter(is_and).count() as u64;
            end = kept.max().map_or(end, |last| last + 1);
            if ands > 0 {
                line(end, origin.shares(module, &shares), ands);
            }
        }
        Ok(circuit)
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
            let reads = match frame.node {
                Node::Gate(gate) => self.module.gate(gate).reads(),
                _ => &frame.reads,
            };
            match reads.get(frame.next) {
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
        self.driven(node).for_each(|net| self.waiting[net as usize] = true);
        let cell = |number: u32| &self.module.cells[number as usize];
        let reads = match node {
            Node::Gate(_) => Vec::new(),
            Node::Bit(number, bit) => cells::operands(cell(number), bit as usize)?,
            Node::Cell(number) => match self.sums.get(&number) {
                Some(terms) => terms.iter().flat_map(Term::signals).collect(),
                None => cell(number).inputs.iter().flat_map(|(_, bits)| bits).copied().collect(),
            },
        };
        stack.push(Frame { node, reads, next: 0 });
        Ok(())
    }

    fn node(&self, net: u32) -> Result<Node> {
        match self.module.drivers[net as usize] {
            Driver::Cell(cell, place) => {
                let kind = &self.module.cells[cell as usize].kind;
                let bitwise = cells::is_bitwise(kind) && !self.sums.contains_key(&cell);
                Ok(if bitwise { Node::Bit(cell, place) } else { Node::Cell(cell) })
            }
            Driver::Gate(gate) => Ok(Node::Gate(gate)),
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
        let (gate, cell, skip, take) = match node {
            Node::Gate(gate) => (Some(self.module.gate(gate).output), None, 0, 0),
            Node::Bit(cell, bit) => (None, Some(cell), bit as usize, 1),
            Node::Cell(cell) => (None, Some(cell), 0, usize::MAX),
        };
        let cell = cell.map(|cell| &self.module.cells[cell as usize]);
        let outputs = cell.into_iter().flat_map(|cell| cell.outputs.iter().flat_map(|(_, bits)| bits));
        gate.into_iter().chain(outputs.skip(skip).take(take).copied()).filter_map(Signal::net)
    }

    fn finish(&mut self, frame: &Frame) -> Result<()> {
        self.build(frame)?;
        if let Some(built) = &mut self.built {
            built.push((self.c.nodes(), Origin::Node(frame.node)));
        }
        Ok(())
    }

    fn build(&mut self, frame: &Frame) -> Result<()> {
        match frame.node {
            Node::Gate(gate) => self.finish_gate(self.module.gate(gate)),
            Node::Bit(number, _) => {
                let cell = &self.module.cells[number as usize];
                let bits = self.values_of(&frame.reads, &cell.place)?;
                let bit = cells::bit(&mut self.c, cell, &frame.reads, &bits);
                self.driven(frame.node).for_each(|net| self.values[net as usize] = Some(bit));
                Ok(())
            }
            Node::Cell(number) => self.finish_cell(number, &frame.reads),
        }
    }

    fn finish_gate(&mut self, gate: &Gate) -> Result<()> {
        let mut bits = [Bit::FALSE; 4];
        for (bit, signal) in bits.iter_mut().zip(gate.reads()) {
            *bit = match signal {
                Signal::Floating => self.value(*signal, &self.module.place_of(gate))?,
                _ => self.value(*signal, "")?,
            };
        }
        let bit = gate.build(&mut self.c, bits);
        self.set(&[gate.output], &[bit]);
        Ok(())
    }

    fn finish_cell(&mut self, number: u32, reads: &[Signal]) -> Result<()> {
        let cell = &self.module.cells[number as usize];
        let bits = self.values_of(reads, &cell.place)?;
        if let Some(terms) = self.sums.get(&number).cloned() {
            let bits = self.sum(cell, &terms, &bits)?;
            return self.settle(cell, &[("Y", bits)]);
        }
        let mut rest = &bits[..];
        let mut part = |signals: &Vec<Signal>| {
            let (part, after) = rest.split_at(signals.len());
            rest = after;
            part.to_vec()
        };
        let values: Vec<Vec<Bit>> = cell.inputs.iter().map(|(_, signals)| part(signals)).collect();
        let inputs = Inputs { cell, values: &values, goal: cell.goal.unwrap_or(self.goal) };
        let outputs = match (&cell.block, &cell.inner) {
            (Some(block), _) => self.blocks.instance(&mut self.c, block, &inputs)?,
            (None, Some(module)) => self.instance(module, &inputs)?,
            (None, None) => cells::build(&mut self.c, &inputs)?,
        };
        self.settle(cell, &outputs)
    }

    fn values_of(&self, signals: &[Signal], place: &str) -> Result<Vec<Bit>> {
        signals.iter().map(|bit| self.value(*bit, place)).collect()
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
        let from = stack.iter().position(|frame| frame.node == node).unwrap_or(0);
        let nodes = || stack[from..].iter().map(|frame| frame.node);
        let cell = |node| match node {
            Node::Gate(_) => None,
            Node::Bit(cell, _) | Node::Cell(cell) => Some(&self.module.cells[cell as usize]),
        };
        if let Some(state) = nodes().filter_map(cell).find(|cell| cells::is_state(&cell.kind)) {
            return cells::refuse(state);
        }
        let mut places: Vec<String> = nodes().take(MOST_PLACES).map(|node| self.place(node)).collect();
        places.dedup();
        let more = if nodes().count() > MOST_PLACES { " and others" } else { "" };
        let through =
            if places.len() > 1 { format!(" through {}{more}", places[1..].join(", ")) } else { String::new() };
        let why = format!("a loop: a value depends on itself{through}");
        Error::design(&places[0], why, "break the loop: give each step of it a wire of its own")
    }

    fn place(&self, node: Node) -> String {
        match node {
            Node::Gate(gate) => self.module.place_of(self.module.gate(gate)),
            Node::Bit(cell, _) | Node::Cell(cell) => self.module.cells[cell as usize].place.clone(),
        }
    }
}

impl Origin {
    /// The places that a part is charged to.
    fn shares(&self, module: &Module, sums: &FxHashMap<u32, Vec<(u32, u64)>>) -> Shares {
        let place = |cell: u32| module.cells[cell as usize].place.clone();
        match self {
            Origin::Line(mapped, line) => mapped.lines[*line].1.clone(),
            Origin::Node(Node::Gate(gate)) => vec![(module.place_of(module.gate(*gate)), 1)],
            Origin::Node(Node::Bit(cell, _)) => vec![(place(*cell), 1)],
            Origin::Node(Node::Cell(cell)) => match sums.get(cell) {
                Some(shares) => shares.iter().map(|(cell, share)| (place(*cell), *share)).collect(),
                None => vec![(place(*cell), 1)],
            },
        }
    }
}

/// The most places of a loop that are named.
const MOST_PLACES: usize = 20;
