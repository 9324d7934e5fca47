//! One small fixed program that has every kind of step, owner, view and recipient.
#![allow(dead_code)] // each test file uses its part

use super::programs::Dice;
use circuit::program::reference::Table;
use circuit::program::{Binding, Owner, Party, Recipient, View};
use circuit::{Bits, Builder, Circuit, Program, Word, bits};
use std::collections::BTreeMap;

/// Ports of eight bits each; `gates` makes the output ports from them.
fn gadget(name: &str, ports: &[&str], gates: impl Fn(&mut Builder, &[Bits]) -> Vec<Bits>) -> Circuit {
    let mut c = Builder::new(name);
    let words: Vec<Bits> = ports.iter().map(|port| c.bits(*port, 8)).collect();
    for (i, word) in gates(&mut c, &words).iter().enumerate() {
        c.output(format!("out{i}"), word);
    }
    c.finish()
}

/// Bit by bit (x AND y) XOR NOT z, each bit with its neighbour's result: eight ANDs deep.
fn chain(c: &mut Builder, x: &Bits, y: &Bits, z: &Bits) -> Bits {
    let mut last = x.0[0];
    let bits = (0..8).map(|i| {
        let both = c.and(x.0[i], y.0[i]);
        let mixed = c.xor(both, !z.0[i]);
        last = c.and(!last, mixed);
        last
    });
    Bits::from_bits(bits.collect())
}

/// The program over the size `n`.
pub fn every_step() -> Program {
    let mut p = Program::new("every step");
    let n = p.size("n", 2..=1000);
    let a = p.input("a", Party::Alice, bits(8), n);
    let b = p.input("b", Party::Bob, bits(8), n);
    let known = p.input("known", Owner::Public, bits(8), n);
    let shared = p.input("shared", Owner::Shared, bits(8), n);
    let one = p.input("one", Party::Bob, bits(8), 1);
    let fixed = p.constant(bits(8), n, &[true, false, false, true, true, false, true, false]);

    let three =
        gadget("three", &["x", "y", "z"], |c, w| vec![chain(c, &w[0], &w[1], &w[2]), chain(c, &w[2], &w[0], &w[1])]);
    let two = gadget("two", &["x", "y"], |c, w| vec![chain(c, &w[0], &w[1], &w[0])]);
    let cycle =
        gadget("cycle", &["state", "input"], |c, w| vec![chain(c, &w[0], &w[1], &w[1]), chain(c, &w[1], &w[0], &w[1])]);

    let mapped = p.map_all(&three, &[a, b, shared]);
    let with_public = p.map(&three, &[mapped[0], known, fixed]);
    let spread = p.repeat(one, n);
    let with_one = p.map(&two, &[with_public, spread]);
    let folded = p.reduce(&two, &[with_one]);
    let inputs = p.repeat(mapped[1], 2);
    let clocked = p.iterate(&cycle, 2, &[with_one], &[inputs]);
    let halves = p.view(View::Split(4), &[clocked[0]]);
    let wholes = p.view(View::Merge(4), &[halves]);
    let joined = p.view(View::Join, &[wholes, a]);
    let turned = p.view(View::Bits(vec![15, 3, 0, 9, 9, 12, 7, 1]), &[joined]);
    let doubled = p.view(View::Chain, &[turned, clocked[1]]);
    let every_third = View::Slice { start: 1, step: 3, count: n.into() };
    let sliced = p.view(every_third, &[doubled]);
    let two_lanes = p.view(View::Lanes(vec![1, 0]), &[sliced]);
    let last = p.map(&two, &[sliced, turned]);

    p.output("alice", Party::Alice, last);
    p.output("bob", Party::Bob, two_lanes);
    p.output("both", Recipient::Both, folded[0]);
    p.output("shares", Recipient::Shared, with_one);
    p.output("known too", Recipient::Both, known);
    p
}

/// Inputs of a bound program that depend on the seed alone.
pub fn inputs_of(binding: &Binding, seed: u64) -> BTreeMap<String, Table> {
    let mut dice = Dice(seed);
    let table = |dice: &mut Dice, lanes, width| (0..lanes).map(|_| dice.bits(width)).collect();
    binding
        .inputs()
        .iter()
        .map(|port| {
            let table = table(&mut dice, port.lanes, port.ty.width as usize);
            (port.name.clone(), table)
        })
        .collect()
}
