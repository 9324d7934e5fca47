//! Plans with wide ANDs compute what their circuits do, in as few layers as their trees allow.

use crate::common::bits_of;
use circuit::blocks::{self, Goal};
use circuit::optimise::fuse::{And, Fused};
use circuit::plan::{GateRun, Op, Operand, Source};
use circuit::{Bit, Bits, Builder, Circuit, Order, Plan, Word};
use proptest::prelude::*;
use std::collections::HashSet;

/// Runs a fused plan on one lane as its documentation says.
fn run(fused: &Fused, inputs: &[bool], public: &[bool]) -> Vec<bool> {
    let mut slots = vec![false; fused.slots()];
    for (slot, &bit) in fused.inputs().iter().zip(inputs) {
        slot.iter().for_each(|&slot| slots[slot as usize] = bit);
    }
    for layer in fused.layers() {
        fused.code().runs(layer.code.clone()).for_each(|run| local(run, &mut slots, public));
        let before = slots.clone();
        let mut written = HashSet::new();
        layer_of(&fused.twos()[layer.twos.clone()], &before, &mut slots, &mut written);
        layer_of(&fused.threes()[layer.threes.clone()], &before, &mut slots, &mut written);
        layer_of(&fused.fours()[layer.fours.clone()], &before, &mut slots, &mut written);
        assert_eq!(written.len(), layer.ands(), "two ANDs of a layer write one slot");
        let operands = |inputs: &[Operand]| inputs.iter().map(|input| input.slot()).collect::<Vec<_>>();
        let mut read = fused.twos()[layer.twos.clone()].iter().flat_map(|and| operands(&and.inputs));
        assert!(read.all(|slot| !written.contains(&(slot as u32))), "a layer writes what it reads");
    }
    fused.code().runs(fused.tail()).for_each(|run| local(run, &mut slots, public));
    let output = |source: &Source| match *source {
        Source::Slot { slot, flip } => slots[slot as usize] ^ flip,
        Source::Public { row, flip } => public[row as usize] ^ flip,
        Source::Constant(bit) => bit,
    };
    fused.outputs().iter().map(output).collect()
}

fn layer_of<const N: usize>(ands: &[And<N>], before: &[bool], slots: &mut [bool], written: &mut HashSet<u32>) {
    for and in ands {
        slots[and.dst as usize] = and.inputs.iter().all(|input| before[input.slot()] ^ input.flip());
        written.insert(and.dst);
    }
}

fn local(run: GateRun<'_>, slots: &mut [bool], public: &[bool]) {
    for &[dst, a, b] in run.gates {
        let (dst, a, b) = (dst as usize, Operand::of(a), Operand::of(b));
        assert_ne!(dst, a.slot());
        let value = slots[a.slot()];
        slots[dst] = match run.op {
            Op::Xor => {
                assert_ne!(dst, b.slot());
                value ^ slots[b.slot()]
            }
            Op::XorPublic => value ^ public[b.slot()],
            Op::AndPublic => (value ^ a.flip()) & (public[b.slot()] ^ b.flip()),
            Op::And => panic!("an AND among local gates"),
        };
    }
}

fn layered(circuit: &Circuit) -> Plan {
    Plan::new(circuit, Order::Layered)
}

/// The AND of `leaves` inputs as a chain, every leaf complemented as `flips` says.
fn chain(leaves: u32, flips: u32) -> Circuit {
    let mut c = Builder::new("chain");
    let bits = c.bits("x", leaves).0;
    let bits: Vec<Bit> = bits.iter().enumerate().map(|(i, bit)| bit.flip(flips >> i & 1 == 1)).collect();
    let all = bits[1..].iter().fold(bits[0], |all, &bit| c.and(all, bit));
    c.output("all", &Bits::from(all));
    c.finish()
}

#[test]
fn every_tree_of_up_to_nine_leaves_is_the_product_of_them() {
    for (leaves, most) in (2..=9).flat_map(|leaves| [2, 3, 4].map(|most| (leaves, most))) {
        for flips in [0, 1, (1 << leaves) - 1, 0b1_0110_1001 & ((1 << leaves) - 1)] {
            let fused = Fused::new(&layered(&chain(leaves, flips)), most);
            let layers = (1..).find(|&layers| (most as u32).pow(layers) >= leaves).unwrap();
            assert_eq!(fused.layers().len() as u32, layers, "{leaves} leaves by {most}");
            for input in 0..1u32 << leaves {
                let product = input ^ flips == (1 << leaves) - 1;
                assert_eq!(run(&fused, &bits_of(input.into(), leaves), &[]), [product], "{leaves} by {most}");
            }
        }
    }
}

