//! Gates in whatever order a file has them, joined by numbered nets.
//!
//! A gate is built when all that it reads is there. Time and memory are linear in the gates and what they read, and no
//! chain of gates is too long.

use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::graph::Bit;

/// Gates of kind F. What a gate reads is a literal: twice the number of a net, and one more for its complement.
pub(super) struct Nets<F> {
    format: &'static str,
    values: Vec<Option<Bit>>,
    /// The gate that drives each net, counted from one.
    drivers: Vec<u32>,
    gates: Vec<NetGate<F>>,
    operands: Vec<u32>,
}

struct NetGate<F> {
    output: u32,
    /// Its first operand; the last one stands before the first of the next gate.
    first: usize,
    line: usize,
    function: F,
}

/// A gate that waits for its operands, which are there up to the next one.
struct Frame {
    gate: usize,
    next: usize,
}

impl<F> Nets<F> {
    /// So many nets that nothing drives.
    pub fn new(format: &'static str, count: usize) -> Self {
        let (values, drivers) = (vec![None; count], vec![0; count]);
        Nets { format, values, drivers, gates: Vec::new(), operands: Vec::new() }
    }

    /// One more net.
    pub fn add(&mut self) -> u32 {
        self.values.push(None);
        self.drivers.push(0);
        (self.values.len() - 1) as u32
    }

    /// Whether a net has a value or a gate that drives it.
    pub fn is_driven(&self, net: u32) -> bool {
        self.values[net as usize].is_some() || self.drivers[net as usize] != 0
    }

    /// Gives a net that nothing drives a value.
    pub fn set(&mut self, net: u32, bit: Bit) {
        self.values[net as usize] = Some(bit);
    }

    /// A gate that drives a net which nothing else drives.
    pub fn gate(&mut self, output: u32, operands: impl IntoIterator<Item = u32>, function: F, line: usize) {
        self.gates.push(NetGate { output, first: self.operands.len(), line, function });
        self.operands.extend(operands);
        self.drivers[output as usize] = self.gates.len() as u32;
    }

    /// The value of a literal, once all gates are built.
    pub fn value(&self, literal: u32) -> Option<Bit> {
        self.values[literal as usize / 2].map(|bit| bit.flip(literal % 2 == 1))
    }

    /// Builds all gates; `name` says what a net is called in the file.
    pub fn build(
        &mut self,
        c: &mut Builder,
        name: impl Fn(u32) -> String,
        mut build: impl FnMut(&mut Builder, &F, &[Bit]) -> Bit,
    ) -> Result<()> {
        let (mut waiting, mut stack, mut bits) = (vec![false; self.gates.len()], Vec::new(), Vec::new());
        for first in 0..self.gates.len() {
            if self.values[self.gates[first].output as usize].is_none() {
                waiting[first] = true;
                stack.push(Frame { gate: first, next: self.gates[first].first });
            }
            while let Some(frame) = stack.last_mut() {
                if let Some(missing) = self.missing(frame) {
                    let below = self.below(missing, frame.gate, &waiting, &name)?;
                    waiting[below] = true;
                    stack.push(Frame { gate: below, next: self.gates[below].first });
                    continue;
                }
                let gate = &self.gates[frame.gate];
                bits.clear();
                bits.extend(self.operands_of(frame.gate).iter().filter_map(|&literal| self.value(literal)));
                self.values[gate.output as usize] = Some(build(c, &gate.function, &bits));
                stack.pop();
            }
        }
        Ok(())
    }

    fn operands_of(&self, gate: usize) -> &[u32] {
        let end = self.gates.get(gate + 1).map_or(self.operands.len(), |next| next.first);
        &self.operands[self.gates[gate].first..end]
    }

    /// The next net that a gate reads and that has no value.
    fn missing(&self, frame: &mut Frame) -> Option<u32> {
        let operands = self.operands_of(frame.gate);
        let rest = &operands[frame.next - self.gates[frame.gate].first..];
        let skip = rest.iter().position(|&literal| self.value(literal).is_none())?;
        frame.next += skip;
        Some(rest[skip] / 2)
    }

    /// The gate that drives a missing net.
    fn below(&self, net: u32, gate: usize, waiting: &[bool], name: impl Fn(u32) -> String) -> Result<usize> {
        let gate = &self.gates[gate];
        let why = match self.drivers[net as usize] {
            0 => format!("{} is never defined", name(net)),
            driver if waiting[driver as usize - 1] => format!("{} reads itself: a loop", name(gate.output)),
            driver => return Ok(driver as usize - 1),
        };
        Err(Error::Syntax { format: self.format, line: gate.line, why })
    }
}
