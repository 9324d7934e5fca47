//! A function as Katz and Malka's protocol takes it: NANDs of two wires, of which the last ones are the outputs.

use crate::Sizes;
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use duologue::{Error, Result};

/// NANDs. Wires are inputs, then gates; a gate reads earlier wires. The last gates are the outputs, in order, and nothing
/// reads them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Netlist {
    sizes: Sizes,
    gates: Vec<[u32; 2]>,
}

/// What a bit of a function is.
#[derive(Clone, Copy)]
enum Value {
    Constant(bool),
    Wire(u32),
}

impl Netlist {
    /// The gates of a function of NANDs, and one more for each output that is also read, or is no gate, or was an output
    /// before (of inputs and constants up to three); padded to so many, if told.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the gate if one is no NAND, or there are more than it is to be padded to; or if there are
    /// no inputs or outputs.
    pub fn new(function: &Function, gates: Option<u64>) -> Result<Self> {
        let made = Made::read(function)?;
        let outputs = function.outputs().iter().map(|&bit| made.value(bit)).collect::<Option<Vec<_>>>();
        let outputs =
            outputs.ok_or_else(|| malformed("an output is the complement of a NAND or of an input".into()))?;
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

    /// The outputs, gate by gate.
    ///
    /// # Panics
    /// If there are not as many bits as inputs.
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        assert_eq!(inputs.len(), self.sizes.inputs as usize, "input bits of a function");
        let mut wires = inputs.to_vec();
        for &[x, y] in &self.gates {
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
    values: Vec<Value>,
    gates: Vec<[u32; 2]>,
}

impl Made {
    fn read(function: &Function) -> Result<Self> {
        let mut made = Made { inputs: 0, values: Vec::new(), gates: Vec::new() };
        for (number, node) in function.nodes().iter().enumerate() {
            let value = match *node {
                Node::False => Some(Value::Constant(false)),
                Node::Input => {
                    made.inputs += 1;
                    Some(Value::Wire(made.inputs - 1))
                }
                Node::Majority([Bit::FALSE, x, y]) => made.operands(function, [x, y]).map(|[x, y]| made.nand(x, y)),
                _ => None,
            };
            made.values.push(value.ok_or_else(|| malformed(format!("node {number} is no NAND of inputs and NANDs")))?);
        }
        Ok(made)
    }

    fn operands(&self, function: &Function, bits: [Bit; 2]) -> Option<[Value; 2]> {
        let of = |bit: Bit| self.value(bit).filter(|_| (bit.node() as usize) < function.nodes().len());
        Some([of(bits[0])?, of(bits[1])?])
    }

    /// A bit, if it is a constant, an input, or the complement of a gate that is an AND: so a NAND.
    fn value(&self, bit: Bit) -> Option<Value> {
        match (self.values.get(bit.node() as usize)?, bit.node(), bit.complemented()) {
            (Value::Constant(value), 0, flip) => Some(Value::Constant(value ^ flip)),
            (&value, node, flip) => (flip == (node > self.inputs)).then_some(value),
        }
    }

    fn nand(&mut self, x: Value, y: Value) -> Value {
        match (x, y) {
            (Value::Constant(false), _) | (_, Value::Constant(false)) => Value::Constant(true),
            (Value::Constant(true), Value::Constant(true)) => Value::Constant(false),
            (Value::Constant(true), Value::Wire(wire)) | (Value::Wire(wire), Value::Constant(true)) => {
                Value::Wire(self.gate([wire; 2]))
            }
            (Value::Wire(x), Value::Wire(y)) => Value::Wire(self.gate([x, y])),
        }
    }

    fn gate(&mut self, wires: [u32; 2]) -> u32 {
        self.gates.push(wires);
        self.inputs + self.gates.len() as u32 - 1
    }

    /// The gate of an output that stays where it is: nothing else may read it.
    fn output(&mut self, value: Value, free: &mut [bool]) -> u32 {
        match value {
            Value::Wire(wire) if wire >= self.inputs => {
                let place = (wire - self.inputs) as usize;
                if std::mem::take(&mut free[place]) { wire } else { self.gate(self.gates[place]) }
            }
            Value::Wire(wire) => {
                let not = self.gate([wire; 2]);
                self.gate([not; 2])
            }
            Value::Constant(value) => {
                let not = self.gate([0; 2]);
                let one = self.gate([0, not]);
                if value { one } else { self.gate([one; 2]) }
            }
        }
    }

    fn finish(mut self, outputs: &[Value], padded: Option<u64>) -> Result<Netlist> {
        if self.inputs == 0 {
            return Err(malformed("it has no inputs".into()));
        }
        let mut free = vec![true; self.gates.len()];
        let read = self.gates.iter().flatten().filter_map(|wire| wire.checked_sub(self.inputs));
        read.for_each(|gate| free[gate as usize] = false);
        let wires: Vec<u32> = outputs.iter().map(|&value| self.output(value, &mut free)).collect();
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
    fn in_order(&self, outputs: &[u32], padding: u64) -> Vec<[u32; 2]> {
        let mut is_output = vec![false; self.gates.len()];
        outputs.iter().for_each(|wire| is_output[(wire - self.inputs) as usize] = true);
        let (mut moved, mut gates) = (vec![0; self.gates.len()], Vec::new());
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
