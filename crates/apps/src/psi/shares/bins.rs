//! Bins: cuckoo hashing with three functions and no stash, so that every string of the receiver is in one of three bins.
//!
//! **Number of bins.** Strings find no places only if some k of them have less than k places (Hall). Of the least such k every
//! place is that of two of them at least, so the chance of that is at most the sum over k ≥ 4 of
//!
//! ```text
//! C(n, k) · C(m, k − 1) · min((k − 1)(k − 2)(k − 3) / m(m − 1)(m − 2))ᵏ,
//!                             (3k)! · min over z of (eᶻ − 1 − z)ᵏ⁻¹ / z³ᵏ / (m(m − 1)(m − 2))ᵏ)
//! ```
//!
//! for n strings and m bins, which is below 2⁻⁴⁰ for the numbers here (a test adds it up). It is proven, with places that are random;
//! the 1.27·n of Pinkas, Schneider and Zohner (TOPS 2018) are fewer, measured and extrapolated. Places are found by
//! the shortest chain of moves, which finds them if there are any.

use crate::psi::okvs::three_of;
use duologue::call::Zeroizing;
use kernels::Block;
use kernels::aes::Aes128;
use kernels::generator::Generator;

/// Functions that give a string its places.
pub const FUNCTIONS: usize = 3;

/// For at least 2², 2³, … strings: bins for a thousand strings.
pub const BINS: [usize; 13] =
    [10_800, 8_900, 6_450, 4_510, 3_140, 2_160, 1_480, 1_375, 1_340, 1_320, 1_310, 1_310, 1_300];

/// The logarithm of the number of strings from which on they can fail to have places.
pub const LEAST_LOG: u32 = 2;

/// Bins are a multiple of this, so that a program can take so many lanes together.
const MULTIPLE: usize = 64;

/// A bin without a string.
const EMPTY: u32 = u32::MAX;

/// The bins of so many strings.
pub fn count(strings: usize) -> usize {
    let log = strings.max(1).ilog2();
    let per_thousand = log.checked_sub(LEAST_LOG).map_or(1000, |at| BINS[(at as usize).min(BINS.len() - 1)]);
    (strings * per_thousand).div_ceil(1000).max(FUNCTIONS).next_multiple_of(MULTIPLE)
}

/// The places of strings under a seed, and what stands for a string with one of its functions.
pub struct Functions {
    bins: usize,
    places: Aes128,
    names: [Aes128; FUNCTIONS],
}

impl Functions {
    /// Under the receiver's seed, in a call with this key.
    pub fn new(bins: usize, key: &[u8; 32], seed: Block) -> Functions {
        let mut hasher = blake3::Hasher::new_derive_key("duologue v1 PSI: bins");
        let seed = *hasher.update(key).update(&seed.to_bytes()).finalize().as_bytes();
        let mut keys = Generator::from_seed(Block::from_bytes(*seed.first_chunk().expect("16 of 32 bytes")));
        let mut cipher = || Aes128::new(keys.block());
        Functions { bins, places: cipher(), names: std::array::from_fn(|_| cipher()) }
    }

    /// The three bins of each string, of which no two are equal.
    pub fn places(&self, strings: &[Block]) -> Zeroizing<Vec<[u32; FUNCTIONS]>> {
        let mut blocks = Zeroizing::new(strings.to_vec());
        self.places.encrypt(&mut blocks);
        Zeroizing::new(blocks.iter().map(|block| three_of(block.get(), self.bins as u64)).collect())
    }

    /// What stands for the strings with this function: no two pairs have the same but for 2⁻¹²⁸.
    pub fn names(&self, function: usize, strings: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut names = Zeroizing::new(strings.to_vec());
        self.names[function].encrypt(&mut names);
        names
    }

    /// A string in each bin, of equal strings the first one; nothing if some have no bin.
    pub fn place(&self, strings: &[Block]) -> Option<Placed> {
        let places = self.places(strings);
        let mut cuckoo = Cuckoo { strings, places: &places, bins: vec![EMPTY; self.bins], chain: Vec::new() };
        for row in 0..strings.len() as u32 {
            cuckoo.insert(row)?;
        }
        let bins = std::mem::take(&mut cuckoo.bins).into_iter().enumerate();
        let function = |bin: usize, row: u32| places[row as usize].iter().position(|&place| place as usize == bin);
        let of = |(bin, row)| Some(Place { bin, row: row as usize, function: function(bin, row)? });
        Some(Placed(Zeroizing::new(bins.filter(|&(_, row)| row != EMPTY).filter_map(of).collect())))
    }
}

/// A string in its bin.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub bin: usize,
    pub row: usize,
    /// By which of its functions the string is there.
    pub function: usize,
}

impl zeroize::DefaultIsZeroes for Place {}

/// The strings that are in bins, in the order of these.
#[derive(Default)]
pub struct Placed(pub Zeroizing<Vec<Place>>);

impl Placed {
    /// What stands for each string in its bin.
    pub fn names(&self, functions: &Functions, strings: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut names = Zeroizing::new(vec![Block::ZERO; self.0.len()]);
        for function in 0..FUNCTIONS {
            let all = functions.names(function, strings);
            let ours = names.iter_mut().zip(self.0.iter()).filter(|(_, place)| place.function == function);
            ours.for_each(|(name, place)| *name = all[place.row]);
        }
        names
    }
}

struct Cuckoo<'a> {
    strings: &'a [Block],
    places: &'a [[u32; FUNCTIONS]],
    /// The row in each bin.
    bins: Vec<u32>,
    /// Bins that a search has come to, and the place here of the bin whose string could move there.
    chain: Vec<(u32, u32)>,
}

impl Drop for Cuckoo<'_> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.bins);
    }
}

impl Cuckoo<'_> {
    /// Puts a row into a bin, unless an equal string is in one.
    fn insert(&mut self, row: u32) -> Option<()> {
        let of = |row: u32| self.strings[row as usize];
        let holds = |&bin: &u32| self.bins[bin as usize] != EMPTY && of(self.bins[bin as usize]) == of(row);
        if self.places[row as usize].iter().any(holds) {
            return Some(());
        }
        self.chain.clear();
        self.chain.extend(self.places[row as usize].map(|bin| (bin, EMPTY)));
        let free = self.search()?;
        self.shift(free, row);
        Some(())
    }

    /// The place in the chain of the first free bin, breadth first.
    fn search(&mut self) -> Option<usize> {
        let (mut at, mut seen) = (0, std::collections::HashSet::new());
        loop {
            let &(bin, _) = self.chain.get(at)?;
            let row = self.bins[bin as usize];
            if row == EMPTY {
                return Some(at);
            }
            if seen.insert(bin) {
                let next = self.places[row as usize].into_iter().filter(|&place| place != bin);
                self.chain.extend(next.map(|place| (place, at as u32)));
            }
            at += 1;
        }
    }

    /// Moves each string along the chain into the next bin, so that the row has a place.
    fn shift(&mut self, mut at: usize, row: u32) {
        loop {
            let (bin, from) = self.chain[at];
            let Some(&(before, _)) = self.chain.get(from as usize) else {
                self.bins[bin as usize] = row;
                return;
            };
            self.bins[bin as usize] = self.bins[before as usize];
            at = from as usize;
        }
    }
}
