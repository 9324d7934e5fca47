//! Comparisons of shared values: two-bit leaves by 1-of-4 OT, then a tree of (greater, equal).
//!
//! With shares P and Q of a difference modulo 2^(l+1) its sign is P_l ⊕ Q_l ⊕ [P' + Q' ≥ 2^l], where P' and Q' are the lowest
//! l bits; and P' + Q' ≥ 2^l if and only if P' > 2^l − 1 − Q'. So the sender of the OTs has x = P', the receiver v, the
//! complement of Q'.

use super::layout::{Kind, LEAF, Layout, Section};
use super::material::Material;
use super::rows::Rows;
use duologue::circuit::Party;

/// One party's side of the comparisons of a level.
pub struct Comparisons {
    /// The number of x, or v.
    number: Rows,
    /// Its share of the highest bit.
    top: Rows,
    /// Random OTs and triples, from `used` on.
    material: Material,
    used: usize,
    /// Shares of "greater" and "equal" of what is left of the tree, from the lowest bits on.
    greater: Rows,
    equal: Rows,
    leaves: usize,
}

impl Comparisons {
    /// Comparisons of values whose shared differences are negative if the right one is less.
    pub fn new(
        layout: &Layout,
        section: &Section,
        party: Party,
        differences: &Rows,
        material: Material,
    ) -> Comparisons {
        debug_assert!(section.kind == Kind::Compare);
        let lanes = differences.lanes();
        let mut number = differences.slice(0, layout.bits);
        if section.sender != party {
            number.complement();
        }
        let leaves = layout.leaves();
        number = number.then(&Rows::zeros(LEAF * leaves - layout.bits, lanes));
        let top = differences.slice(layout.bits, 1);
        let nothing = Rows::zeros(0, lanes);
        Comparisons { number, top, material, used: 0, greater: nothing.clone(), equal: nothing, leaves }
    }

    /// The next rows of the material.
    fn take(&mut self, rows: usize) -> Rows {
        self.used += rows;
        self.material.slice(self.used - rows, rows)
    }

    /// Receiver: d = c ⊕ v of each leaf. The choices stay until the answer comes.
    pub fn masked(&self) -> Rows {
        let mut masked = self.number.clone();
        for (leaf, row) in (0..self.leaves).flat_map(|leaf| [(leaf, 0), (leaf, 1)]) {
            let choices = self.material.slice(first_of_received(leaf) + row, 1);
            masked.row_mut(LEAF * leaf + row).iter_mut().zip(choices.row(0)).for_each(|(to, c)| *to ^= c);
        }
        masked
    }

    /// Sender: y_1, y_2 and y_3 of each leaf, where y_j = m_j ⊕ r ⊕ f(j ⊕ d) and r = m_0 ⊕ f(d) is the own share.
    pub fn answer(&mut self, masked: &Rows) -> Rows {
        let lanes = masked.lanes();
        let mut answers = Rows::zeros(0, lanes);
        for leaf in 0..self.leaves {
            let width = if leaf > 0 { 2 } else { 1 };
            let mut table = self.take(4 * width);
            for word in 0..table.stride() {
                let pair = |rows: &Rows| [0, 1].map(|row| rows.row(LEAF * leaf + row)[word]);
                let of = outcomes(pair(&self.number), pair(masked));
                for (j, row) in (0..4).flat_map(|j| (0..width).map(move |row| (j, row))) {
                    let base = if j > 0 { of[0][row] } else { 0 };
                    table.row_mut(width * j + row)[word] ^= of[j][row] ^ base;
                }
            }
            answers = answers.then(&table.slice(width, 3 * width));
            self.push(&table.slice(0, width));
        }
        answers
    }

    /// Receiver: m_c ⊕ y_c of each leaf.
    pub fn choose(&mut self, answers: &Rows) {
        let mut from = 0;
        for leaf in 0..self.leaves {
            let width = if leaf > 0 { 2 } else { 1 };
            let own = self.take(2 + width);
            let mut chosen = own.slice(2, width);
            for (row, word) in (0..width).flat_map(|row| (0..own.stride()).map(move |word| (row, word))) {
                let [low, high] = [0, 1].map(|bit| own.row(bit)[word]);
                let answer = |j: usize| answers.row(from + width * (j - 1) + row)[word];
                chosen.row_mut(row)[word] ^= low & !high & answer(1) ^ high & (!low & answer(2) ^ low & answer(3));
            }
            from += 3 * width;
            self.push(&chosen);
        }
    }

