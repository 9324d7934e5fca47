//! Whether at least so many of the inputs are set: a count that is compared with a constant.

use super::fit::{self, Atom, Form};
use super::replica::{self, Replica};
use super::residues::Residue;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::matrix::BitMatrix;
use crate::simulate::Simulator;
use crate::words::Bits;

/// At least `least` of the inputs are set, or fewer.
pub struct Threshold {
    least: usize,
    fewer: bool,
}

impl Threshold {
    /// What the only output of a circuit seems to be.
    pub fn of(part: &Circuit) -> Option<Self> {
        let inputs = part.input_width();
        if inputs > replica::MOST_BITS {
            return None;
        }
        let mut simulator = Simulator::new(part);
        let mut lanes = BitMatrix::zeros(inputs, inputs + 1);
        for (lane, input) in (0..=inputs).flat_map(|lane| (0..lane).map(move |input| (lane, input))) {
            lanes.set(input, lane, true);
        }
        let outputs = simulator.run(&lanes);
        let value = |lane: usize| outputs.get(0, lane);
        let fewer = value(0);
        let least = (0..=inputs).find(|&lane| value(lane) != fewer)?;
        let threshold = Threshold { least, fewer };
        let rises = (least..=inputs).all(|lane| value(lane) != fewer);
        (rises && fit::samples(inputs).iter().all(|lanes| threshold.agrees(lanes, &simulator.run(lanes))))
            .then_some(threshold)
    }

    fn agrees(&self, inputs: &BitMatrix, outputs: &BitMatrix) -> bool {
        (0..inputs.lanes()).all(|lane| {
            let count = inputs.lane(lane).into_iter().filter(|&bit| bit).count();
            outputs.get(0, lane) == ((count >= self.least) != self.fewer)
        })
    }

    /// The circuit with the comparison in place of the digits of a count, the first `width` of its outputs.
    pub fn compared(&self, count: &Circuit, width: usize) -> Option<Circuit> {
        let mut c = Builder::new(count.name());
        let inputs: Vec<Bit> = count.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
        let outputs = c.append(count, &inputs);
        let (digits, rest) = outputs.split_at(width);
        // The carry of the count and 2^width − least.
        let constant = (1usize << width) - self.least;
        let carry = digits.iter().enumerate().fold(Bit::FALSE, |carry, (i, &digit)| match constant >> i & 1 {
            1 => c.or(digit, carry),
            _ => c.and(digit, carry),
        });
        c.output("y", &Bits(vec![carry.flip(self.fewer)]));
        if !rest.is_empty() {
            c.output("z", &Bits(rest.to_vec()));
        }
        c.try_finish().ok()
    }

    /// A replica of the count as one of the output.
    pub fn replica(&self, count: &Replica, width: usize) -> Option<Replica> {
        let circuit = self.compared(&count.circuit, width)?;
        let moved = |clause: &Vec<usize>| clause.iter().map(|output| output + 1 - width).collect();
        Some(Replica { circuit, never: count.never.iter().map(moved).collect(), is_near: count.is_near })
    }
}

/// How many inputs are set.
pub fn count(inputs: usize) -> Form {
    let width = (usize::BITS - inputs.leading_zeros()) as usize;
    let terms = (0..inputs).map(|i| (Atom::Input(i), Residue::power(0, width)));
    Form { width, constant: Residue::zero(width), terms: terms.collect() }
}
