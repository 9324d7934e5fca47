//! What a recurrence computes, by our blocks.

use super::super::network::Network;
use super::recurrences::Recurrence;
use crate::blocks::divide::long_division;
use crate::blocks::{Goal, square_root};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit, Gate};
use crate::words::{Bits, UInt};

/// The digits and the remainder of our block, as nodes of the network.
pub fn import(network: &mut Network<'_>, recurrence: &Recurrence, steps: usize) -> (Vec<Bit>, Vec<Bit>) {
    let number = &recurrence.number[recurrence.takes(steps - 1).start..];
    let divisor = recurrence.divisor.as_deref();
    let block = block(number.len(), divisor.map(<[Bit]>::len));
    let mut bits = vec![Bit::FALSE; block.gates().len()];
    let words = number.iter().chain(divisor.unwrap_or(&[]));
    block.input_nodes().iter().zip(words).for_each(|(&node, &bit)| bits[node as usize] = bit);
    for (node, gate) in block.gates().iter().enumerate() {
        let of = |bit: Bit| bits[bit.node() as usize].flip(bit.complemented());
        bits[node] = match *gate {
            Gate::False | Gate::Input => continue,
            Gate::Xor(a, b) => network.xor(of(a), of(b)),
            Gate::And(a, b) => network.and(of(a), of(b)),
        };
    }
    let outputs = block.output_bits().iter().map(|bit| bits[bit.node() as usize].flip(bit.complemented()));
    let mut digits: Vec<Bit> = outputs.collect();
    let remainder = digits.split_off(steps);
    digits.reverse();
    (digits, remainder)
}

/// The digits of a number of so many bits, the lowest first, and the remainder: by a divisor of so many bits, or of a root.
fn block(number: usize, divisor: Option<usize>) -> Circuit {
    let mut c = Builder::new("block");
    let number = c.bits("number", number as u32).0;
    let (digits, remainder) = match divisor {
        Some(width) => {
            let divisor = c.bits("divisor", width as u32).0;
            quotient(&mut c, &number, &divisor)
        }
        None => {
            let (root, remainder) = square_root(&mut c, &UInt(number), Goal::Size);
            (root.0, remainder.0)
        }
    };
    c.output("digits", &Bits(digits));
    c.output("remainder", &Bits(remainder));
    c.finish()
}

/// Division by zero gives all ones and the dividend.
fn quotient(c: &mut Builder, number: &[Bit], divisor: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    let (mut digits, mut remainder) = long_division(c, number, divisor, Goal::Size);
    if number.len() > divisor.len() {
        // The block says nothing of digits by zero then.
        let zero = !divisor.iter().fold(Bit::FALSE, |some, &bit| c.or(some, bit));
        digits = digits.into_iter().map(|digit| c.or(digit, zero)).collect();
        remainder.extend(number[divisor.len()..].iter().map(|&bit| c.and(bit, zero)));
    }
    remainder.truncate(number.len());
    (digits, remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(bits: &[bool]) -> usize {
        bits.iter().rev().fold(0, |value, &bit| 2 * value + usize::from(bit))
    }

    /// Division by zero too, whose remainder has all bits of the dividend.
    #[test]
    fn blocks_are_what_the_recurrence_says() {
        for (n, m) in (1..=6).flat_map(|n| (1..=6).map(move |m| (n, m))) {
            let circuit = block(n, Some(m));
            for (a, b) in (0..1 << n).flat_map(|a| (0..1usize << m).map(move |b| (a, b))) {
                let inputs: Vec<bool> = (0..n + m).map(|i| (a | b << n) >> i & 1 == 1).collect();
                let outputs = circuit.evaluate(&inputs);
                assert_eq!(
                    value(&outputs[..n]),
                    a.checked_div(b).unwrap_or((1 << n) - 1),
                    "{a} / {b}, {n} and {m} bits"
                );
                assert_eq!(value(&outputs[n..]), a.checked_rem(b).unwrap_or(a), "{a} mod {b}, {n} and {m} bits");
            }
        }
    }
}
