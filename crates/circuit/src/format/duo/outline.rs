//! The outline of a program: short digests of how far it goes, by which two parties whose programs differ are told where they
//! differ first, without sending either.
//!
//! There are three chains: of sizes and steps, with the name and the inputs of a circuit beside its first step; of the gates of the
//! circuits in the order of the table, which is that of their first use; and of what circuits make their outputs of. A mark is 16 bits of BLAKE3 of all before it in the chain; marks stand at multiples of the least power of
//! two for which there are at most 64, and at the end. A difference is placed too late where a mark is equal by chance, which
//! is once in 65,536: nothing but a message depends on it.

use super::Code;
use super::primitives::DuoWriter;
use crate::error::{Error, Result};
use crate::graph::Circuit;
use crate::program::{Program, Step};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The most marks of a chain.
const MOST_MARKS: u64 = 64;

/// Short digests along a program. As text it has at most 900 characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    steps: Marks,
    gates: Marks,
    outputs: Marks,
}

/// A place of a program: a size or a step, and a gate or the outputs of the step's circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The number of a public size.
    Size(usize),
    /// The number of a step, or that after the last one.
    Step(usize),
    /// The number of a step, and of a gate of its circuit, or that after the last one.
    Gate(usize, usize),
    /// The number of a step, for what its circuit makes its outputs of.
    Outputs(usize),
}

/// Where two programs differ first: there, or between both places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Apart {
    /// The first place at which they may differ.
    pub from: Place,
    /// The last one.
    pub to: Place,
}

impl Place {
    /// Sizes come first, and what a step says before its circuit.
    fn order(self) -> (usize, usize, usize) {
        match self {
            Place::Size(size) => (0, size, 0),
            Place::Step(step) => (1, step, 0),
            Place::Gate(step, gate) => (1, step, 1 + gate),
            Place::Outputs(step) => (1, step, usize::MAX),
        }
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((_, from, _), (_, to, _)) = (self.from.order(), self.to.order());
        match (self.from, self.to) {
            (Place::Size(_), _) => write!(f, "size {from}"),
            (Place::Outputs(_), Place::Outputs(_)) if from == to => {
                write!(f, "the outputs of the circuit of step {from}")
            }
            (Place::Gate(_, first), Place::Gate(_, last)) if (from, first) == (to, last) => {
                write!(f, "the circuit of step {from}, gate {first}")
            }
            (Place::Gate(_, first), Place::Gate(_, last)) if from == to => {
                write!(f, "the circuit of step {from}, gates {first} to {last}")
            }
            _ if from == to => write!(f, "step {from}"),
            _ => write!(f, "steps {from} to {to}"),
        }
    }
}

impl Program {
    /// Short digests along the program.
    ///
    /// # Errors
    /// If a mistake was made when the program was written.
    pub fn outline(&self) -> Result<Outline> {
        self.check()?;
        let [mut steps, mut gates, mut outputs] = self.lengths().map(Marking::new);
        self.sizes().iter().for_each(|size| steps.item(size));
        let mut fresh = self.circuits().iter();
        let firsts: Vec<usize> = (0..self.circuits().len()).map(|circuit| self.first_use(circuit)).collect();
        for (number, step) in self.steps().iter().enumerate() {
            firsts
                .iter()
                .filter(|first| **first == number)
                .zip(&mut fresh)
                .for_each(|(_, circuit)| steps.ports(circuit));
            steps.item(step);
        }
        self.circuits().iter().for_each(|circuit| gates.gates(circuit));
        self.circuits().iter().for_each(|circuit| outputs.outputs(circuit));
        Ok(Outline { steps: steps.marks, gates: gates.marks, outputs: outputs.marks })
    }

    /// How many characters its outline has.
    pub(crate) fn length_of_outline(&self) -> usize {
        let [steps, gates, outputs] = self.lengths().map(Marks::of_zeros);
        Outline { steps, gates, outputs }.to_string().len()
    }

    /// How many items each chain has.
    fn lengths(&self) -> [u64; 3] {
        let gates = self.circuits().iter().map(|circuit| circuit.gates().len() as u64).sum();
        [(self.sizes().len() + self.steps().len()) as u64, gates, self.circuits().len() as u64]
    }

