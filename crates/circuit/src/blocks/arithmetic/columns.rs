//! Sums of bits of many weights: the tool under sums, products and distances.
//!
//! Bits gather in columns, bit i in those of weight 2^i, and constants in one word of their own. Full adders then take
//! three bits of a column and give one bit to the next: one AND for each bit that disappears. The sum bit of a full
//! adder is free and comes no later than its operands, so that a carry-save tree over columns of k bits has about
//! log k layers, not log k / log 1.5.
//!
//! All sums are modulo 2^width: what is added beyond is dropped. Below the lowest bit of the sum there is one column of
//! halves, because products of signed digits come doubled; halves always add up to a whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::adder::{Adder, add_bits_with, majority};
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;

/// A sum under construction, modulo 2^width.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The halves, then the bits of weight 1, 2, 4, ...
    bits: Vec<Vec<Bit>>,
    /// The constant, halves first.
    constant: Vec<bool>,
}

impl Columns {
    /// Zero in this many bits.
    pub fn new(width: usize) -> Self {
        Columns { bits: vec![Vec::new(); width + 1], constant: vec![false; width + 1] }
    }

    /// The bits of the sum.
    pub fn width(&self) -> usize {
        self.bits.len() - 1
    }

    /// Adds bit · 2^i.
    pub fn add_bit(&mut self, i: usize, bit: Bit) {
        match bit {
            Bit::FALSE => {}
            Bit::TRUE => self.add_power(i),
            _ if i < self.width() => self.bits[i + 1].push(bit),
            _ => {}
        }
    }

    /// Subtracts bit · 2^i, which is to add ¬bit · 2^i − 2^i.
    pub fn subtract_bit(&mut self, i: usize, bit: Bit) {
        self.add_bit(i, !bit);
        self.subtract_power(i);
    }

    /// Subtracts bit · 2^i if `subtract`, else adds it.
    pub(crate) fn add_or_subtract(&mut self, i: usize, bit: Bit, subtract: bool) {
        if subtract { self.subtract_bit(i, bit) } else { self.add_bit(i, bit) }
    }

    /// Adds word · 2^shift, the word unsigned.
    pub fn add_word(&mut self, shift: usize, word: &[Bit]) {
        word.iter().enumerate().for_each(|(i, &bit)| self.add_bit(shift + i, bit));
    }

    /// Subtracts word · 2^shift, the word unsigned.
    pub fn subtract_word(&mut self, shift: usize, word: &[Bit]) {
        word.iter().enumerate().for_each(|(i, &bit)| self.add_bit(shift + i, !bit));
        self.add_power(shift);
        self.subtract_power(shift + word.len());
    }

    /// Adds word · 2^shift, the word in two's complement: its sign bit counts −2^(n−1), so no copies of it are needed.
    pub fn add_signed(&mut self, shift: usize, word: &[Bit]) {
        if let Some((&sign, low)) = word.split_last() {
            self.add_word(shift, low);
            self.subtract_bit(shift + low.len(), sign);
        }
    }

    /// Subtracts word · 2^shift, the word in two's complement.
    pub fn subtract_signed(&mut self, shift: usize, word: &[Bit]) {
        if let Some((&sign, low)) = word.split_last() {
            self.subtract_word(shift, low);
            self.add_bit(shift + low.len(), sign);
        }
    }

    /// Adds value · 2^shift.
    pub fn add_constant(&mut self, shift: usize, value: u128) {
        (0..128).filter(|i| value >> i & 1 == 1).for_each(|i| self.add_power(shift + i));
    }

    /// Subtracts value · 2^shift.
    pub fn subtract_constant(&mut self, shift: usize, value: u128) {
        (0..128).filter(|i| value >> i & 1 == 1).for_each(|i| self.subtract_power(shift + i));
    }

    /// Adds the constant of these bits · 2^shift, of any length.
    pub fn add_constant_bits(&mut self, shift: usize, value: &[bool]) {
        value.iter().enumerate().filter(|(_, set)| **set).for_each(|(i, _)| self.add_power(shift + i));
    }

    /// Adds 2^i.
    pub fn add_power(&mut self, i: usize) {
        self.carry_constant(i + 1, true);
    }

    /// Subtracts 2^i.
    pub fn subtract_power(&mut self, i: usize) {
        self.carry_constant(i + 1, false);
    }

    /// Adds another sum · 2^shift; it must count modulo 2^(width − shift) or more.
    pub(crate) fn add_columns(&mut self, shift: usize, other: Columns) {
        self.add_places(shift, other.bits, &other.constant);
    }

    /// Adds half of a sum that is even, times 2^shift; it must count modulo 2^(width − shift + 1) or more.
    pub(crate) fn add_half(&mut self, shift: usize, doubled: Columns) {
        self.add_places(shift, doubled.bits.into_iter().skip(1), &doubled.constant[1..]);
    }

