//! The least of each group, from the comparisons of its pairs: which one it is, and its value.
//!
//! Value i of a group is its least if it is less than all before it and no later one is less than it. With w_i the shared
//! bit that says so, the least is V_0 + Σ w_i·(V_i − V_0) over i > 0.
//!
//! A shared bit w = w_A ⊕ w_B times a shared D = D_A + D_B: a party's own part is w_P·D_P, and what is missing,
//! w_Q·(1 − 2·w_P)·D_P of the other's bit, takes one random OT whose sender is P. With its messages m_0 and m_1 and the other
//! party's choice c and m_c:
//!
//! ```text
//! V = (1 − 2·w_P)·D_P,   f = V − (m_1 − m_0)    from P
//! d = w_Q ⊕ c                                   from Q
//! share of P   d·V − (1 − 2d)·m_0               share of Q   (1 − 2d)·(c·f + m_c)
//! ```
//!
//! since w_Q = d + (1 − 2d)·c and c·V = c·f + m_c − m_0. What is shared by XOR is the same without signs, V = D_P.

use super::compare::multiply;
use super::layout::{Layout, Level};
use super::material::Material;
use super::rows::{NONE, Rows};
use duologue::call::Zeroizing;
use duologue::circuit::Party;

/// The ANDs that find the least of each group under way: for each value but a group's first, those of its wins that have
/// not been multiplied yet.
pub struct Winners {
    terms: Rows,
    /// How many terms each of them has.
    counts: Vec<u32>,
}

impl Winners {
    /// From shares of whether the right one of each pair is less.
    pub fn new(level: &Level, less: &Rows, party: Party) -> Winners {
        let (mut lanes, mut counts, mut lost, mut base) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (_, size) in level.groups() {
            let pair = |left: usize, right: usize| base + left * (2 * size - left - 1) / 2 + right - left - 1;
            for value in 1..size {
                let (before, after) = (0..value, value + 1..size);
                lanes.extend(
                    before.map(|other| pair(other, value) as u32).chain(after.map(|other| pair(value, other) as u32)),
                );
                lost.extend((1..size).map(|other| other > value));
                counts.push(size as u32 - 1);
            }
            base += size * (size - 1) / 2;
        }
        let mut terms = less.gather(&lanes);
        if party == Party::Alice {
            terms.xor(&Rows::tabulate(1, lost.len(), |lane| lost[lane].into()));
        }
        Winners { terms, counts }
    }

    /// The two factors of each AND of the next level.
    fn factors(&self) -> Rows {
        let mut lanes = [Vec::new(), Vec::new()];
        let mut from = 0;
        for &count in &self.counts {
            for pair in 0..count / 2 {
                lanes[0].push(from + 2 * pair);
                lanes[1].push(from + 2 * pair + 1);
            }
            from += count;
        }
        let [left, right] = lanes.map(|lanes| self.terms.gather(&lanes));
        left.then(&right)
    }

    /// This party's half of the opening of a level of ANDs.
    pub fn ands(&self, triples: &Rows) -> Rows {
        let mut half = self.factors();
        half.xor(&triples.slice(0, 2));
        half
    }

    /// Ends a level of ANDs: the products are terms, and of an odd number the last one stays.
    pub fn join(&mut self, triples: &Rows, opened: &Rows, party: Party) {
        // A tile that has nothing but a smaller group may have fewer levels than whole groups.
        if opened.lanes() == 0 {
            return;
        }
        let products = multiply(triples, opened, party);
        let (mut lanes, mut product, mut from) = (Vec::new(), 0, 0);
        let mut rests = Vec::new();
        for count in &mut self.counts {
            for _ in 0..*count / 2 {
                lanes.push(product);
                rests.push(NONE);
                product += 1;
            }
            if *count % 2 == 1 {
                lanes.push(NONE);
                rests.push(from + *count - 1);
            }
            from += *count;
            *count = count.div_ceil(2);
        }
        let mut terms = products.gather(&lanes);
        terms.xor(&self.terms.gather(&rests));
        self.terms = terms;
    }

    /// The bits w, when all are multiplied.
    pub fn finish(self) -> Rows {
        self.terms
    }
}

/// What the tournament carries.
pub struct Values {
    /// Shared by addition.
    pub sums: Rows,
    /// Shared by XOR: strings, then digits of the index.
    pub strings: Rows,
}

/// The selections of a level.
pub struct Selections {
    winners: Rows,
    /// Own shares of the differences.
    sums: Rows,
    strings: Rows,
    material: Material,
    /// d of the own half of the opening.
    masked: Rows,
}

