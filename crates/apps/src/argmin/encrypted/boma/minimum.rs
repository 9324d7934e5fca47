//! The minimum phase, level by level.
//!
//! With a and b the values of a pair, r₁ > r₂ and r_a and δ of l + σ bits, all fresh, r_b = r_a + δ and M = 2^(2l+σ):
//!
//! ```text
//! server → client   [M − 1 + r₁·(a − b) − r₂], [a + r_a], [b + r_b]      packed, with fresh statistical randomness
//! client            γ = [a ≤ b] is the complement of the first one's highest bit, since |r₁·(a − b) − r₂| < M
//!                   m = a + r_a if γ, else b + r_b
//! client → server   [γ], [m]                                              not packed, encrypted anew
//! server            [min] = [m − r_b]·[γ]^δ
//! ```
//!
//! r_b − r_a = δ is not negative, so that no exponent is; b + r_b blinds b − a by δ when a + r_a is known.
//!
//! **Packing** takes a square for each bit of a slot. The client, who encrypts anew, puts its answers where their next pair
//! begins in a plaintext: [2^s·γ] and [2^s·m]. So only what a pair's slots are apart is left to the server, r₁'s squares among
//! them; the values that it began with it packs by Horner's rule, in all plaintexts at once. Where pairs are cut between
//! plaintexts, s is 0.

use super::super::wide::{Wide, mask};
use super::fresh::Fresh;
use super::shape::Shape;
use super::{of_peer, own};
use duologue::call::Zeroizing;
use duologue::{Error, Result};
use he::paillier::{PublicKey, SecretKey};
use he::{Additive, Ciphertexts, Plaintexts};
use kernels::generator::Generator;

/// The server's side.
pub struct Holder {
    pub shape: Shape,
    pub key: PublicKey,
    pub fresh: Fresh,
    /// What is left of the values, each at the [bit](Shape::bit_of) that it has at the level.
    pub values: Ciphertexts,
    level: usize,
    blinds: Blinds,
}

/// What unblinds the answers to a level.
#[derive(Default)]
struct Blinds {
    /// r_b of each pair.
    right: Vec<Wide>,
    /// δ of each pair.
    differences: Vec<Wide>,
}

/// The client's side: who went on, as places in the server's order.
pub struct Owner {
    pub shape: Shape,
    pub places: Zeroizing<Vec<u64>>,
    level: usize,
}

impl Holder {
    pub fn new(shape: Shape, key: PublicKey, fresh: Fresh, values: Ciphertexts) -> Holder {
        Holder { shape, key, fresh, values, level: 0, blinds: Blinds::default() }
    }

    /// The blinded pairs of a level.
    pub fn ask(&mut self, rng: &mut Generator) -> Result<Ciphertexts> {
        let pairs = self.values.len() / 2;
        let factors: Vec<[Wide; 2]> = (0..pairs).map(|_| unequal(self.shape.mask(), rng)).collect();
        let stream = self.shape.asked(pairs)?;
        let constants = stream.pack(&self.constants(&factors, rng)).map_err(own)?;
        let packed = match self.shape.whole_pairs() {
            Some(each) => self.whole(pairs, each, &factors),
            None => self.slots(pairs, &factors).and_then(|slots| stream.pack_ciphertexts(&self.key, &slots)),
        };
        let packed = packed.map_err(own)?;
        let blinded = self.key.add_constants(&packed, &constants).map_err(own)?;
        // The server's own ciphertexts have the symbol 1, so that others came from the client's answers.
        self.fresh.add(&self.key, &blinded).map_err(of_peer)
    }

    /// The values of pairs, and what left ones have more than right ones.
    fn sides(&self, pairs: usize) -> he::Result<[Ciphertexts; 3]> {
        let side = |side| self.values.pick(&(0..pairs).map(|pair| 2 * pair + side).collect::<Vec<_>>());
        let (left, right) = (side(0)?, side(1)?);
        let differences = self.key.add(&left, &self.key.negate(&right)?)?;
        Ok([left, right, differences])
    }

    /// Whole pairs packed, so many in a plaintext, without what is added to them.
    fn whole(&self, pairs: usize, each: usize, factors: &[[Wide; 2]]) -> he::Result<Ciphertexts> {
        if self.level == 0 {
            return self.stacked(pairs, each, factors);
        }
        let pairs = self.stacked(pairs, 1, factors)?;
        let of_plaintexts = |first| pairs.pick(&(first..pairs.len()).step_by(each).collect::<Vec<_>>());
        (1..each.min(pairs.len()))
            .try_fold(of_plaintexts(0)?, |sums, first| self.key.add_to_first(&of_plaintexts(first)?, &sums))
    }

    /// Stacks of so many pairs, the last one of those that are left, from the highest one down.
    fn stacked(&self, pairs: usize, each: usize, factors: &[[Wide; 2]]) -> he::Result<Ciphertexts> {
        let [left, right, differences] = self.sides(pairs)?;
        let ([_, of_left, of_right], mask) = (self.shape.slots(), self.shape.mask());
        let mut stacks: Option<Ciphertexts> = None;
        for first in (0..each.min(pairs)).rev() {
            let places: Vec<usize> = (first..pairs).step_by(each).collect();
            let right = right.pick(&places)?;
            let right = match stacks {
                Some(above) => self.key.add_to_first(&self.key.double(&above, of_right)?, &right)?,
                None => right,
            };
            let both = self.key.add(&self.key.double(&right, of_left)?, &left.pick(&places)?)?;
            let factors = Wide::plaintexts(places.iter().map(|&pair| &factors[pair][0]));
            let lifted = self.key.double(&both, self.shape.sign() + 1 - mask)?;
            let differences = differences.pick(&places)?;
            stacks = Some(self.key.double_and_add_multiples(&lifted, &differences, &factors, mask)?);
        }
        stacks.ok_or(he::Error::Lengths(0, pairs))
    }