#[test]
fn trees_are_no_wider_than_time_asks() {
    let products = |leaves| Fused::new(&layered(&chain(leaves, 0)), 4).products();
    // Of two layers, eight leaves need three groups and one of three; sixteen need four of four.
    assert_eq!([2, 3, 4, 5, 6, 8, 16].map(products), [1, 4, 11, 6, 7, 13, 55]);
    // A tree beside a longer path has time: nothing but ANDs of two inputs.
    let mut c = Builder::new("slack");
    let x = c.bits("x", 4).0;
    let mut long = x[0];
    for turn in 0..4 {
        let other = c.xor(long, x[1]);
        long = c.and(other, x[turn]);
    }
    let tree = x[1..].iter().fold(x[0], |all, &bit| c.and(all, bit));
    let out = c.xor(long, tree);
    c.output("out", &Bits::from(out));
    let fused = Fused::new(&layered(&c.finish()), 4);
    assert!(fused.threes().is_empty() && fused.fours().is_empty());
}

#[test]
fn what_others_read_stays() {
    // The inner AND is read by an XOR, complemented, by two ANDs, and as an output.
    for case in 0..4 {
        let mut c = Builder::new("readers");
        let x = c.bits("x", 4).0;
        let inner = c.and(x[0], x[1]);
        let outer = c.and(inner.flip(case == 1), x[2]);
        let mut out = vec![outer];
        match case {
            0 => out.push(c.xor(inner, x[3])),
            1 => {}
            2 => out.push(c.and(inner, x[3])),
            _ => out.push(inner),
        }
        c.output("out", &Bits::from_bits(out));
        let circuit = c.finish();
        let fused = Fused::new(&layered(&circuit), 4);
        assert!(fused.threes().is_empty() && fused.layers().len() == 2, "case {case}");
        for input in 0..16 {
            let input = bits_of(input, 4);
            assert_eq!(run(&fused, &input, &[]), circuit.evaluate(&input), "case {case}");
        }
    }
}

/// ANDs that often read the last value: trees with all kinds of edges.
fn random(draws: &[(u8, u8, u8)], outputs: usize) -> Circuit {
    let mut c = Builder::new("random");
    let mut bits = c.bits("x", 6).0;
    for &(op, i, j) in draws {
        let pick = |i: u8| bits[bits.len() - 1 - usize::from(i % 16) % bits.len()].flip(i >= 192);
        let (a, b) = (pick(i), pick(j));
        let bit = if op < 64 { c.xor(a, b) } else { c.and(a, b) };
        bits.push(bit);
    }
    let last = bits.len().saturating_sub(outputs);
    c.output("out", &Bits::from_bits(bits[last..].to_vec()));
    c.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn fused_plans_do_what_circuits_do(
        draws in prop::collection::vec(any::<(u8, u8, u8)>(), 0..120),
        outputs in 1usize..5,
        public in 0u32..64,
    ) {
        let circuit = random(&draws, outputs);
        let flags = bits_of(public.into(), 6);
        for order in [Order::Layered, Order::DepthFirst] {
            let plan = Plan::with_public(&circuit, order, &flags);
            let binary = Fused::new(&plan, 2);
            prop_assert_eq!((binary.ands() as u64, binary.products() as u64), (plan.ands(), plan.ands()));
            for most in [2, 3, 4] {
                let fused = Fused::new(&plan, most);
                prop_assert!(fused.layers().len() <= binary.layers().len());
                prop_assert_eq!(&fused, &Fused::new(&plan, most), "both parties derive the same");
                for input in 0..64 {
                    let input = bits_of(input, 6);
                    let known: Vec<bool> = input.iter().zip(&flags).map(|(bit, known)| bit & known).collect();
                    let rows = plan.public().map_or(Vec::new(), |public| run(&Fused::new(public, 2), &known, &[]));
                    prop_assert_eq!(run(&fused, &input, &rows), circuit.evaluate(&input));
                }
            }
        }
    }
}

#[test]
fn blocks_have_fewer_layers() {
    for (block, sizes) in [("equal", &[64][..]), ("popcount", &[32]), ("greater", &[32]), ("aes128", &[])] {
        let Ok(circuit) = blocks::find(block).and_then(|block| block.circuit(sizes, Goal::Depth)) else { continue };
        let fused = Fused::new(&layered(&circuit), 4);
        assert!(fused.layers().len() <= circuit.depth() as usize, "{block}");
        for seed in 0..20u64 {
            let word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let input: Vec<bool> = (0..circuit.input_width()).map(|i| word >> (i % 61) & 1 == 1).collect();
            assert_eq!(run(&fused, &input, &[]), circuit.evaluate(&input), "{block}");
        }
    }
    let equal = blocks::find("equal").unwrap().circuit(&[64], Goal::Depth).unwrap();
    assert_eq!((equal.depth(), Fused::new(&layered(&equal), 4).layers().len()), (6, 3));
}
