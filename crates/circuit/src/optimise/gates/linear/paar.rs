//! Common sums of linear forms, after C. Paar (*Optimized arithmetic for Reed-Solomon encoders*, ISIT 1997): the pair of
//! terms that most forms have becomes a term itself, until no two forms have a pair in common.
//!
//! Each pair that two forms have knows its forms, and waits in a queue by how many they are. A pair of terms that were there
//! before is in ever fewer forms, a pair with the newest sum is entered once with all its forms, so that a queue entry that is
//! out of date is put back with its true count. A step takes time for the pairs that its forms lose and gain alone: all steps
//! together take n log n for n pairs at the start. Forms are taken in blocks of a bounded number of pairs, which bounds the
//! memory as well.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pairs of the forms of a block, but for its last form.
const BLOCK: usize = 1 << 20;
/// The end of a list of forms.
const NONE: u32 = u32::MAX;

/// Sums of two terms; they are terms as well, numbered from `first` on.
pub struct Sums {
    pub first: u32,
    pub pairs: Vec<[u32; 2]>,
}

impl Sums {
    /// Rewrites forms, each a rising list of terms, over sums that several of them have.
    pub fn extract(&mut self, mut forms: Vec<&mut Vec<u32>>) {
        let mut rest = &mut forms[..];
        while !rest.is_empty() {
            let mut pairs = 0;
            let full = rest.iter().position(|form| {
                pairs += form.len() * form.len().saturating_sub(1) / 2;
                pairs > BLOCK
            });
            let (block, after) = rest.split_at_mut(full.map_or(rest.len(), |last| last + 1));
            Block::new(block).extract(self);
            rest = after;
        }
    }
}

struct Pair {
    terms: [u32; 2],
    /// How many forms have it.
    count: u32,
    /// The place in `listed` of the last form that had it.
    last: u32,
}

struct Block<'a, 'f> {
    forms: &'a mut [&'f mut Vec<u32>],
    numbers: FxHashMap<[u32; 2], u32>,
    pairs: Vec<Pair>,
    /// Forms with a pair, each with the place of the one before.
    listed: Vec<(u32, u32)>,
    /// Counts, which may be too high by now, of pairs; among equals the one that was found first is first.
    queue: BinaryHeap<(u32, Reverse<u32>)>,
}

impl<'a, 'f> Block<'a, 'f> {
    fn new(forms: &'a mut [&'f mut Vec<u32>]) -> Self {
        let mut block = Block {
            forms,
            numbers: FxHashMap::default(),
            pairs: Vec::new(),
            listed: Vec::new(),
            queue: BinaryHeap::new(),
        };
        let all: Vec<u32> = (0..block.forms.len() as u32).collect();
        block.enter(&all, 0);
        block
    }

    fn extract(mut self, sums: &mut Sums) {
        while let Some(terms) = self.most() {
            let sum = sums.first + sums.pairs.len() as u32;
            sums.pairs.push(terms);
            let forms = self.with(terms);
            forms.iter().for_each(|&form| self.replace(form, terms, sum));
            self.enter(&forms, sum);
        }
    }

    /// The pair that most forms have, if it is in two.
    fn most(&mut self) -> Option<[u32; 2]> {
        while let Some((count, number)) = self.queue.pop() {
            let pair = &self.pairs[number.0 as usize];
            match pair.count {
                now if now == count => return Some(pair.terms),
                0 | 1 => {}
                now => self.queue.push((now, number)),
            }
        }
        None
    }

    /// The forms that have both terms, in rising order.
    fn with(&self, terms: [u32; 2]) -> Vec<u32> {
        let mut forms = Vec::new();
        let mut place = self.pairs[self.numbers[&terms] as usize].last;
        while place != NONE {
            let (form, before) = self.listed[place as usize];
            if terms.iter().all(|term| self.forms[form as usize].binary_search(term).is_ok()) {
                forms.push(form);
            }
            place = before;
        }
        forms.reverse();
        forms
    }

    /// A form has a sum instead of its two terms; sums are above all terms that were there before.
    fn replace(&mut self, form: u32, terms: [u32; 2], sum: u32) {
        let form = &mut *self.forms[form as usize];
        form.retain(|term| !terms.contains(term));
        let lost = form.iter().flat_map(|&other| terms.map(|term| [term.min(other), term.max(other)]));
        for pair in lost.chain([terms]) {
            if let Some(&number) = self.numbers.get(&pair) {
                self.pairs[number as usize].count -= 1;
            }
        }
        form.push(sum);
    }

    /// The pairs of some forms with terms from `first` on; those that one form alone has are of no use.
    fn enter(&mut self, forms: &[u32], first: u32) {
        let mut counts: FxHashMap<[u32; 2], u32> = FxHashMap::default();
        for &form in forms {
            pairs(self.forms[form as usize], first).for_each(|pair| *counts.entry(pair).or_default() += 1);
        }
        let old = self.pairs.len();
        for &form in forms {
            for terms in pairs(self.forms[form as usize], first).filter(|pair| counts[pair] > 1) {
                let number = *self.numbers.entry(terms).or_insert(self.pairs.len() as u32);
                if number as usize == self.pairs.len() {
                    self.pairs.push(Pair { terms, count: 0, last: NONE });
                }
                let pair = &mut self.pairs[number as usize];
                self.listed.push((form, pair.last));
                (pair.count, pair.last) = (pair.count + 1, self.listed.len() as u32 - 1);
            }
        }
        let new = (old..self.pairs.len()).map(|number| (self.pairs[number].count, Reverse(number as u32)));
        self.queue.extend(new);
    }
}