    /// r₁·(a − b), a and b of each pair, without what is added to them.
    fn slots(&self, pairs: usize, factors: &[[Wide; 2]]) -> he::Result<Ciphertexts> {
        let [left, right, differences] = self.sides(pairs)?;
        let factors = Wide::plaintexts(factors.iter().map(|[larger, _]| larger));
        let scaled = self.key.multiply_constants(&differences, &factors, self.shape.mask())?;
        let order: Vec<usize> = (0..pairs).flat_map(|pair| [pair, pairs + pair, 2 * pairs + pair]).collect();
        Ciphertexts::joined(&[scaled, left, right])?.pick(&order)
    }

    /// M − 1 − r₂, r_a and r_b of each pair.
    fn constants(&mut self, factors: &[[Wide; 2]], rng: &mut Generator) -> Plaintexts {
        let top = Wide::power_of_two(self.shape.sign()).minus(&Wide::new(&[1]));
        let mut constants = Vec::with_capacity(3 * factors.len());
        self.blinds = Blinds::default();
        for [_, smaller] in factors {
            let [left, difference] = [(); 2].map(|()| Wide::random(self.shape.mask(), rng));
            let right = left.plus(&difference);
            constants.extend([top.minus(smaller), left, right.clone()]);
            self.blinds.right.push(right);
            self.blinds.differences.push(difference);
        }
        Wide::plaintexts(constants.iter())
    }

    /// Takes the answers to a level: γ of all pairs, then m.
    pub fn hear(&mut self, answers: &Ciphertexts) -> Result<()> {
        self.values = self.least(answers).map_err(own)?;
        Ok(())
    }

    fn least(&mut self, answers: &Ciphertexts) -> he::Result<Ciphertexts> {
        let blinds = std::mem::take(&mut self.blinds);
        let pairs = blinds.right.len();
        self.level += 1;
        let [bits, blinded] = [0..pairs, pairs..2 * pairs].map(|places| answers.pick(&places.collect::<Vec<_>>()));
        let differences = Wide::plaintexts(blinds.differences.iter());
        let back = self.key.multiply_constants(&bits?, &differences, self.shape.mask())?;
        let bits: Vec<u32> = (0..pairs).map(|value| self.shape.bit_of(self.level, value)).collect();
        let right = self.key.negatives(&Wide::plaintexts(blinds.right.iter()).doubled(&bits))?;
        let least = self.key.add(&self.key.add_constants(&blinded?, &right)?, &back)?;
        Ciphertexts::joined(&[least, self.left_over(pairs)?])
    }

    /// A value that is in no pair waits; one of the first level is doubled to where those of the client are.
    fn left_over(&self, pairs: usize) -> he::Result<Ciphertexts> {
        let rest = self.values.pick(&(2 * pairs..self.values.len()).collect::<Vec<_>>())?;
        let bit = self.shape.bit_of(self.level, pairs);
        if self.level == 1 && !rest.is_empty() { self.key.double(&rest, bit) } else { Ok(rest) }
    }
}

impl Owner {
    pub fn new(shape: Shape) -> Owner {
        let places = Zeroizing::new((0..shape.values as u64).collect());
        Owner { shape, places, level: 0 }
    }

    /// The answers to a level, encrypted anew.
    pub fn answer(&mut self, key: &SecretKey, asked: &Ciphertexts, rng: &mut Generator) -> Result<Ciphertexts> {
        let pairs = self.places.len() / 2;
        let plain = key.decrypt(asked).map_err(of_peer)?;
        let slots = self.shape.asked(pairs)?.unpack(&plain).map_err(of_peer)?;
        let (mut bits, mut blinded) = (Vec::with_capacity(2 * pairs), Vec::with_capacity(pairs));
        let mut places = Zeroizing::new(Vec::with_capacity(self.places.len() - pairs));
        for pair in 0..pairs {
            let [difference, left, right] = [0, 1, 2].map(|slot| Wide::new(slots.get(3 * pair + slot)));
            self.check(pair, &left, &right)?;
            let greater = difference.bit(self.shape.sign());
            let [first, second] = [self.places[2 * pair], self.places[2 * pair + 1]];
            places.push(first ^ (first ^ second) & mask(greater));
            bits.push(Wide::new(&[1 ^ greater]));
            blinded.push(Wide::select(greater, &left, &right));
        }
        places.extend_from_slice(&self.places[2 * pairs..]);
        self.places = places;
        self.level += 1;
        bits.append(&mut blinded);
        let at: Vec<u32> = (0..2 * pairs).map(|answer| self.shape.bit_of(self.level, answer % pairs)).collect();
        key.encrypt(&Wide::plaintexts(bits.iter()).doubled(&at), rng).map_err(own)
    }

    /// A blinded value is no larger than honest ones are.
    fn check(&self, pair: usize, left: &Wide, right: &Wide) -> Result<()> {
        let (bits, mask) = (self.shape.bits, self.shape.mask());
        let limit = |mask| Wide::power_of_two(mask).plus(&Wide::power_of_two(bits));
        if left.is_less(&limit(mask)) && right.is_less(&limit(mask + 1)) {
            return Ok(());
        }
        Err(Error::peer(format!("a blinded value of pair {pair} is larger than one of {bits} bits can be")))
    }
}

/// Two random numbers, the larger one first. How often others are drawn before says nothing about them.
fn unequal(bits: u32, rng: &mut Generator) -> [Wide; 2] {
    loop {
        let [larger, smaller] = [(); 2].map(|()| Wide::random(bits, rng));
        if smaller.is_less(&larger) {
            return [larger, smaller];
        }
    }
}
