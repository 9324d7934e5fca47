//! The smallest of many keys and where it lies, as a reduction: a tournament in which ties keep the lowest lane.
//!
//! Nobody numbers the lanes. A `level` starts as 1 in every lane and doubles in each round; the left one of two blocks
//! is always full, so the right one's index grows by the left one's level, and as the index lies below it, by an XOR.
//!
//! Size: keys are binary; a match is one comparison and a multiplexer. Depth: keys are digits of four bits in unary, so
//! that digits compare in one layer and the smaller of two is an AND. Of each digit the smaller of those who are still in
//! the game goes on, and the next match starts on a digit as soon as it is known: the highest ones take but one layer a
//! match.

use duologue::circuit::blocks::select::one_hot;
use duologue::circuit::blocks::{Goal, equal, greater, mux};
use duologue::circuit::program::{Lanes, Value};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Program, UInt, bits, uint};
use std::ops::Range;

/// Bits of a digit for depth.
const DIGIT: usize = 4;

/// A tournament of keys of one width.
#[derive(Clone, Copy)]
pub(crate) struct Tournament {
    /// Bits of a key.
    pub key: usize,
    /// Bits of the index: there are at most 2^`index` lanes.
    pub index: u32,
    /// The cost to keep low.
    pub goal: Goal,
}

impl Tournament {
    /// The key as it takes part. Size: free. Depth: 11 ANDs a digit, depth 2.
    pub fn encode(&self, c: &mut Builder, key: &UInt) -> Bits {
        assert_eq!(key.0.len(), self.key, "bits of a key");
        match self.goal {
            Goal::Size => Bits(key.0.clone()),
            Goal::Depth => Bits(key.0.chunks(DIGIT).flat_map(|digit| unary(c, digit)).collect()),
        }
    }

    /// Whether an encoded key is the largest there is.
    pub fn is_largest(&self, c: &mut Builder, encoded: &Bits) -> Bit {
        let last = self.digits().scan(0, |end, (_, digit)| {
            *end += digit;
            Some(encoded.0[*end - 1])
        });
        let last = Bits(last.collect());
        let all = Bits(vec![Bit::TRUE; last.0.len()]);
        equal(c, &last, &all)
    }

    /// Bits of an encoded key.
    pub fn width(&self) -> u32 {
        self.digits().map(|(_, digit)| digit as u32).sum()
    }

    /// Index and level of so many lanes before the first round.
    pub fn start(&self, p: &mut Program, lanes: impl Into<Lanes>) -> [Value; 2] {
        let lanes = lanes.into();
        let number = |value: u32| -> Vec<bool> { (0..self.index).map(|i| value >> i & 1 == 1).collect() };
        [0, 1].map(|value| p.constant(uint(self.index), lanes.clone(), &number(value)))
    }

    /// The smallest of all lanes of `keys`, encoded, and its lane; each lane has its start.
    pub fn reduce(&self, p: &mut Program, keys: Value, [index, level]: [Value; 2]) -> (Value, Value) {
        let results = p.reduce(&self.game(), &[keys, index, level]);
        match results[..] {
            [key, index, _] => (key, index),
            // The program has remembered why.
            _ => (keys, index),
        }
    }

    /// First bit and number of bits of the encoded digits, from the lowest digit.
    fn digits(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        let (key, bits) = match self.goal {
            Goal::Size => (self.key, 1),
            Goal::Depth => (self.key, DIGIT),
        };
        let full = (1usize << bits) - 1;
        (0..key.div_ceil(bits)).map(move |digit| (digit * full, (1 << bits.min(key - digit * bits)) - 1))
    }

    /// One match: who is left of two lanes.
    ///
    /// For keys of n bits, Size: less than 3n ANDs, depth about 2·√n + 1. Depth: 73 ANDs a digit and about 2·log d for the
    /// d digits, depth log d + 2. Both choose the index with an AND a bit.
    fn game(&self) -> Circuit {
        let mut c = Builder::new("closer");
        let [(left, index, level), (right, other, _)] = ["left", "right"].map(|side| {
            let key = c.bits(format!("{side}_key"), self.width());
            let index = c.uint(format!("{side}_index"), self.index);
            (key, index, c.uint(format!("{side}_level"), self.index))
        });
        let (key, lost) = match self.goal {
            Goal::Size => choose(&mut c, &left, &right),
            Goal::Depth => self.by_digits(&mut c, &left, &right),
        };
        let (index, level) = place(&mut c, lost, (&index, &level), &other);
        c.output_as("key", bits(self.width()), &key.0);
        c.output("index", &index);
        c.output("level", &level);
        c.finish()
    }