/// The pairs of a form whose second term is none before `first`.
fn pairs(form: &[u32], first: u32) -> impl Iterator<Item = [u32; 2]> {
    let seconds = form.partition_point(|&term| term < first)..form.len();
    seconds.flat_map(move |j| form[..j].iter().map(move |&term| [term, form[j]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column of four bytes times the matrix of AES: byte r is 2·itself + 3·the next + the two after.
    fn mix_columns() -> Vec<Vec<u32>> {
        let doubled = |byte: u32, bit: u32| {
            let top = (bit == 0 || 0x1b >> bit & 1 == 1).then_some(8 * byte + 7);
            top.into_iter().chain((bit > 0).then(|| 8 * byte + bit - 1))
        };
        let row = |r: u32, bit: u32| {
            let next = [1, 2, 3].map(|by| (r + by) % 4);
            let plain = next.into_iter().map(|byte| 8 * byte + bit);
            let mut form: Vec<u32> = plain.chain(doubled(r, bit)).chain(doubled(next[0], bit)).collect();
            form.sort_unstable();
            form
        };
        (0..4).flat_map(|r| (0..8).map(move |bit| row(r, bit))).collect()
    }

    /// XORs of sums and of what is left of the forms.
    fn xors(sums: &Sums, forms: &[Vec<u32>]) -> usize {
        sums.pairs.len() + forms.iter().map(|form| form.len().saturating_sub(1)).sum::<usize>()
    }

    /// A form over the first terms alone.
    fn expanded(sums: &Sums, form: &[u32]) -> Vec<u32> {
        let mut terms = form.to_vec();
        while let Some(place) = terms.iter().position(|&term| term >= sums.first) {
            let sum = terms.swap_remove(place) - sums.first;
            terms.extend(sums.pairs[sum as usize]);
        }
        terms.sort_unstable();
        terms
    }

    fn extracted(mut forms: Vec<Vec<u32>>, terms: u32) -> (Sums, Vec<Vec<u32>>) {
        let mut sums = Sums { first: terms, pairs: Vec::new() };
        sums.extract(forms.iter_mut().collect());
        (sums, forms)
    }

    /// 108 is what the program of Kranz, Leander, Stoffelen and Wiemer (*Shorter linear straight-line programs for MDS
    /// matrices*, ToSC 2017) finds by Paar's first method.
    #[test]
    fn mix_columns_as_published() {
        let naive = mix_columns();
        let (sums, forms) = extracted(naive.clone(), 32);
        let none = Sums { first: 32, pairs: Vec::new() };
        assert_eq!((xors(&none, &naive), xors(&sums, &forms)), (152, 108));
        assert!(naive.iter().zip(&forms).all(|(old, new)| *old == expanded(&sums, new)));
    }

    /// Each step takes the pair that is in most forms, as counted anew; and at the end no two forms have a pair.
    #[test]
    fn pairs_are_counted_as_they_are() {
        let mut seed = 1u64;
        let mut bit = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 62 == 0
        };
        for terms in [5u32, 12, 25] {
            let naive: Vec<Vec<u32>> = (0..20).map(|_| (0..terms).filter(|_| bit()).collect()).collect();
            let (sums, forms) = extracted(naive.clone(), terms);
            let mut now = naive.clone();
            let has = |form: &Vec<u32>, pair: &[u32; 2]| pair.iter().all(|term| form.contains(term));
            let most = |now: &[Vec<u32>], last: u32| {
                let pairs = (0..last).flat_map(|a| (a + 1..last).map(move |b| [a, b]));
                pairs.map(|pair| now.iter().filter(|form| has(form, &pair)).count()).max().unwrap()
            };
            for (sum, pair) in (terms..).zip(&sums.pairs) {
                assert_eq!(now.iter().filter(|form| has(form, pair)).count(), most(&now, sum));
                for form in now.iter_mut().filter(|form| has(form, pair)) {
                    form.retain(|term| !pair.contains(term));
                    form.push(sum);
                }
            }
            assert_eq!(now, forms);
            assert!(most(&now, terms + sums.pairs.len() as u32) < 2);
            assert!(naive.iter().zip(&forms).all(|(old, new)| *old == expanded(&sums, new)));
        }
    }
}
