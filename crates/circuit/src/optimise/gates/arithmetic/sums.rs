//! What a group of adders computes: bits of different weights whose sum is a sum of other bits, modulo 2^width.
//!
//! Each adder says that 2·carry + sum equals its inputs. Added up, with the weights and signs of their places, whatever
//! only joins them drops out, exactly, and what remains is the certificate: Σ 2^w·y_w = Σ c_i·x_i (mod 2^width). If no two
//! y_w have one weight they are the digits of the right-hand side, so that any circuit for that serves in place of the group.

use super::cover::Cover;
use super::groups::Groups;
use super::terms::{Power, Terms};
use crate::graph::Bit;

/// Weights below the lowest adder: a product's lowest digits take none.
const MARGIN: i32 = 3;

/// A digit of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    pub weight: i32,
    /// Nothing if nobody reads it.
    pub bit: Option<Bit>,
}

/// Σ 2^weight·digit = Σ terms modulo 2^width.
pub struct Sum {
    pub width: i32,
    pub digits: Vec<Digit>,
    pub terms: Terms,
}

/// The sums of all groups, and those groups that are none.
pub fn sums(cover: &Cover, groups: &Groups) -> (Vec<Sum>, Vec<Vec<u32>>) {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); cover.adders.len()];
    for (adder, place) in groups.places.iter().enumerate() {
        if let Some(place) = place {
            members[place.group as usize].push(adder as u32);
        }
    }
    let (mut sums, mut others) = (Vec::new(), Vec::new());
    for adders in members.into_iter().filter(|members| !members.is_empty()) {
        match sum(cover, groups, &adders) {
            Some(sum) => sums.push(sum),
            None => others.push(adders),
        }
    }
    (sums, others)
}

fn sum(cover: &Cover, groups: &Groups, adders: &[u32]) -> Option<Sum> {
    let place = |adder: u32| groups.places[adder as usize].expect("it is of a group");
    let lowest = adders.iter().map(|&adder| place(adder).weight).min()? - MARGIN;
    let (mut terms, mut digits, mut width) = (Terms::default(), Vec::new(), None);
    for &number in adders {
        let adder = &cover.adders[number as usize];
        let at = Power { weight: place(number).weight - lowest, negative: place(number).negative };
        adder.inputs.iter().for_each(|&bit| terms.add(bit, at));
        let above = Power { weight: at.weight + 1, negative: at.negative };
        for (bit, power) in [(adder.sum, at), (adder.carry, above)] {
            match bit {
                Some(bit) if groups.is_within(cover, bit.node()) => terms.add(bit, power.times(true)),
                None if power == above => width = Some(width.unwrap_or(power.weight).min(power.weight)),
                // −y is ¬y − 1.
                _ => {
                    digits.push(Digit { weight: power.weight, bit: bit.map(|bit| bit.flip(power.negative)) });
                    if power.negative {
                        terms.add(Bit::TRUE, Power { weight: power.weight, negative: false });
                    }
                }
            }
        }
    }
    digits.sort_unstable_by_key(|digit| digit.weight);
    let apart = digits.windows(2).all(|pair| pair[0].weight < pair[1].weight);
    let highest = digits.last()?.weight;
    let width = width.unwrap_or(highest + 1);
    let sum = Sum { width, digits, terms };
    (apart && highest < width && !sum.reads_itself()).then_some(sum)
}

impl Sum {
    fn reads_itself(&self) -> bool {
        let given = |node: u32| self.digits.iter().any(|digit| digit.bit.is_some_and(|bit| bit.node() == node));
        self.terms.nodes(self.width).any(|(node, _)| node != 0 && given(node))
    }
}
