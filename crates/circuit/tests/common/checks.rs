//! Many lanes through a circuit, inputs and check lane by lane.

pub use super::lanes::Random;
use circuit::Circuit;
use circuit::simulate::Simulator;

/// Lanes of one call of the simulator.
const BATCH: usize = 1 << 11;

/// A million lanes, and a few.
pub const MILLION: usize = 1 << 20;

/// Draws of several kinds.
pub trait Draw {
    /// A number of so many bits, at most 64.
    fn bits(&mut self, width: u32) -> u128;

    /// A number below n.
    fn below(&mut self, n: usize) -> usize;

    /// The numbers below n in some order.
    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).for_each(|i| order.swap(i, self.below(i + 1)));
        order
    }
}

impl Draw for Random {
    fn bits(&mut self, width: u32) -> u128 {
        u128::from(self.word() >> (64 - width))
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }
}

/// Checks lanes whose inputs, a number for each port, come from `make`.
pub fn check(
    circuit: &Circuit,
    lanes: usize,
    mut make: impl FnMut(usize) -> Vec<u128>,
    mut verify: impl FnMut(&[u128], &[u128]),
) {
    let mut simulator = Simulator::new(circuit);
    let (mut input, mut output) = (vec![0; circuit.inputs().len()], vec![0; circuit.outputs().len()]);
    for first in (0..lanes).step_by(BATCH) {
        let count = BATCH.min(lanes - first);
        let mut ports = vec![Vec::with_capacity(count); circuit.inputs().len()];
        for lane in first..first + count {
            let numbers = make(lane);
            assert_eq!(numbers.len(), ports.len(), "a number for each port");
            ports.iter_mut().zip(numbers).for_each(|(port, number)| port.push(number));
        }
        let slices: Vec<&[u128]> = ports.iter().map(Vec::as_slice).collect();
        let results = simulator.numbers(&slices);
        for lane in 0..count {
            input.iter_mut().zip(&ports).for_each(|(number, port)| *number = port[lane]);
            output.iter_mut().zip(&results).for_each(|(number, port)| *number = port[lane]);
            verify(&input, &output);
        }
    }
}

/// Checks all inputs of a circuit with at most 24 bits of them.
pub fn check_all(circuit: &Circuit, verify: impl FnMut(&[u128], &[u128])) {
    let bits = circuit.input_width();
    assert!(bits <= 24, "{bits} input bits are too many to try all");
    let widths: Vec<u32> = circuit.inputs().iter().map(|port| port.ty.width).collect();
    let split = |lane: usize| split(lane as u128, &widths);
    check(circuit, 1 << bits, split, verify);
}

/// A number cut into parts of these widths, the low bits first.
pub fn split(mut number: u128, widths: &[u32]) -> Vec<u128> {
    let part = |&width: &u32| {
        let part = number & ((1 << width) - 1);
        number >>= width;
        part
    };
    widths.iter().map(part).collect()
}

/// Words of one width as one number, the first in the low bits.
pub fn joined(words: impl IntoIterator<Item = u128>, width: u32) -> u128 {
    words.into_iter().enumerate().fold(0, |all, (i, word)| all | word << (i as u32 * width))
}

/// ⌈log₂ n⌉.
pub fn log(n: usize) -> u32 {
    super::lanes::log(u32::try_from(n).expect("a small number"))
}
