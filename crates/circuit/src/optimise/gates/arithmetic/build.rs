//! The circuit with sums in place of their adders.

use super::super::network::{Kind, Network};
use super::products::{Product, Recognised};
use crate::blocks::factor::{self, Factor};
use crate::blocks::multiply::{products_into, sum_of_terms};
use crate::blocks::{Columns, Goal};
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};

/// The circuit that a network was read from with these sums; nothing if one reads itself.
pub fn build(circuit: &Circuit, network: &Network<'_>, sums: &[Recognised], goal: Goal) -> Option<Circuit> {
    let mut c = Builder::new(circuit.name());
    let mut bits: Vec<Option<Bit>> = vec![None; network.nodes.len()];
    bits[0] = Some(Bit::FALSE);
    let inputs: Vec<Bit> = circuit.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    bits[1..=inputs.len()].iter_mut().zip(inputs).for_each(|(bit, input)| *bit = Some(input));
    let mut maker =
        Maker { c, bits, network, sums, goal, of: of_nodes(network, sums), begun: vec![false; network.nodes.len()] };
    let mut outputs = Vec::new();
    for &bit in &network.outputs {
        maker.make(bit.node())?;
        outputs.push(maker.bit(bit));
    }
    let mut rest = &outputs[..];
    for port in circuit.outputs() {
        let (word, after) = rest.split_at(port.ty.width as usize);
        maker.c.output_as(port.name.clone(), port.ty, word);
        rest = after;
    }
    maker.c.try_finish().ok()
}

/// The number of the sum of which a node is a digit.
fn of_nodes(network: &Network<'_>, sums: &[Recognised]) -> Vec<Option<u32>> {
    let mut of = vec![None; network.nodes.len()];
    for (number, sum) in sums.iter().enumerate() {
        for bit in sum.sum.digits.iter().filter_map(|digit| digit.bit) {
            of[bit.node() as usize] = Some(number as u32);
        }
    }
    of
}

struct Maker<'a, 'b> {
    c: Builder,
    /// What each node has become.
    bits: Vec<Option<Bit>>,
    network: &'a Network<'b>,
    sums: &'a [Recognised],
    goal: Goal,
    of: Vec<Option<u32>>,
    begun: Vec<bool>,
}

impl Maker<'_, '_> {
    fn bit(&self, bit: Bit) -> Bit {
        self.bits[bit.node() as usize].expect("made").flip(bit.complemented())
    }

    /// Makes a node after all that it is computed from.
    fn make(&mut self, node: u32) -> Option<()> {
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            if self.bits[node as usize].is_some() {
                stack.pop();
                continue;
            }
            let below = self.below(node);
            let before = stack.len();
            stack.extend(below.into_iter().filter(|&below| self.bits[below as usize].is_none()));
            if stack.len() > before {
                if std::mem::replace(&mut self.begun[node as usize], true) {
                    return None;
                }
                continue;
            }
            stack.pop();
            match self.of[node as usize] {
                Some(sum) => self.sum(&self.sums[sum as usize]),
                None => self.bits[node as usize] = Some(self.gate(node)),
            }
        }
        Some(())
    }

    fn below(&self, node: u32) -> Vec<u32> {
        match self.of[node as usize] {
            Some(sum) => self.sums[sum as usize].reads(),
            None => self.network.nodes[node as usize].operands.map(Bit::node).to_vec(),
        }
    }

    fn gate(&mut self, node: u32) -> Bit {
        let of = &self.network.nodes[node as usize];
        let [a, b] = of.operands.map(|bit| self.bit(bit));
        if of.kind == Kind::And { self.c.and(a, b) } else { self.c.xor(a, b) }
    }

    fn sum(&mut self, sum: &Recognised) {
        let digits = self.digits(sum);
        for digit in &sum.sum.digits {
            if let Some(bit) = digit.bit {
                // A digit of a product may be a node that is there.
                let made = digits[digit.weight as usize].flip(bit.complemented());
                self.bits[bit.node() as usize].get_or_insert(made);
            }
        }
    }

    fn digits(&mut self, of: &Recognised) -> Vec<Bit> {
        let width = of.sum.width as usize;
        let terms: Vec<_> = of.sum.terms.nodes(of.sum.width).collect();
        if let (true, [product]) = (terms.is_empty(), &of.products[..]) {
            let shift = product.shift as usize;
            let factors = [&product.left, &product.right].map(|word| (self.word(&word.bits), word.signed));
            let [left, right] = [&factors[0], &factors[1]].map(|(bits, signed)| (&bits[..], *signed));
            let mut digits = vec![Bit::FALSE; shift];
            digits.extend(sum_of_terms(&mut self.c, &[], &[(left, right)], width - shift, self.goal));
            return digits;
        }
        let mut columns = Columns::new(width);
        let mut shifts: Vec<i32> = of.products.iter().map(|product| product.shift).collect();
        shifts.sort_unstable();
        shifts.dedup();
        for shift in shifts {
            let here = of.products.iter().filter(|product| product.shift == shift);
            let products: Vec<factor::Product> = here.map(|product| self.product(product)).collect();
            products_into(&mut self.c, &mut columns, shift as usize, &products, self.goal);
        }
        for (node, powers) in terms {
            let bit = if node == 0 { Bit::TRUE } else { self.bit(Bit::new(node, false)) };
            powers.iter().for_each(|power| columns.add_or_subtract(power.weight as usize, bit, power.negative));
        }
        columns.sum(&mut self.c, self.goal)
    }

    fn word(&self, bits: &[Bit]) -> Vec<Bit> {
        bits.iter().map(|&bit| self.bit(bit)).collect()
    }

    fn product(&self, product: &Product) -> factor::Product {
        let factors = [&product.left, &product.right];
        let [left, right] = factors.map(|word| Factor { bits: self.word(&word.bits), signed: word.signed });
        match product.left == product.right {
            true => factor::Product::square(left),
            false => factor::Product::of(left, right),
        }
    }
}