    /// Where this program and another one differ first, by both outlines, of which the first is this program's; none if they
    /// differ in names alone, or not at all.
    pub fn apart(&self, ours: &Outline, theirs: &Outline) -> Option<Apart> {
        let (sizes, end) = (self.sizes().len(), self.steps().len());
        let within = |range: Range<u64>, place: &dyn Fn(u64) -> Place| Apart {
            from: place(range.start),
            to: place(range.end - 1),
        };
        let of_steps = ours.steps.apart(&theirs.steps).map(|range| {
            within(range, &|item| match (item as usize).checked_sub(sizes) {
                Some(step) => Place::Step(step),
                None => Place::Size(item as usize),
            })
        });
        let of_gates = ours.gates.apart(&theirs.gates).map(|range| {
            // Where the other has more gates than there are here, they may be of a further circuit.
            let apart = within(range.clone(), &|gate| self.place_of_gate(gate));
            if range.end > ours.gates.items { Apart { to: Place::Step(end), ..apart } } else { apart }
        });
        let of_outputs = ours
            .outputs
            .apart(&theirs.outputs)
            .map(|range| within(range, &|circuit| Place::Outputs(self.first_use(circuit as usize))));
        // The first difference is before the end of each, and behind the first beginning.
        let all: Vec<Apart> = of_steps.into_iter().chain(of_gates).chain(of_outputs).collect();
        let from = all.iter().map(|apart| apart.from).min_by_key(|from| from.order())?;
        let to = all.iter().map(|apart| apart.to).min_by_key(|to| to.order())?;
        Some(Apart { from, to })
    }

    /// The place of a gate by its number among all.
    fn place_of_gate(&self, gate: u64) -> Place {
        let mut rest = gate as usize;
        for (circuit, of) in self.circuits().iter().enumerate() {
            if rest < of.gates().len() || circuit + 1 == self.circuits().len() {
                return Place::Gate(self.first_use(circuit), rest);
            }
            rest -= of.gates().len();
        }
        Place::Step(self.steps().len())
    }

    fn first_use(&self, place: usize) -> usize {
        let uses = |step: &Step| match step {
            Step::Map { circuit, .. } | Step::Reduce { circuit, .. } | Step::Iterate { circuit, .. } => {
                *circuit as usize == place
            }
            _ => false,
        };
        self.steps().iter().position(uses).unwrap_or(self.steps().len())
    }
}

/// The marks of a chain of items.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Marks {
    items: u64,
    /// How many items there are between two marks.
    stride: u64,
    marks: Vec<u16>,
}

impl Marks {
    /// The least power of two with which there are not too many.
    fn stride(items: u64) -> u64 {
        items.div_ceil(MOST_MARKS).max(1).next_power_of_two()
    }

    /// As long as those of so many items.
    fn of_zeros(items: u64) -> Marks {
        let stride = Marks::stride(items);
        Marks { items, stride, marks: vec![0; items.div_ceil(stride) as usize] }
    }

    /// The mark of the first so many items, which are a multiple of the stride or all.
    fn after(&self, items: u64) -> u16 {
        self.marks[items.div_ceil(self.stride) as usize - 1]
    }

    /// Among which items the first that differs is.
    fn apart(&self, other: &Marks) -> Option<Range<u64>> {
        let (stride, both) = (self.stride.max(other.stride), self.items.min(other.items));
        let whole = (1..=both / stride).map(|marks| marks * stride);
        let all = (self.items == other.items).then_some(both).filter(|both| *both > 0);
        let mut before = 0;
        for items in whole.chain(all) {
            if self.after(items) != other.after(items) {
                return Some(before..items);
            }
            before = items;
        }
        (self.items != other.items).then_some(before..both + 1)
    }
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {} ", self.items, self.stride)?;
        self.marks.iter().try_for_each(|mark| write!(f, "{mark:04x}"))
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.steps, self.gates, self.outputs)
    }
}

impl FromStr for Marks {
    type Err = Error;

    fn from_str(text: &str) -> Result<Marks> {
        let refuse = || Error::invalid("the outline of a program", "expected 'ITEMS by STRIDE MARKS'");
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok()).ok_or_else(refuse);
        let mut words = text.split(' ');
        let items = number(words.next())?;
        words.next().filter(|word| *word == "by").ok_or_else(refuse)?;
        let stride = number(words.next())?;
        let marks = words.next().filter(|marks| marks.is_ascii()).ok_or_else(refuse)?.as_bytes();
        let mark = |hex: &[u8]| u16::from_str_radix(std::str::from_utf8(hex).unwrap_or(""), 16).map_err(|_| refuse());
        let marks = marks.chunks(4).map(mark).collect::<Result<Vec<_>>>()?;
        let made = Marks { items, stride, marks };
        // There is one way to write it.
        let is_fit =
            items < 1 << 62 && stride == Marks::stride(items) && made.marks.len() as u64 == items.div_ceil(stride);
        if is_fit && made.to_string() == text { Ok(made) } else { Err(refuse()) }
    }
}

