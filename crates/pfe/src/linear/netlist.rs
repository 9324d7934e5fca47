//! A function as Katz and Malka's protocol takes it: NANDs of two wires, of which the last ones are the outputs.

use crate::Sizes;
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use duologue::{Error, Result};
use std::fmt;
use std::ops::Range;
use zeroize::Zeroizing;

/// NANDs. Wires are inputs, then gates; a gate reads earlier wires. The last gates are the outputs, in order, and nothing
/// reads them. Gates are erased after use.
#[derive(Clone, PartialEq, Eq)]
pub struct Netlist {
    sizes: Sizes,
    gates: Zeroizing<Vec<[u32; 2]>>,
}

/// The sizes alone: the rest is a secret.
impl fmt::Debug for Netlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Netlist").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

impl Netlist {
    /// The gates of a function of NANDs; one more for each output that is also read, is a constant, or was an output
    /// before, and two for one that is an input; four for the constants, if any is read; padded to so many, if told.
    ///
    /// How many these are, and which wait for which, does not depend on what constants are: they are wires like all others, and
    /// nothing is folded.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the gate if one is no NAND, or there are more than it is to be padded to; or if there are
    /// no inputs or outputs.
    pub fn new(function: &Function, gates: Option<u64>) -> Result<Self> {
        let made = Made::read(function)?;
        let mut outputs = Zeroizing::new(Vec::with_capacity(function.outputs().len()));
        for &bit in function.outputs() {
            let why = || malformed("an output is the complement of a NAND or of an input".into());
            outputs.push(made.wire(bit).ok_or_else(why)?);
        }
        made.finish(&outputs, gates)
    }

    /// What the holder of the data learns of it.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The wires that each gate reads.
    pub fn gates(&self) -> &[[u32; 2]] {
        &self.gates
    }

    /// These gates, numbered from 0, in lots that can be evaluated at once: the first gate of each waits for the lot before.
    pub(super) fn lots(&self, gates: Range<u64>) -> Vec<Range<usize>> {
        let before = (u64::from(self.sizes.inputs) + gates.start) as usize;
        let gates = &self.gates[gates.start as usize..gates.end as usize];
        let (mut lots, mut start) = (Vec::new(), 0);
        while start < gates.len() {
            let ready = |wires: &&[u32; 2]| wires.iter().all(|&wire| (wire as usize) < before + start);
            let end = start + gates[start..].iter().take_while(ready).count();
            lots.push(start..end);
            start = end;
        }
        lots
    }

    /// The outputs, gate by gate.
    ///
    /// # Panics
    /// If there are not as many bits as inputs.
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        assert_eq!(inputs.len(), self.sizes.inputs as usize, "input bits of a function");
        let mut wires = inputs.to_vec();
        for &[x, y] in self.gates.iter() {
            wires.push(!(wires[x as usize] & wires[y as usize]));
        }
        wires.split_off(wires.len() - self.sizes.outputs as usize)
    }
}

fn malformed(why: String) -> Error {
    Error::Malformed { what: "the function".into(), why }
}

/// A netlist in the making.
struct Made {
    inputs: u32,
    /// The wire of each node; of node 0, the constants, none.
    wires: Vec<u32>,
    /// With room for all, so that none is left where they were before.
    gates: Zeroizing<Vec<[u32; 2]>>,
    /// The wires of false and true, if any is read.
    constants: Option<[u32; 2]>,
}

impl Made {
    fn read(function: &Function) -> Result<Self> {
        let inputs = function.inputs() as u32;
        if inputs == 0 {
            return Err(malformed("it has no inputs".into()));
        }
        let most = function.gates() + 4 + 2 * function.outputs().len();
        let gates = Zeroizing::new(Vec::with_capacity(most));
        let mut made = Made { inputs, wires: Vec::with_capacity(function.nodes().len()), gates, constants: None };
        let gates = function.nodes().iter().filter_map(|node| match node {
            Node::Majority(bits) => Some(&bits[1..]),
            _ => None,
        });
        if gates.flatten().chain(function.outputs()).any(|bit| bit.node() == 0) {
            made.make_constants();
        }
        for (number, node) in function.nodes().iter().enumerate() {
            let wire = match *node {
                Node::False => Some(0),
                Node::Input => Some(number as u32 - 1),
                Node::Majority([Bit::FALSE, x, y]) => made.wire(x).zip(made.wire(y)).map(|(x, y)| made.gate([x, y])),
                _ => None,
            };
            made.wires.push(wire.ok_or_else(|| malformed(format!("node {number} is no NAND of inputs and NANDs")))?);
        }
        Ok(made)
    }

