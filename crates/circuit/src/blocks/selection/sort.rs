//! Sorting networks: records sorted, and sorted lists merged, by key.
//!
//! A comparator of two records costs one comparison of their keys and one AND for each bit of key and payload, for both
//! outputs change in the same bits. Networks: K. E. Batcher, "Sorting networks and their applications" (AFIPS 1968).
//! They are made for any number of records, without padding: his odd-even merge joins lists of any two lengths, and the
//! bitonic merge of n records starts with the comparators that a merge of the next power of two would keep.
//!
//! Equal keys may change places, so sorting is not stable: append the position to the key where that matters.

use crate::blocks::Goal;
use crate::blocks::arithmetic::compare::greater;
use crate::blocks::logic::select::conditional_swap;
use crate::builder::Builder;
use crate::words::{Bits, Word};

/// A key, and bits that travel with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record<W> {
    /// The key of the order; integers in two's complement sort as signed.
    pub key: W,
    /// Bits that move with the key, of any width, also none.
    pub payload: Bits,
}

impl<W> From<W> for Record<W> {
    fn from(key: W) -> Self {
        Record { key, payload: Bits(Vec::new()) }
    }
}

/// Which end of a sorted list is first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The smallest key first.
    Ascending,
    /// The largest key first.
    Descending,
}

/// Comparators on wires. After (i, j), wire i has the smaller of both keys; the sorted list is read in `order`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    /// The comparators, those that others wait for first.
    pub comparators: Vec<(usize, usize)>,
    /// Where the smallest key ends up, and so on.
    pub order: Vec<usize>,
}

impl Network {
    /// Batcher's odd-even merge sort: for n = 2^p, (p² − p + 4)·2^(p−2) − 1 comparators in p(p + 1)/2 layers.
    pub fn odd_even(n: usize) -> Self {
        let mut comparators = Vec::new();
        let order = odd_even_sort((0..n).collect(), &mut comparators);
        Network { comparators, order }
    }

    /// Batcher's bitonic sort: for n = 2^p, p(p + 1)·2^(p−2) comparators in p(p + 1)/2 layers.
    pub fn bitonic(n: usize) -> Self {
        let mut comparators = Vec::new();
        let order = bitonic_sort((0..n).collect(), &mut comparators);
        Network { comparators, order }
    }

    /// The odd-even merge of lists on wires 0 to m − 1 and m to m + n − 1, both ascending.
    ///
    /// For m = n = 2^p, p·2^p + 1 comparators in p + 1 layers.
    pub fn odd_even_merge(m: usize, n: usize) -> Self {
        let mut comparators = Vec::new();
        let order = odd_even_merge((0..m).collect(), (m..m + n).collect(), &mut comparators);
        Network { comparators, order }
    }

    /// The bitonic merge of the same lists. For m = n = 2^p, (p + 1)·2^p comparators in p + 1 layers.
    pub fn bitonic_merge(m: usize, n: usize) -> Self {
        let mut comparators = Vec::new();
        let order: Vec<usize> = (0..m).rev().chain(m..m + n).collect();
        half_clean(&order, &mut comparators);
        Network { comparators, order }
    }

    /// Comparators on the longest path.
    pub fn layers(&self) -> usize {
        let mut layers = vec![0; self.order.len()];
        for &(i, j) in &self.comparators {
            let layer = 1 + layers[i].max(layers[j]);
            (layers[i], layers[j]) = (layer, layer);
        }
        layers.into_iter().max().unwrap_or(0)
    }

    /// The network as a circuit.
    ///
    /// For keys of w bits and payloads of p, a comparator is 2w + p ANDs of depth w + 1 (size), or as many as a shallow
    /// comparison and w + p, of depth ⌈log w⌉ + 2 (depth).
    ///
    /// # Panics
    /// If there are not as many records as wires, or their widths differ.
    pub fn apply<W: Word + Clone>(
        &self,
        c: &mut Builder,
        records: &[Record<W>],
        direction: Direction,
        goal: Goal,
    ) -> Vec<Record<W>> {
        assert_eq!(records.len(), self.order.len(), "a record for each wire");
        let mut wires = records.to_vec();
        for &(i, j) in &self.comparators {
            let (low, high) = match direction {
                Direction::Ascending => (i, j),
                Direction::Descending => (j, i),
            };
            let swap = greater(c, &wires[low].key, &wires[high].key, goal);
            (wires[i], wires[j]) = exchange(c, swap, &wires[i], &wires[j]);
        }
        self.order.iter().map(|&wire| wires[wire].clone()).collect()
    }
}