    /// The smaller key digit by digit, and whether the left one lost.
    fn by_digits(&self, c: &mut Builder, left: &Bits, right: &Bits) -> (Bits, Bit) {
        let both: Vec<Bit> = left.0.iter().zip(&right.0).map(|(&a, &b)| c.and(a, b)).collect();
        let ranges: Vec<Range<usize>> = self.digits().rev().map(|(from, count)| from..from + count).collect();
        let parts = |range: &Range<usize>| (&left.0[range.clone()], &right.0[range.clone()], &both[range.clone()]);
        let lost = |c: &mut Builder, (a, b, both): (&[Bit], &[Bit], &[Bit])| Lost {
            left: larger(c, a, b, both),
            right: larger(c, b, a, both),
        };
        let digits: Vec<Lost> = ranges.iter().map(|range| lost(c, parts(range))).collect();
        let after = outcomes(c, &digits);
        let before = [Lost { left: Bit::FALSE, right: Bit::FALSE }].into_iter().chain(after.iter().copied());
        let mut key = left.0.clone();
        for (range, lost) in ranges.iter().zip(before) {
            for i in range.clone() {
                key[i] = survivor(c, both[i], (left.0[i], lost.right), (right.0[i], lost.left));
            }
        }
        (Bits(key), after[after.len() - 1].left)
    }
}

/// Index and level of who is left of two lanes, the right one if the left one lost: an AND for each bit of an index.
pub(crate) fn place(c: &mut Builder, lost: Bit, (index, level): (&UInt, &UInt), right: &UInt) -> (UInt, UInt) {
    let right = UInt(right.0.iter().zip(&level.0).map(|(&right, &level)| c.xor(right, level)).collect());
    let doubled = [Bit::FALSE].into_iter().chain(level.0.iter().copied()).take(level.0.len());
    (mux(c, lost, &right, index), UInt(doubled.collect()))
}

/// The loser of two: one of them or, so far, neither.
#[derive(Clone, Copy)]
struct Lost {
    left: Bit,
    right: Bit,
}

/// After each digit, from the highest, who has lost: the first digit that differs decides. A prefix tree (Sklansky's) in
/// which a join is two ANDs.
fn outcomes(c: &mut Builder, digits: &[Lost]) -> Vec<Lost> {
    if digits.len() < 2 {
        return digits.to_vec();
    }
    let (high, low) = digits.split_at(digits.len().next_power_of_two() / 2);
    let mut after = outcomes(c, high);
    let decided = after[after.len() - 1];
    let open = !c.xor(decided.left, decided.right);
    for low in outcomes(c, low) {
        let [left, right] = [(low.left, decided.left), (low.right, decided.right)].map(|(low, decided)| {
            let now = c.and(open, low);
            c.xor(decided, now)
        });
        after.push(Lost { left, right });
    }
    after
}

/// A bit of what is left: `a` if the other has lost, `b` if this one has, both of them while neither has.
fn survivor(c: &mut Builder, both: Bit, (a, right_lost): (Bit, Bit), (b, left_lost): (Bit, Bit)) -> Bit {
    let (only_a, only_b) = (c.xor(a, both), c.xor(b, both));
    let (more_a, more_b) = (c.and(right_lost, only_a), c.and(left_lost, only_b));
    c.xor_all([both, more_a, more_b])
}

/// a > b in unary: a has at least v + 1 where b has exactly v, summed over v.
///
/// [b = v]·[a > v] = ([b ≥ v] ⊕ [b > v])·[a > v], whose second half is in `both`.
fn larger(c: &mut Builder, a: &[Bit], b: &[Bit], both: &[Bit]) -> Bit {
    let mut sum = a[0];
    for (v, &meet) in both.iter().enumerate() {
        sum = c.xor(sum, meet);
        if v + 1 < a.len() {
            let next = c.and(a[v + 1], b[v]);
            sum = c.xor(sum, next);
        }
    }
    sum
}

