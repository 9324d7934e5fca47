//! Random circuits, and whether two circuits are the same function.
#![allow(dead_code)] // each test file uses its part

use circuit::{Bit, Bits, Builder, Circuit};
use proptest::prelude::*;

/// A circuit of random gates on two inputs, each of which takes two of the bits before it, plain or complemented; its
/// outputs, constants among them, are in up to three ports.
pub fn circuit() -> impl Strategy<Value = Circuit> {
    let gates = prop::collection::vec((any::<(bool, bool, bool)>(), any::<(u16, u16)>()), 0..60);
    let outputs = prop::collection::vec((any::<u16>(), any::<bool>()), 1..12);
    (1u32..6, 1u32..6, gates, outputs, 1usize..4).prop_map(|(first, second, gates, outputs, ports)| {
        let mut c = Builder::new("random");
        let mut bits = vec![Bit::FALSE];
        bits.extend(c.bits("a", first).0);
        bits.extend(c.uint("b", second).0);
        for ((and, p, q), (i, j)) in gates {
            let pick = |i: u16, flip| bits[usize::from(i) % bits.len()].flip(flip);
            let (x, y) = (pick(i, p), pick(j, q));
            bits.push(if and { c.and(x, y) } else { c.xor(x, y) });
        }
        let pick = |&(i, flip): &(u16, bool)| bits[usize::from(i) % bits.len()].flip(flip);
        for (i, part) in outputs.chunks(outputs.len().div_ceil(ports)).enumerate() {
            c.output(format!("z{i}"), &Bits(part.iter().map(pick).collect()));
        }
        c.finish()
    })
}

/// The outputs for all inputs, as numbers.
pub fn table(circuit: &Circuit) -> Vec<u128> {
    let width = circuit.input_width();
    let outputs = |x: u128| circuit.evaluate(&(0..width).map(|i| x >> i & 1 == 1).collect::<Vec<bool>>());
    let number = |bits: Vec<bool>| bits.iter().rev().fold(0, |number, &bit| number << 1 | u128::from(bit));
    (0..1 << width).map(outputs).map(number).collect()
}

/// Names and types of the ports, inputs first.
pub fn ports(circuit: &Circuit) -> Vec<String> {
    let ports = circuit.inputs().iter().chain(circuit.outputs());
    ports.map(|port| format!("{} {}", port.name, port.ty)).collect()
}