    fn add_places(&mut self, shift: usize, bits: impl IntoIterator<Item = Vec<Bit>>, constant: &[bool]) {
        for (place, (bits, &set)) in (shift..self.bits.len()).zip(bits.into_iter().zip(constant)) {
            self.bits[place].extend(bits);
            if set {
                self.carry_constant(place, true);
            }
        }
    }

    /// The sum modulo 2^width.
    ///
    /// Size: one AND for each bit that disappears and at most one for each column; a bit of the sum comes one layer
    /// after the one below it at the latest. Depth: [`carry_save`](Self::carry_save), then the shallowest adder for two
    /// words whose bits arrive when they do.
    pub fn sum(self, c: &mut Builder, goal: Goal) -> Vec<Bit> {
        match goal {
            Goal::Size => self.reduced(c, |_| 1).0,
            Goal::Depth => self.sum_with(c, Adder::PREFIX),
        }
    }

    /// The sum by a carry-save tree and this adder.
    pub(crate) fn sum_with(self, c: &mut Builder, adder: Adder) -> Vec<Bit> {
        let (first, second) = self.carry_save(c);
        add_bits_with(c, &first, &second, Bit::FALSE, adder)
    }

    /// Two words with this sum modulo 2^width: a layer for each halving of the highest column, or one more.
    pub fn carry_save(self, c: &mut Builder) -> (Vec<Bit>, Vec<Bit>) {
        self.reduced(c, |_| 2)
    }

    /// The sum for size, a layer or two shallower if need be: the last columns pay about three ANDs for each.
    pub(crate) fn sum_within(self, c: &mut Builder, depth: u32) -> Vec<Bit> {
        let rippling = self.width().saturating_sub(4);
        let (first, second) = self.reduced(c, |i| if i < rippling { 1 } else { 2 });
        add_bits_with(c, &first, &second, Bit::FALSE, Adder::within(depth))
    }

    /// Words of the same sum with `left` (1 or 2) bits in each column; the second word is zero where that is one.
    fn reduced(self, c: &mut Builder, left: impl Fn(usize) -> usize) -> (Vec<Bit>, Vec<Bit>) {
        let width = self.width();
        let (mut first, mut second) = (Vec::with_capacity(width), Vec::with_capacity(width));
        let mut columns = self.bits.into_iter().zip(self.constant).map(|(mut bits, constant)| {
            bits.push(Bit::constant(constant));
            bits
        });
        let mut carried = reduce_halves(c, columns.next().unwrap_or_default());
        for (i, mut column) in columns.enumerate() {
            column.append(&mut carried);
            if i + 1 == width {
                column = vec![c.xor_all(column)];
            } else {
                carried = reduce(c, &mut column, left(i));
            }
            first.push(column.first().copied().unwrap_or(Bit::FALSE));
            second.push(column.get(1).copied().unwrap_or(Bit::FALSE));
        }
        (first, second)
    }

    /// The bits that the constant alone needs.
    pub(crate) fn constant_width(&self) -> usize {
        self.constant.iter().rposition(|&set| set).unwrap_or(0)
    }

    /// Adds or subtracts 2^place halves in the constant: flips bits up to the first that takes the carry or lends.
    fn carry_constant(&mut self, place: usize, add: bool) {
        for bit in self.constant.iter_mut().skip(place) {
            *bit = !*bit;
            if *bit == add {
                break;
            }
        }
    }
}

/// The carries of a column whose sum is even: of the last two bits, which are equal, either is the carry.
fn reduce_halves(c: &mut Builder, mut column: Vec<Bit>) -> Vec<Bit> {
    column.retain(|&bit| bit != Bit::FALSE);
    let left = 2 - column.len() % 2;
    let mut carried = reduce(c, &mut column, left);
    if let [either, _] = column[..] {
        carried.push(either);
    }
    carried
}

/// Adds bits of one column until `left` remain; returns the carries.
///
/// Every adder takes what is there first, so the latest bits stay and no carry waits for them. The half adder that an
/// odd column needs comes first: it meets a constant if there is one, which makes it free.
pub(crate) fn reduce(c: &mut Builder, column: &mut Vec<Bit>, left: usize) -> Vec<Bit> {
    let due = |c: &Builder, bit: Bit| Reverse((c.depth(bit), bit));
    let present = column.iter().filter(|&&bit| bit != Bit::FALSE);
    let mut queue: BinaryHeap<_> = present.map(|&bit| due(c, bit)).collect();
    let mut carried = Vec::new();
    while queue.len() > left {
        let half = (queue.len() - left) % 2 == 1;
        let mut take = || queue.pop().map_or(Bit::FALSE, |Reverse((_, bit))| bit);
        let (x, y, z) = (take(), take(), if half { Bit::FALSE } else { take() });
        carried.push(majority(c, x, y, z));
        let sum = c.xor_all([x, y, z]);
        queue.push(due(c, sum));
    }
    carried.retain(|&bit| bit != Bit::FALSE);
    *column = queue.into_iter().map(|Reverse((_, bit))| bit).collect();
    carried
}
