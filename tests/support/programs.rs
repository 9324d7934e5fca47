//! Random circuits and programs for differential tests: every kind of step, owner, view and width.
#![allow(dead_code)]

use circuit::program::reference::Table;
use circuit::program::{Binding, Owner, Party, Recipient, Value, View};
use circuit::{Bit, Bits, Builder, Circuit, Program, Word, bits};
use std::collections::BTreeMap;

/// A program bound to sizes, with inputs for it.
pub struct Sample {
    pub seed: u64,
    pub program: Program,
    pub binding: Binding,
    pub inputs: BTreeMap<String, Table>,
}

/// A small generator, so that a sample depends on its seed alone.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides.max(1) as u64) as usize
    }

    pub fn flip(&mut self) -> bool {
        self.roll(2) == 1
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())].clone()
    }

    pub fn bits(&mut self, count: usize) -> Vec<bool> {
        (0..count).map(|_| self.flip()).collect()
    }
}

/// A circuit of random gates with these port widths; some outputs may be inputs or constants.
pub fn random_circuit(dice: &mut Dice, inputs: &[u32], outputs: &[u32], gates: usize) -> Circuit {
    let mut c = Builder::new("random");
    let mut nodes = vec![Bit::FALSE];
    for (i, &width) in inputs.iter().enumerate() {
        nodes.extend(c.bits(format!("in{i}"), width).bits());
    }
    for _ in 0..gates {
        let operand = |dice: &mut Dice| {
            let bit = dice.pick(&nodes);
            if dice.flip() { !bit } else { bit }
        };
        let (a, b) = (operand(dice), operand(dice));
        nodes.push(if dice.roll(3) == 0 { c.xor(a, b) } else { c.and(a, b) });
    }
    for (i, &width) in outputs.iter().enumerate() {
        let late = nodes.len().saturating_sub(2 * width as usize + 4);
        let word = (0..width).map(|_| if dice.roll(5) == 0 { dice.pick(&nodes) } else { dice.pick(&nodes[late..]) });
        c.output(format!("out{i}"), &Bits::from_bits(word.collect()));
    }
    c.finish()
}

/// A random program over `lanes` lanes (the size `n`), with inputs of every owner.
pub fn sample(seed: u64, lanes: u64) -> Sample {
    sample_with(seed, lanes, |_, _, _| {})
}

/// A random program into which `more` puts steps of its own, on values of as many lanes as the size says.
pub fn sample_with(seed: u64, lanes: u64, mut more: impl FnMut(&mut Dice, &mut Program, &mut Values)) -> Sample {
    let mut dice = Dice(seed);
    let mut p = Program::new("sample");
    let n = p.size("n", 0..=1 << 20);
    // Values of n lanes and of one lane, with their widths.
    let mut wide: Vec<(Value, u32)> = Vec::new();
    let mut single: Vec<(Value, u32)> = Vec::new();
    for (i, owner) in owners(&mut dice).into_iter().enumerate() {
        let width = 1 + dice.roll(9) as u32;
        wide.push((p.input(&format!("wide{i}"), owner, bits(width), n), width));
        let owner = dice.pick(&owners(&mut Dice(0)));
        single.push((p.input(&format!("single{i}"), owner, bits(width), 1), width));
    }
    let constant = dice.bits(4);
    wide.push((p.constant(bits(4), n, &constant), 4));
    for _ in 0..3 + dice.roll(6) {
        more(&mut dice, &mut p, &mut wide);
        grow(&mut dice, &mut p, n, lanes, &mut wide, &mut single);
    }
    let mut outputs: Vec<(Value, u32)> = wide.split_off(wide.len().saturating_sub(4));
    outputs.extend(single.split_off(single.len().saturating_sub(3)));
    for (i, (value, _)) in outputs.into_iter().enumerate() {
        let to = [Recipient::Party(Party::Alice), Recipient::Party(Party::Bob), Recipient::Both, Recipient::Shared];
        let recipient = dice.pick(&to);
        p.output(&format!("out{i}"), recipient, value);
    }
    let binding = p.bind(&[("n", lanes)]).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let inputs = binding
        .inputs()
        .iter()
        .map(|port| (port.name.clone(), (0..port.lanes).map(|_| dice.bits(port.ty.width as usize)).collect()))
        .collect();
    Sample { seed, program: p, binding, inputs }
}

