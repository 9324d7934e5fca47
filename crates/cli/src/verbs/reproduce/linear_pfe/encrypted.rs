//! Katz and Malka's protocol of n NANDs, with a scheme.

use super::{INPUTS, OUTPUTS};
use crate::failure::Failure;
use crate::verbs::reproduce::trial::{Ran, over_tcp};
use duologue::channel::{Channel, Link};
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use kernels::Block;
use kernels::generator::Generator;
use pfe::Sizes;
use pfe::linear::{Alice, Bob, Linear, Netlist, traffic};

/// What a function of so many gates is announced to be.
fn sizes(gates: u64) -> Sizes {
    Sizes { inputs: INPUTS, outputs: OUTPUTS, gates, additions: 0 }
}

/// Bytes that Alice sends, and Bob.
pub fn bytes<S: Linear>(gates: u64) -> [u64; 2] {
    traffic::<S>(&sizes(gates), 1)
}

/// The same of BFV as the paper's program has it: ciphertexts of 5,552 bytes, 8,192 for eight gates' answers, four rows of 21 bytes.
/// Its answers show which function it is.
pub fn unsafe_bfv(gates: u64) -> [u64; 2] {
    let (inputs, outputs) = (u64::from(INPUTS), u64::from(OUTPUTS));
    [gates.div_ceil(8) * 8_192 + 16 * outputs, (inputs + gates) * 5_552 + gates * 84 + 16 * inputs]
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