    /// The shares of a leaf or a node: "greater", and "equal" of all but the lowest.
    fn push(&mut self, shares: &Rows) {
        let lanes = shares.lanes();
        let equal = if shares.rows() > 1 { shares.slice(1, 1) } else { Rows::zeros(1, lanes) };
        self.greater.append(&shares.slice(0, 1));
        self.equal.append(&equal);
    }

    /// This party's half of the opening of a level of nodes: the upper side's "equal" and what it is multiplied by, each
    /// under its mask.
    pub fn nodes(&self) -> Rows {
        let (mut halves, mut used) = (Rows::zeros(0, self.top.lanes()), self.used);
        for node in 0..self.greater.rows() / 2 {
            let width = if node > 0 { 2 } else { 1 };
            let mut half = self.factors(node, width);
            half.xor(&self.material.slice(used, 1 + width));
            halves = halves.then(&half);
            used += 1 + 2 * width;
        }
        halves
    }

    /// What a node multiplies: "equal" of its upper side; "greater" of its lower one, and "equal".
    fn factors(&self, node: usize, width: usize) -> Rows {
        let factors = self.equal.slice(2 * node + 1, 1).then(&self.greater.slice(2 * node, 1));
        if width > 1 { factors.then(&self.equal.slice(2 * node, 1)) } else { factors }
    }

    /// Ends a level of nodes, of which both halves are opened: greater is the upper side's, or the lower one's where the
    /// upper side is equal.
    pub fn join(&mut self, opened: &Rows, party: Party) {
        let (count, mut from) = (self.greater.rows(), 0);
        let nothing = || Rows::zeros(0, opened.lanes());
        let [greater, equal] = [&mut self.greater, &mut self.equal].map(|rows| std::mem::replace(rows, nothing()));
        for node in 0..count / 2 {
            let width = if node > 0 { 2 } else { 1 };
            let triple = self.take(1 + 2 * width);
            let mut product = multiply(&triple, &opened.slice(from, 1 + width), party);
            product.row_mut(0).iter_mut().zip(greater.row(2 * node + 1)).for_each(|(to, upper)| *to ^= upper);
            self.push(&product);
            from += 1 + width;
        }
        if count % 2 == 1 {
            self.push(&greater.slice(count - 1, 1).then(&equal.slice(count - 1, 1)));
        }
    }

    /// Shares of whether the right value is less, when one node is left.
    pub fn finish(&self) -> Rows {
        let mut less = self.top.clone();
        less.xor(&self.greater);
        less
    }
}

/// The first row of a leaf in a receiver's material.
fn first_of_received(leaf: usize) -> usize {
    if leaf > 0 { 4 * leaf - 1 } else { 0 }
}

/// Bit by bit, f(j ⊕ d) = ([x > j ⊕ d], [x = j ⊕ d]) for j = 0 … 3.
fn outcomes(x: [u64; 2], d: [u64; 2]) -> [[u64; 2]; 4] {
    std::array::from_fn(|j| {
        let [low, high] = [0, 1].map(|bit| d[bit] ^ (j as u64 >> bit & 1).wrapping_neg());
        let same = !(x[1] ^ high);
        [x[1] & !high | same & x[0] & !low, same & !(x[0] ^ low)]
    })
}

/// The share of a product of a bit and others: of a triple (a, b, c) and the opened e and f, c ⊕ e·b ⊕ f·a, and once e·f.
pub fn multiply(triple: &Rows, opened: &Rows, party: Party) -> Rows {
    let width = opened.rows() - 1;
    let mut product = triple.slice(1 + width, width);
    let mut masked = triple.slice(1, width);
    if party == Party::Alice {
        masked.xor(&opened.slice(1, width));
    }
    masked.keep(opened.row(0));
    product.xor(&masked);
    let mut other = opened.slice(1, width);
    other.keep(triple.row(0));
    product.xor(&other);
    product
}
