//! Random programs that can be cut by lanes: maps, reductions by any circuit, views, iterations, lanes before and after those that
//! are cut, and what follows a reduction.
#![allow(dead_code)] // each test file uses its part

use super::programs::{Dice, random_circuit};
use circuit::program::{Lanes, Owner, Recipient, Size, Value, View};
use circuit::{Party, Program, bits};

/// A random program over the size `n`, which can be cut by it.
pub fn random_job(seed: u64) -> Program {
    Random::program(seed)
}

/// A value with the width of a lane.
type Typed = (Value, u32);

/// A random program that can be cut by the size `n`.
struct Random {
    dice: Dice,
    p: Program,
    n: Size,
    /// Values that are cut, with the lanes before them, for each lane that is cut, and after them.
    cut: Vec<(Typed, [u64; 3])>,
    /// Values of one lane that do not depend on lanes that are cut, and that do.
    whole: Vec<Typed>,
    last: Vec<Typed>,
}

impl Random {
    fn program(seed: u64) -> Program {
        let mut p = Program::new("random job");
        let n = p.size("n", 1..=1 << 40);
        let (cut, whole, last) = Default::default();
        let mut random = Random { dice: Dice(seed), p, n, cut, whole, last };
        random.inputs();
        for _ in 0..4 + random.dice.roll(10) {
            random.grow();
        }
        random.outputs();
        random.p
    }

    fn inputs(&mut self) {
        for (i, owner) in OWNERS.into_iter().enumerate() {
            let per = self.dice.pick(&[1, 1, 3, 4]);
            for (lanes, of) in [(Lanes::from(self.n) * 1, 1), (Lanes::from(self.n) * per, per)] {
                let width = 1 + self.dice.roll(6) as u32;
                let value = self.p.input(&format!("cut{i} {of}"), owner, bits(width), lanes);
                self.cut.push(((value, width), [0, of, 0]));
                if per == 1 {
                    break;
                }
            }
            let width = 1 + self.dice.roll(6) as u32;
            let owner = self.dice.pick(&OWNERS);
            self.whole.push((self.p.input(&format!("whole{i}"), owner, bits(width), 1), width));
        }
        let bit = self.dice.bits(3);
        self.cut.push(((self.p.constant(bits(3), self.n, &bit), 3), [0, 1, 0]));
        self.whole.push((self.p.constant(bits(3), 1, &bit), 3));
    }

    /// A value that is cut, and another whose lanes lie alike.
    fn alike(&mut self) -> [(Typed, [u64; 3]); 2] {
        let one = self.dice.pick(&self.cut);
        let alike: Vec<_> = self.cut.iter().copied().filter(|&(_, layout)| layout == one.1).collect();
        [one, self.dice.pick(&alike)]
    }

    fn map(&mut self, args: &[Typed]) -> Typed {
        let (widths, gates) = (args.iter().map(|arg| arg.1).collect::<Vec<_>>(), 1 + self.dice.roll(30));
        let width = 1 + self.dice.roll(6) as u32;
        let circuit = random_circuit(&mut self.dice, &widths, &[width], gates);
        (self.p.map(&circuit, &args.iter().map(|arg| arg.0).collect::<Vec<_>>()), width)
    }

    /// Appends a random step. Circuits are random: those of reductions are not associative.
    fn grow(&mut self) {
        let [(one, layout), (other, _)] = self.alike();
        let gates = 1 + self.dice.roll(30);
        match self.dice.roll(10) {
            0 | 1 => {
                let made = self.map(&[one, other]);
                self.cut.push((made, layout));
            }
            2 | 3 => {
                let circuit =
                    random_circuit(&mut self.dice, &[one.1, other.1, one.1, other.1], &[one.1, other.1], gates);
                let made = self.p.reduce(&circuit, &[one.0, other.0]);
                self.last.extend(made.into_iter().zip([one.1, other.1]));
            }
            4 => {
                let whole = self.dice.pick(&self.whole);
                let per = self.dice.pick(&[1, 3, 4]);
                self.cut.push(((self.p.repeat(whole.0, Lanes::from(self.n) * per), whole.1), [0, per, 0]));
            }
            5 => self.chain(one, layout),
            6 => {
                let cut = self.p.view(View::Split(one.1), &[one.0]);
                self.cut.push(((cut, 1), layout.map(|lanes| lanes * u64::from(one.1))));
                let joined = self.p.view(View::Join, &[one.0, other.0]);
                let some = self.p.view(View::Bits(vec![one.1, 0]), &[joined]);
                self.cut.push(((some, 2), layout));
                if layout.map(|lanes| lanes % 2) == [0; 3] {
                    self.cut.push(((self.p.view(View::Merge(2), &[some]), 4), layout.map(|lanes| lanes / 2)));
                }
            }
            7 => {
                let circuit = random_circuit(&mut self.dice, &[one.1], &[one.1], gates);
                let cycles = self.dice.roll(4) as u64;
                self.cut.push(((self.p.iterate(&circuit, cycles, &[one.0], &[])[0], one.1), layout));
            }
            8 => {
                let [a, b] = [self.dice.pick(&self.whole), self.dice.pick(&self.whole)];
                let made = self.map(&[a, b]);
                self.whole.push(made);
            }
            _ if self.last.is_empty() => {}
            _ => {
                let after = [self.dice.pick(&self.last), self.dice.pick(&self.whole)];
                let made = self.map(&after);
                self.last.push(made);
            }
        }
    }

    /// Whole lanes before or after those that are cut.
    fn chain(&mut self, (value, width): Typed, [before, per, after]: [u64; 3]) {
        let lanes = 1 + self.dice.roll(3) as u64;
        let whole = self.dice.pick(&self.whole);
        let (whole, _) = self.map_to(whole, width);
        let more = self.p.repeat(whole, lanes);
        let (args, layout) = match self.dice.flip() {
            true => ([more, value], [before + lanes, per, after]),
            false => ([value, more], [before, per, after + lanes]),
        };
        self.cut.push(((self.p.view(View::Chain, &args), width), layout));
    }

    fn map_to(&mut self, (value, from): Typed, to: u32) -> Typed {
        let circuit = random_circuit(&mut self.dice, &[from], &[to], 5);
        (self.p.map(&circuit, &[value]), to)
    }

    fn outputs(&mut self) {
        let cut: Vec<Typed> = self.cut.iter().rev().take(4).map(|&(value, _)| value).collect();
        let whole = self.whole[self.whole.len() - 1];
        let last = self.last.iter().rev().take(4).copied();
        for (i, (value, _)) in cut.into_iter().chain(last).chain([whole]).enumerate() {
            let to = [Recipient::Party(Party::Alice), Recipient::Party(Party::Bob), Recipient::Both, Recipient::Shared];
            let to = self.dice.pick(&to);
            self.p.output(&format!("out{i}"), to, value);
        }
    }
}

const OWNERS: [Owner; 4] = [Owner::Party(Party::Alice), Owner::Party(Party::Bob), Owner::Public, Owner::Shared];