fn owners(dice: &mut Dice) -> Vec<Owner> {
    let mut owners = vec![Owner::Party(Party::Alice), Owner::Party(Party::Bob), Owner::Public, Owner::Shared];
    let turn = dice.roll(owners.len());
    owners.rotate_left(turn);
    owners
}

/// Values with their widths.
pub type Values = Vec<(Value, u32)>;

/// Appends one random step.
fn grow(
    dice: &mut Dice,
    p: &mut Program,
    n: circuit::program::Size,
    lanes: u64,
    wide: &mut Values,
    single: &mut Values,
) {
    let (value, width) = dice.pick(wide);
    let gates = 1 + dice.roll(60);
    match dice.roll(12) {
        0..=2 => {
            let args: Values = (0..1 + dice.roll(3)).map(|_| dice.pick(wide)).collect();
            let widths: Vec<u32> = args.iter().map(|a| a.1).collect();
            let outputs: Vec<u32> = (0..1 + dice.roll(2)).map(|_| 1 + dice.roll(8) as u32).collect();
            let circuit = random_circuit(dice, &widths, &outputs, gates);
            let made = p.map_all(&circuit, &args.iter().map(|a| a.0).collect::<Vec<_>>());
            wide.extend(made.into_iter().zip(outputs));
        }
        3 => {
            let (one, one_width) = dice.pick(single);
            let repeated = p.repeat(one, n);
            let circuit = random_circuit(dice, &[one_width, width], &[width], gates);
            wide.push((p.map(&circuit, &[repeated, value]), width));
        }
        4 | 5 if lanes > 0 => {
            let (other, other_width) = dice.pick(wide);
            let ports = [width, other_width, width, other_width];
            let circuit = random_circuit(dice, &ports, &[width, other_width], gates);
            let made = p.reduce(&circuit, &[value, other]);
            single.extend(made.into_iter().zip([width, other_width]));
        }
        6 => {
            let cycles = dice.roll(4) as u64;
            let input = p.repeat(value, cycles);
            let (state, state_width) = dice.pick(wide);
            let circuit = random_circuit(dice, &[state_width, width], &[state_width, 3], gates);
            let made = p.iterate(&circuit, cycles, &[state], &[input]);
            wide.push((made[0], state_width));
            if cycles > 0 {
                let last = p.view(View::Slice { start: (cycles - 1) * lanes, step: 1, count: n.into() }, &[made[1]]);
                wide.push((last, 3));
            }
        }
        7 => {
            let chosen: Vec<u32> = (0..1 + dice.roll(12)).map(|_| dice.roll(width as usize) as u32).collect();
            let count = chosen.len() as u32;
            wide.push((p.view(View::Bits(chosen), &[value]), count));
        }
        8 => {
            let (other, other_width) = dice.pick(wide);
            wide.push((p.view(View::Join, &[value, other]), width + other_width));
        }
        9 => {
            let chained = p.view(View::Chain, &[value, value]);
            let step = 1 + dice.roll(2) as u64;
            let slice = View::Slice {
                start: if lanes > 0 && step == 1 { dice.roll(lanes as usize) as u64 } else { 0 },
                step,
                count: n.into(),
            };
            wide.push((p.view(slice, &[chained]), width));
        }
        10 => {
            let turned: Vec<u64> = (0..lanes).map(|i| (i + 3) % lanes).collect();
            let turned = p.view(View::Lanes(turned), &[value]);
            // Its lanes are fixed: only for this binding, so give it back its size.
            wide.push((p.view(View::Slice { start: 0, step: 1, count: n.into() }, &[turned]), width));
        }
        _ => {
            let split = p.view(View::Split(width), &[value]);
            let back = p.view(View::Merge(width), &[split]);
            wide.push((back, width));
        }
    }
}