    /// Both, so that it does not show which is read, and side by side: what reads one of them waits as long as if it read the
    /// other.
    fn make_constants(&mut self) {
        let not = self.gate([0; 2]);
        let one = self.gate([0, not]);
        self.constants = Some([self.gate([one; 2]), self.gate([0, not])]);
    }

    /// A bit, if it is a constant, an input, or the complement of a gate that is an AND: so a NAND.
    fn wire(&self, bit: Bit) -> Option<u32> {
        let wire = *self.wires.get(bit.node() as usize)?;
        match (bit.node(), bit.complemented()) {
            (0, value) => self.constants.map(|constants| constants[usize::from(value)]),
            (node, flip) => (flip == (node > self.inputs)).then_some(wire),
        }
    }

    fn gate(&mut self, wires: [u32; 2]) -> u32 {
        self.gates.push(wires);
        self.inputs + self.gates.len() as u32 - 1
    }

    /// The gate of an output that stays where it is: nothing else may read it.
    fn output(&mut self, wire: u32, free: &mut [bool]) -> u32 {
        match wire.checked_sub(self.inputs) {
            Some(gate) if std::mem::take(&mut free[gate as usize]) => wire,
            Some(gate) => self.gate(self.gates[gate as usize]),
            None => {
                let not = self.gate([wire; 2]);
                self.gate([not; 2])
            }
        }
    }

    fn finish(mut self, outputs: &[u32], padded: Option<u64>) -> Result<Netlist> {
        let mut free = vec![true; self.gates.len()];
        let read = self.gates.iter().flatten().chain(self.constants.iter().flatten());
        read.filter_map(|wire| wire.checked_sub(self.inputs)).for_each(|gate| free[gate as usize] = false);
        let wires: Vec<u32> = outputs.iter().map(|&wire| self.output(wire, &mut free)).collect();
        let own = self.gates.len() as u64;
        let gates = padded.unwrap_or(own);
        let sizes = Sizes { inputs: self.inputs, outputs: wires.len() as u32, gates, additions: 0 };
        if own > gates {
            return Err(malformed(format!("gate {gates} (from 0) is one more than the {gates} it is padded to")));
        }
        sizes.check().map_err(malformed)?;
        Ok(Netlist { sizes, gates: self.in_order(&wires, gates - own) })
    }

    /// Gates that are no outputs, so many NANDs of the first input, and the outputs.
    fn in_order(&self, outputs: &[u32], padding: u64) -> Zeroizing<Vec<[u32; 2]>> {
        let mut is_output = vec![false; self.gates.len()];
        outputs.iter().for_each(|wire| is_output[(wire - self.inputs) as usize] = true);
        let mut moved = vec![0; self.gates.len()];
        let mut gates = Zeroizing::new(Vec::with_capacity(self.gates.len() + padding as usize));
        let follow = |wires: [u32; 2], moved: &[u32]| {
            wires.map(|wire| wire.checked_sub(self.inputs).map_or(wire, |gate| moved[gate as usize]))
        };
        for (gate, &wires) in self.gates.iter().enumerate().filter(|(gate, _)| !is_output[*gate]) {
            moved[gate] = self.inputs + gates.len() as u32;
            gates.push(follow(wires, &moved));
        }
        gates.extend((0..padding).map(|_| [0; 2]));
        gates.extend(outputs.iter().map(|wire| follow(self.gates[(wire - self.inputs) as usize], &moved)));
        gates
    }
}