impl FromStr for Outline {
    type Err = Error;

    /// # Errors
    /// If it is not as an outline is written.
    fn from_str(text: &str) -> Result<Outline> {
        match text.split(", ").collect::<Vec<_>>()[..] {
            [steps, gates, outputs] => {
                Ok(Outline { steps: steps.parse()?, gates: gates.parse()?, outputs: outputs.parse()? })
            }
            _ => Err(Error::invalid("the outline of a program", "expected three chains of marks")),
        }
    }
}

/// Marks while they are made.
struct Marking {
    marks: Marks,
    done: u64,
    out: DuoWriter,
}

impl Marking {
    fn new(items: u64) -> Marking {
        let marks = Marks { items, stride: Marks::stride(items), marks: Vec::new() };
        Marking { marks, done: 0, out: DuoWriter::hashing() }
    }

    fn item(&mut self, item: &impl Code) {
        item.write(&mut self.out);
        self.end();
    }

    /// An item is written.
    fn end(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(self.marks.stride) || self.done == self.marks.items {
            self.marks.marks.push(self.out.mark());
        }
    }

    /// They belong to the step that comes next.
    fn ports(&mut self, circuit: &Circuit) {
        self.out.text(circuit.name());
        self.out.list(circuit.inputs());
    }

    fn gates(&mut self, circuit: &Circuit) {
        circuit.gates().iter().for_each(|gate| self.item(gate));
    }