/// The smaller binary key, the left one of equals, and whether the left one lost.
fn choose(c: &mut Builder, left: &Bits, right: &Bits) -> (Bits, Bit) {
    let lost = greater_in_blocks(c, &left.0, &right.0, (2 * left.0.len()).isqrt().max(1));
    (mux(c, lost, right, left), lost)
}

/// a > b: a block follows the carry from its lowest bit, and blocks meet in a chain. With blocks of b bits 2n − b ANDs,
/// depth b + n/b − 1.
pub(crate) fn greater_in_blocks(c: &mut Builder, a: &[Bit], b: &[Bit], block: usize) -> Bit {
    let mut result = Bit::FALSE;
    for (place, (a, b)) in a.chunks(block).zip(b.chunks(block)).enumerate() {
        let (a, b) = (Bits(a.to_vec()), Bits(b.to_vec()));
        let above = greater(c, &a, &b, Goal::Size);
        result = match place {
            0 => above,
            _ => {
                let same = equal(c, &a, &b);
                let passed = c.and(same, result);
                c.xor(above, passed)
            }
        };
    }
    result
}

/// At place v whether the number is larger than v; 2^n − n − 1 ANDs, depth log n.
fn unary(c: &mut Builder, digit: &[Bit]) -> Vec<Bit> {
    let mut above = Bit::FALSE;
    let mut unary: Vec<Bit> = one_hot(c, digit)
        .into_iter()
        .rev()
        .map(|is| {
            above = c.xor(above, is);
            above
        })
        .collect();
    // At least 0 is no news.
    unary.pop();
    unary.reverse();
    unary
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::Party;
    use duologue::circuit::program::reference::evaluate;
    use std::collections::BTreeMap;

    fn winner(tournament: &Tournament, keys: &[u64]) -> (u64, u64) {
        let mut encode = Builder::new("encode");
        let key = encode.uint("key", tournament.key as u32);
        let encoded = tournament.encode(&mut encode, &key);
        encode.output("encoded", &encoded);
        let mut p = Program::new("tournament");
        let lanes = p.size("lanes", 1..=100);
        let input = p.input("keys", Party::Bob, uint(tournament.key as u32), lanes);
        let encoded = p.map(&encode.finish(), &[input]);
        let start = tournament.start(&mut p, lanes);
        let (key, index) = tournament.reduce(&mut p, encoded, start);
        p.output("key", Party::Alice, key);
        p.output("index", Party::Alice, index);
        let job = p.bind(&[("lanes", keys.len() as u64)]).unwrap();
        let bits = |&key: &u64| (0..tournament.key).map(|i| key >> i & 1 == 1).collect();
        let inputs = BTreeMap::from([("keys".to_string(), keys.iter().map(bits).collect())]);
        let outputs = evaluate(&job, &inputs);
        let ones = |bits: &[bool]| bits.iter().filter(|&&bit| bit).count() as u64;
        let number = |bits: &[bool]| bits.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit));
        let key = match tournament.goal {
            Goal::Size => number(&outputs["key"][0]),
            Goal::Depth => outputs["key"][0].chunks(15).rev().fold(0, |key, digit| key << 4 | ones(digit)),
        };
        (key, number(&outputs["index"][0]))
    }

    #[test]
    fn every_number_of_lanes() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for goal in [Goal::Size, Goal::Depth] {
            for lanes in 1..=40 {
                for key in [1, 2, 3, 4, 5, 8, 9, 12] {
                    let tournament = Tournament { key, index: 6, goal };
                    let most = 1 << (1 + random(key as u64));
                    let keys: Vec<u64> = (0..lanes).map(|_| random(most)).collect();
                    let least = *keys.iter().min().unwrap();
                    let place = keys.iter().position(|&key| key == least).unwrap() as u64;
                    assert_eq!(winner(&tournament, &keys), (least, place), "{keys:?}");
                }
            }
        }
    }
}