impl Selections {
    pub fn new(level: &Level, values: &Values, winners: Rows, material: Material) -> Selections {
        let lanes = |firsts: bool| -> Vec<u32> {
            let group = |(from, size): (usize, usize)| {
                (from + 1..from + size).map(move |i| if firsts { from } else { i } as u32)
            };
            level.groups().flat_map(group).collect()
        };
        let [firsts, others] = [lanes(true), lanes(false)];
        let mut sums = values.sums.gather(&others);
        sums.subtract(&values.sums.gather(&firsts));
        let mut strings = values.strings.gather(&others);
        strings.xor(&values.strings.gather(&firsts));
        let mut masked = material.slice(2 * (sums.rows() + strings.rows()), 1);
        masked.xor(&winners);
        Selections { winners, sums, strings, material, masked }
    }

    /// V of the sums.
    fn signed(&self) -> Rows {
        let mut signed = self.sums.clone();
        signed.negate(self.winners.row(0));
        signed
    }

    /// Rows of the material: of m_0 or m_c, of sums or strings.
    fn of(&self, from: usize) -> [Rows; 2] {
        let (sums, strings) = (self.sums.rows(), self.strings.rows());
        [self.material.slice(from, sums), self.material.slice(from + sums, strings)]
    }

    fn carried(&self) -> usize {
        self.sums.rows() + self.strings.rows()
    }

    /// This party's half of the opening: d, then f of sums and of strings.
    pub fn half(&self) -> Rows {
        let [sum_mask, string_mask] = self.of(self.carried());
        let (mut sums, mut strings) = (self.signed(), self.strings.clone());
        sums.subtract(&sum_mask);
        strings.xor(&string_mask);
        self.masked.clone().then(&sums).then(&strings)
    }

    /// Shares of w·D, from the peer's half.
    fn products(&self, peer: &Rows) -> Values {
        let (carried, sums, strings) = (self.carried(), self.sums.rows(), self.strings.rows());
        let ([zero_sums, zero_strings], [own_sums, own_strings]) = (self.of(0), self.of(2 * carried + 1));
        let choices = self.material.slice(2 * carried, 1);
        let (choices, own_d, peer_d) = (choices.row(0), self.masked.row(0), peer.row(0));
        // w_P·D_P, of which −w_P·D_P is in V.
        let mut sum = self.sums.clone();
        sum.keep(self.winners.row(0));
        // As sender: d·V − (1 − 2d)·m_0.
        let (mut taken, mut mask) = (self.signed(), zero_sums);
        taken.keep(peer_d);
        mask.negate(peer_d);
        sum.add(&taken);
        sum.subtract(&mask);
        // As receiver: (1 − 2d)·(c·f + m_c).
        let mut received = peer.slice(1, sums);
        received.keep(choices);
        received.add(&own_sums);
        received.negate(own_d);
        sum.add(&received);
        let mut string = self.strings.clone();
        let mixed = self.winners.row(0).iter().zip(peer_d).map(|(w, d)| w ^ d);
        let mixed = Zeroizing::new(mixed.collect::<Vec<u64>>());
        string.keep(&mixed);
        string.xor(&zero_strings);
        let mut received = peer.slice(1 + sums, strings);
        received.keep(choices);
        string.xor(&received);
        string.xor(&own_strings);
        Values { sums: sum, strings: string }
    }

    /// The least of each group, with a digit more of the index if the layout has one.
    pub fn finish(self, layout: &Layout, level: &Level, values: &Values, peer: &Rows) -> Values {
        let products = self.products(peer);
        let firsts: Vec<u32> = level.groups().map(|(from, _)| from as u32).collect();
        let mut least = Values { sums: values.sums.gather(&firsts), strings: values.strings.gather(&firsts) };
        let digit = if layout.index > 0 { super::layout::bits_of(level.group) } else { 0 };
        let mut digits = Rows::zeros(digit, firsts.len());
        for place in 1..level.group {
            let lanes = places(level, place);
            least.sums.add(&products.sums.gather(&lanes));
            least.strings.xor(&products.strings.gather(&lanes));
            let winners = self.winners.gather(&lanes);
            for bit in (0..digit).filter(|bit| place >> bit & 1 == 1) {
                digits.row_mut(bit).iter_mut().zip(winners.row(0)).for_each(|(to, w)| *to ^= w);
            }
        }
        least.strings = least.strings.then(&digits);
        least
    }
}

/// Of each group the selection of its value at a place, if it has one.
fn places(level: &Level, place: usize) -> Vec<u32> {
    let mut before = 0;
    let lane = |(_, size): (usize, usize)| {
        let lane = if place < size { (before + place - 1) as u32 } else { NONE };
        before += size - 1;
        lane
    };
    level.groups().map(lane).collect()
}