    fn outputs(&mut self, circuit: &Circuit) {
        self.out.list(circuit.outputs());
        self.out.list(circuit.input_nodes());
        self.out.list(circuit.output_bits());
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Goal;
    use crate::builder::Builder;
    use crate::program::{Party, Recipient};
    use crate::{UInt, Word, uint};

    /// A program that multiplies and adds a number, and has a second map where it is asked for.
    fn program(name: &str, number: u128, learns: Recipient, more: bool) -> Program {
        let mut p = Program::new(name);
        let lanes = p.size("lanes", 1..=10);
        let [x, y] = [("x", Party::Alice), ("y", Party::Bob)].map(|(name, who)| p.input(name, who, uint(16), lanes));
        let mut c = Builder::new("map");
        let (a, b) = (c.uint("a", 16), c.uint("b", 16));
        let product = crate::blocks::multiply_low(&mut c, &a, &b, Goal::Size);
        let number = UInt::constant(number, 16);
        let sum = crate::blocks::add(&mut c, &product, &number, Goal::Size);
        c.output("out", &sum);
        let mut out = p.map(&c.finish(), &[x, y]);
        if more {
            let mut c = Builder::new("more");
            let a = c.uint("a", 16);
            let b = crate::blocks::add(&mut c, &a, &a, Goal::Size);
            c.output("out", &b);
            out = p.map(&c.finish(), &[out]);
        }
        p.output("out", learns, out);
        p
    }

    fn apart(ours: &Program, theirs: &Program) -> Option<String> {
        let [one, other] = [ours, theirs].map(|program| program.outline().unwrap());
        assert_eq!(one, one.to_string().parse().unwrap());
        assert!(one.to_string().len() <= 900);
        assert_eq!(one.to_string().len(), ours.length_of_outline());
        ours.apart(&one, &other).map(|apart| apart.to_string())
    }

    #[test]
    fn the_first_difference_is_found() {
        let alice = Recipient::Party(Party::Alice);
        let ours = program("one", 5, Recipient::Both, false);
        assert_eq!(apart(&ours, &program("one", 5, Recipient::Both, false)), None);
        assert_eq!(apart(&ours, &program("another", 5, Recipient::Both, false)), None);
        assert_eq!(apart(&ours, &program("one", 5, alice, false)).unwrap(), "step 3");
        assert_eq!(apart(&ours, &program("one", 5, alice, true)).unwrap(), "steps 2 to 3");
        let other = program("one", 7, Recipient::Both, false);
        let [one, two] = [&ours, &other].map(|program| program.circuits()[0].gates());
        let first = one.iter().zip(two).position(|(a, b)| a != b).unwrap();
        let [a, b] = [&ours, &other].map(|program| program.outline().unwrap());
        let Some(Apart { from: Place::Gate(2, from), to: Place::Gate(2, to) }) = ours.apart(&a, &b) else {
            panic!("not in the circuit of step 2")
        };
        assert!((from..=to).contains(&first) && to - from < 64, "{first} is not among {from} to {to}");
        // The last gates that both have are not marked where one has more.
        assert_eq!(apart(&program("one", 5, alice, true), &ours).unwrap(), "steps 2 to 3");
        let mut sized = Program::new("one");
        sized.size("lanes", 1..=9);
        assert_eq!(apart(&sized, &ours).unwrap(), "size 0");
    }

    /// A map whose outputs are rotated, and a further one.
    fn shifted(by: usize, further: u128) -> Program {
        let mut p = Program::new("shifted");
        let lanes = p.size("lanes", 1..=10);
        let x = p.input("x", Party::Alice, uint(16), lanes);
        let mut c = Builder::new("map");
        let a = c.uint("a", 16);
        let product = crate::blocks::multiply_low(&mut c, &a, &a, Goal::Size);
        let mut bits = product.bits().to_vec();
        bits.rotate_right(by);
        c.output("out", &UInt::from_bits(bits));
        let mut out = p.map(&c.finish(), &[x]);
        let mut c = Builder::new("further");
        let a = c.uint("a", 16);
        let sum = crate::blocks::add(&mut c, &a, &UInt::constant(further, 16), Goal::Size);
        c.output("out", &sum);
        out = p.map(&c.finish(), &[out]);
        p.output("out", Recipient::Both, out);
        p
    }

    /// Outputs are no gates: whatever of them differs is not told as the last gate, and comes before what follows.
    #[test]
    fn outputs_have_a_place_of_their_own() {
        let ours = shifted(1, 5);
        assert_eq!(apart(&ours, &shifted(2, 5)).unwrap(), "the outputs of the circuit of step 1");
        assert_eq!(apart(&ours, &shifted(2, 7)).unwrap(), "the outputs of the circuit of step 1");
        assert!(apart(&ours, &shifted(1, 7)).unwrap().starts_with("the circuit of step 2, gate"));
    }

    /// A program of a hundred steps, of which the second says one constant and the circuit of the third another.
    fn long(constant: bool, number: u128) -> Program {
        let mut p = Program::new("long");
        let x = p.input("x", Party::Alice, uint(16), 1);
        let said = p.constant(uint(16), 1, &[constant; 16]);
        let mut c = Builder::new("map");
        let (a, b) = (c.uint("a", 16), c.uint("b", 16));
        let sum = crate::blocks::add(&mut c, &a, &UInt::constant(number, 16), Goal::Size);
        let sum = crate::blocks::add(&mut c, &sum, &b, Goal::Size);
        c.output("out", &sum);
        let (circuit, mut out) = (c.finish(), x);
        (0..100).for_each(|_| out = p.map(&circuit, &[out, said]));
        p.output("out", Recipient::Both, out);
        p
    }

    /// Where marks of steps are wide, what begins first is told, though the gates end before it.
    #[test]
    fn what_begins_first_is_told() {
        let ours = long(false, 5);
        assert_eq!(apart(&ours, &long(true, 7)).unwrap(), "steps 0 to 1");
        assert_eq!(apart(&ours, &long(true, 5)).unwrap(), "steps 0 to 1");
        assert!(apart(&ours, &long(false, 7)).unwrap().starts_with("the circuit of step 2, gate"));
    }

    #[test]
    fn whatever_is_no_outline_is_refused() {
        let good = program("one", 5, Recipient::Both, false).outline().unwrap().to_string();
        for bad in [
            "",
            "1 by 1 0000",
            "1 by 1 0000, ",
            "1 by 1 0000, 0 by 1 ",
            "1 by 1 0000, 1 by 2 0000, 0 by 1 ",
            "1 by 1 00é0, 0 by 1 , 0 by 1 ",
            "1 by 1 +000, 0 by 1 , 0 by 1 ",
            "0 by 1 , 0 by 1 , 0 by 1 , 0 by 1 ",
        ] {
            assert!(bad.parse::<Outline>().is_err(), "{bad}");
        }
        assert!(good.parse::<Outline>().is_ok());
        assert!(good[..good.len() - 1].parse::<Outline>().is_err());
        assert!("0 by 1 , 0 by 1 , 0 by 1 ".parse::<Outline>().is_ok());
    }
}