/// The records in order, by odd-even merge sort ([`Network::odd_even`]).
///
/// For 128 records of 32 bits without payload: 1,471 comparators in 28 layers.
///
/// # Panics
/// If the widths of keys or of payloads differ.
pub fn sort<W: Word + Clone>(
    c: &mut Builder,
    records: &[Record<W>],
    direction: Direction,
    goal: Goal,
) -> Vec<Record<W>> {
    Network::odd_even(records.len()).apply(c, records, direction, goal)
}

/// Two lists that are in order already as one, by odd-even merge ([`Network::odd_even_merge`]).
///
/// If the lists are not in order, the result is some permutation of both.
///
/// # Panics
/// If the widths of keys or of payloads differ.
pub fn merge<W: Word + Clone>(
    c: &mut Builder,
    left: &[Record<W>],
    right: &[Record<W>],
    direction: Direction,
    goal: Goal,
) -> Vec<Record<W>> {
    let network = Network::odd_even_merge(left.len(), right.len());
    network.apply(c, &[left, right].concat(), direction, goal)
}

fn exchange<W: Word>(c: &mut Builder, swap: crate::Bit, a: &Record<W>, b: &Record<W>) -> (Record<W>, Record<W>) {
    let keys = conditional_swap(c, swap, &a.key, &b.key);
    let payloads = conditional_swap(c, swap, &a.payload, &b.payload);
    (Record { key: keys.0, payload: payloads.0 }, Record { key: keys.1, payload: payloads.1 })
}

fn odd_even_sort(mut wires: Vec<usize>, comparators: &mut Vec<(usize, usize)>) -> Vec<usize> {
    if wires.len() < 2 {
        return wires;
    }
    let right = wires.split_off(wires.len().div_ceil(2));
    let left = odd_even_sort(wires, comparators);
    let right = odd_even_sort(right, comparators);
    odd_even_merge(left, right, comparators)
}

/// Merges first, third, ... and second, fourth, ... of both lists apart. Two neighbours may then be out of order: the
/// k-th of the second merge and the one after the k-th of the first.
fn odd_even_merge(left: Vec<usize>, right: Vec<usize>, comparators: &mut Vec<(usize, usize)>) -> Vec<usize> {
    match (left.as_slice(), right.as_slice()) {
        ([], _) => return right,
        (_, []) => return left,
        (&[i], &[j]) => {
            comparators.push((i, j));
            return vec![i, j];
        }
        _ => {}
    }
    let every_second = |list: &[usize], from: usize| list.iter().skip(from).step_by(2).copied().collect();
    let first = odd_even_merge(every_second(&left, 0), every_second(&right, 0), comparators);
    let second = odd_even_merge(every_second(&left, 1), every_second(&right, 1), comparators);
    let mut order = vec![first[0]];
    for k in 0..second.len().max(first.len() - 1) {
        if let (Some(&low), Some(&high)) = (second.get(k), first.get(k + 1)) {
            comparators.push((low, high));
        }
        order.extend(second.get(k));
        order.extend(first.get(k + 1));
    }
    order
}

/// Sorts the halves and reads the first backwards: down, then up, as the merge wants it.
fn bitonic_sort(mut wires: Vec<usize>, comparators: &mut Vec<(usize, usize)>) -> Vec<usize> {
    if wires.len() < 2 {
        return wires;
    }
    let right = wires.split_off(wires.len() / 2);
    let left = bitonic_sort(wires, comparators);
    let right = bitonic_sort(right, comparators);
    let order: Vec<usize> = left.into_iter().rev().chain(right).collect();
    half_clean(&order, comparators);
    order
}

/// Keys that go down and then up: the first 2^k, the largest power of two below n, against those that come 2^k later.
fn half_clean(order: &[usize], comparators: &mut Vec<(usize, usize)>) {
    if order.len() < 2 {
        return;
    }
    let (left, right) = order.split_at(order.len().next_power_of_two() / 2);
    comparators.extend(left.iter().copied().zip(right.iter().copied()));
    half_clean(left, comparators);
    half_clean(right, comparators);
}
