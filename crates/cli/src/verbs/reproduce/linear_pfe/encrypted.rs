//! Katz and Malka's protocol of n NANDs, with a scheme.

use super::{INPUTS, OUTPUTS};
use crate::failure::Failure;
use crate::verbs::reproduce::trial::{Ran, over_tcp};
use duologue::channel::{Channel, Link};
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use kernels::Block;
use kernels::generator::Generator;
use pfe::linear::{Alice, Bob, Linear, Netlist};

/// Bytes of a first message.
const HELLO: u64 = 72;

/// Bytes of what travels.
pub struct Lengths {
    key: u64,
    label: u64,
    /// Of a wire that is read.
    ciphertext: u64,
    /// Of so many operands.
    answer: (u64, u64),
    table: u64,
    /// Gates of a step, whose answers are whole.
    step: u64,
}

pub const ELGAMAL: Lengths = Lengths { key: 32, label: 32, ciphertext: 64, answer: (64, 1), table: 130, step: 512 };
pub const DJN: Lengths = Lengths { key: 780, label: 16, ciphertext: 768, answer: (768, 18), table: 66, step: 144 };

/// Bytes that Alice sends, and Bob.
pub fn bytes(of: &Lengths, gates: u64) -> [u64; 2] {
    let (inputs, outputs) = (u64::from(INPUTS), u64::from(OUTPUTS));
    let answers = |gates: u64| (2 * gates).div_ceil(of.answer.1) * of.answer.0;
    let answers = gates / of.step * answers(of.step) + answers(gates % of.step);
    let ciphertexts = (inputs + gates - outputs) * of.ciphertext;
    // Of Bob a byte says that there is a run, and one that there is no other.
    [HELLO + answers + outputs * of.label, HELLO + 2 + of.key + inputs * of.label + ciphertexts + gates * of.table]
}

/// NANDs of two wires, each uniform among all before; the last ones read no outputs.
fn netlist(gates: u64) -> Result<Netlist, Failure> {
    let mut rng = Generator::from_seed(Block::new(20));
    let mut nodes = vec![Node::False];
    nodes.extend([Node::Input; INPUTS as usize]);
    for gate in 0..gates {
        let mut draw = [0; 2];
        rng.words(&mut draw);
        let wires = u64::from(INPUTS) + gate.min(gates - u64::from(OUTPUTS));
        let [a, b] = draw.map(|word| wire(1 + (word % wires) as u32));
        nodes.push(Node::Majority([Bit::FALSE, a, b]));
    }
    let end = nodes.len() as u32;
    let function = Function::new(nodes, (end - OUTPUTS..end).map(wire).collect())?;
    Ok(Netlist::new(&function, Some(gates))?)
}

/// An input, or the complement of an AND.
fn wire(node: u32) -> Bit {
    Bit::new(node, node > INPUTS)
}

pub fn run<S: Linear>(gates: u64, line: Option<Link>) -> Result<Ran, Failure> {
    let netlist = netlist(gates)?;
    let x: Vec<bool> = (0..INPUTS).map(|bit| 0x9e37_79b9_7f4a_7c15u64 >> bit & 1 == 1).collect();
    let alice = |channel: Channel| {
        let mut alice = Alice::<S>::connect(channel, &netlist, 1)?;
        while alice.serve()? {}
        alice.close().map(|counters| counters.bytes_sent)
    };
    let bob = |channel: Channel| {
        let mut bob = Bob::<S>::connect(channel, INPUTS)?;
        let result = bob.run(&x)?;
        let sent = bob.close()?.bytes_sent;
        if result == netlist.evaluate(&x) { Ok(sent) } else { Err(duologue::Error::usage("a wrong result")) }
    };
    over_tcp(line, alice, bob)
}
