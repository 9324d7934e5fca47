//! Linear combinations of nodes with integer coefficients of any size, exactly.

use crate::graph::Bit;
use std::collections::BTreeMap;

/// What a coefficient is made of: how often 2^weight counts.
type Powers = BTreeMap<i32, i64>;

/// ±2^weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Power {
    pub weight: i32,
    pub negative: bool,
}

/// The sum of coefficients times nodes, and a constant, which stands at node 0.
#[derive(Clone, Default, Debug)]
pub struct Terms(BTreeMap<u32, Powers>);

impl Power {
    pub fn times(self, negative: bool) -> Self {
        Power { weight: self.weight, negative: self.negative ^ negative }
    }
}

impl Terms {
    /// Adds power · bit; the complement of a node is one less the node.
    pub fn add(&mut self, bit: Bit, power: Power) {
        if bit.complemented() {
            self.count(0, power);
        }
        if bit.node() != 0 {
            self.count(bit.node(), power.times(bit.complemented()));
        }
    }

    fn count(&mut self, node: u32, power: Power) {
        let count = self.0.entry(node).or_default().entry(power.weight).or_default();
        *count += if power.negative { -1 } else { 1 };
    }

    /// Takes a node's term away, and says what its coefficient was, modulo 2^width.
    pub fn take(&mut self, node: u32, width: i32) -> Vec<Power> {
        self.0.remove(&node).map_or(Vec::new(), |powers| digits(&powers, width))
    }

    /// The nodes with what they count modulo 2^width, in as few powers as may be; none of those that count nothing.
    pub fn nodes(&self, width: i32) -> impl Iterator<Item = (u32, Vec<Power>)> {
        let all = self.0.iter().map(move |(&node, powers)| (node, digits(powers, width)));
        all.filter(|(_, digits)| !digits.is_empty())
    }
}

/// A number modulo 2^width in the non-adjacent form, which has the fewest digits ±1.
fn digits(powers: &Powers, width: i32) -> Vec<Power> {
    let mut digits = Vec::new();
    let Some((&lowest, _)) = powers.first_key_value() else { return digits };
    let (&highest, _) = powers.last_key_value().expect("not empty");
    let count = |weight: i32| powers.get(&weight).copied().unwrap_or(0);
    let (mut carry, mut weight) = (0, lowest);
    while weight < width && (weight <= highest || carry != 0) {
        let here = count(weight) + carry;
        let mut digit = 0;
        if here % 2 != 0 {
            let near = here + 2 * count(weight + 1);
            digit = if near.rem_euclid(4) == 1 || weight + 1 == width { 1 } else { -1 };
            digits.push(Power { weight, negative: digit < 0 });
        }
        carry = (here - digit).div_euclid(2);
        weight += 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_the_number(counts in prop::collection::vec(-9i64..10, 1..12), first in 0i32..5, width in 1i32..24) {
            let powers: Powers = (first..).zip(counts).collect();
            let number: i128 = powers.iter().map(|(&weight, &count)| i128::from(count) << weight).sum();
            let digits = digits(&powers, width);
            let value = |digit: &Power| if digit.negative { -(1i128 << digit.weight) } else { 1 << digit.weight };
            let sum: i128 = digits.iter().map(value).sum();
            prop_assert_eq!((number - sum).rem_euclid(1 << width), 0);
            prop_assert!(digits.windows(2).all(|pair| pair[1].weight > pair[0].weight + 1));
        }
    }
}
