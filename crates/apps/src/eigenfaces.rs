//! Eigenfaces: which face of a gallery is closest to an image, and is it close enough?
//!
//! Schneider and Zohner, "GMW vs Yao? Efficient secure two-party computation with low depth circuits" (FC 2013), §5.2.1
//! and Appendix D, after Turk and Pentland (1991). The image Γ is projected to ω_k = Σ_j u_kj·(Γ_j − Ψ_j), where u_k are
//! [`EIGENFACES`] eigenfaces and Ψ the average face; of the faces Ω of the gallery, projected alike, the one with the
//! least D = Σ_k (Ω_k − ω_k)² is the answer if D is within a threshold. All of it is exact.
//!
//! Where a product is wanted of numbers that the parties know, they know its squares as well: 2ab = (a + b)² − a² − b².
//! The square of a sum s of n bits takes no ANDs but those that add it up: with digits ±1 instead of bits, 2s − 2ⁿ + 1
//! has digit products that are XORs, and each but for the squares, which are 1, occurs twice. So a product of a pixel
//! costs 8 ANDs for s and one for each of 36 bits that are added up. What remains is linear, and each party computes its
//! own part of it: the *terms* among the inputs ([`Query`] and [`Gallery`] know how).
//!
//! The distances to the faces are squares of differences d = d₁·2^h + d₀ of 2h bits, by Karatsuba's method: d₁², d₀² and
//! (d₁ + d₀)² are summed over all k before they are put together.

mod training;

use crate::tournament::Tournament;
use duologue::circuit::blocks::{Columns, Goal, add, add_carry, subtract, subtract_borrow};
use duologue::circuit::program::View;
use duologue::circuit::{Bit, BitMatrix, Bits, Builder, Circuit, Int, Party, Program, UInt, int, uint};
use duologue::{Inputs, data};

/// How many eigenfaces there are.
pub const EIGENFACES: usize = 12;

/// How many pixels are multiplied and added in one lane: images have a multiple of these.
pub const CHUNK: u32 = 64;

/// The most pixels of an image: their distances fit into 64 bits.
pub const MOST_PIXELS: u32 = 1 << 14;

/// Bits of the number of a face.
const INDEX: u32 = 16;

/// Bits of the sum of two bytes.
const DIGITS: usize = 9;

/// Whether an image can have so many pixels.
pub fn is_image(pixels: u32) -> bool {
    (1..=MOST_PIXELS).contains(&pixels) && pixels.is_multiple_of(CHUNK)
}

/// How wide the numbers are, so that none overflows.
#[derive(Clone, Copy)]
struct Widths {
    pixels: u32,
    /// A feature ω or Ω in two's complement: |ω| ≤ 128·255·pixels.
    feature: u32,
    /// The lower part of a feature, without a sign.
    low: u32,
    /// The largest distance.
    distance: u128,
    /// A number that is added to a distance so that leaving out a part of it does not take it below zero.
    offset: u128,
    /// A distance and what is added to it.
    key: u32,
}

impl Widths {
    fn new(pixels: u32) -> Self {
        assert!(is_image(pixels), "an image has a multiple of {CHUNK} pixels, at most {MOST_PIXELS}");
        let most = 128 * 255 * u128::from(pixels);
        let feature = 129 - most.leading_zeros();
        let low = feature.div_ceil(2);
        // The part left out is a feature with its parts moved apart.
        let offset = ((EIGENFACES as u128 * (most + (1 << low))) << low).next_power_of_two();
        let distance = EIGENFACES as u128 * (most + (1 << (feature - 1))).pow(2);
        let key = 128 - (distance + 2 * offset).leading_zeros();
        Widths { pixels, feature, low, distance, offset, key }
    }

    fn high(&self) -> u32 {
        self.feature - self.low
    }

    fn all(&self) -> u32 {
        EIGENFACES as u32 * self.feature
    }

    /// Bits of half the sum of the digit products of one chunk.
    fn chunk(&self) -> u32 {
        (pair_sum(DIGITS) / 2 * u128::from(CHUNK)).ilog2() + 1
    }

    fn tournament(&self, goal: Goal) -> Tournament {
        Tournament { key: self.key as usize, index: INDEX, goal }
    }
}

/// The whole search among `faces` faces (a public size): Alice holds the image, Bob the rest. Alice learns the number
/// of the closest face, the lowest one of equals, or the number of faces if none has a distance within the threshold,
/// which must not be larger than a distance can be.
///
/// For 10,304 pixels, beside the paper's figures:
///
/// | faces | goal | ANDs | depth | paper |
/// |---|---|---|---|---|
/// | 320 | size | 7,194,759 | 204 | |
/// | 320 | depth | 9,651,604 | 95 | 14,887,713 ANDs of depth 120 |
/// | 1,000 | size | 10,863,359 | 221 | |
/// | 1,000 | depth | 15,122,884 | 98 | 22,811,392 ANDs of depth 128 |
///
/// # Panics
/// If `pixels` is no multiple of [`CHUNK`] up to [`MOST_PIXELS`].
pub fn eigenfaces(pixels: u32, goal: Goal) -> Program {
    let w = Widths::new(pixels);
    let (count, chunks) = (EIGENFACES as u64, pixels / CHUNK);
    let mut p = Program::new("eigenfaces");
    let faces = p.size("faces", 1..=(1 << INDEX) - 1);
    let image = p.input("image", Party::Alice, uint(8), u64::from(pixels));
    let image_term = p.input("image_term", Party::Alice, uint(w.feature), 1);
    let eigenfaces = p.input("eigenfaces", Party::Bob, int(8), count * u64::from(pixels));
    let eigenface_terms = p.input("eigenface_terms", Party::Bob, uint(w.feature), count);
    let gallery = p.input("gallery", Party::Bob, int(w.feature), faces * count);
    let gallery_terms = p.input("gallery_terms", Party::Bob, uint(w.key), faces);
    let threshold = p.input("threshold", Party::Bob, uint(w.key), 1);

    let image = p.view(View::Merge(CHUNK), &[image]);
    let image = p.repeat(image, count);
    let eigenfaces = p.view(View::Merge(CHUNK), &[eigenfaces]);
    let sums = p.map_all(&pixel_products(&w, goal), &[image, eigenfaces]);
    let mut args: Vec<_> = sums.iter().map(|&sum| p.view(View::Merge(chunks), &[sum])).collect();
    args.extend([p.repeat(image_term, count), eigenface_terms]);
    let features = p.map(&feature(&w, goal), &args);
    let features = p.view(View::Merge(count as u32), &[features]);

    let limit = p.map(&limit(&w, goal), &[features, threshold]);
    let gallery = p.view(View::Merge(count as u32), &[gallery]);
    let features = p.repeat(features, faces);
    let keys = p.map(&distance(&w, goal), &[features, gallery, gallery_terms]);
    // Who loses to the threshold is not close enough.
    let keys = p.view(View::Chain, &[keys, limit]);
    let tournament = w.tournament(goal);
    let starts = [tournament.start(&mut p, faces), tournament.start(&mut p, 1)];
    let start = [0, 1].map(|i| p.view(View::Chain, &starts.map(|start| start[i])));
    let (_, face) = tournament.reduce(&mut p, keys, start);
    p.output("face", Party::Alice, face);
    p
}

/// Half the digit products of one chunk: inputs `pixels` and `eigenface` ([`CHUNK`] bytes each, the eigenface's in two's
/// complement), outputs `first` and `second`, whose sum is meant.
fn pixel_products(w: &Widths, goal: Goal) -> Circuit {
    let mut c = Builder::new("pixel_products");
    let (pixels, eigenface) = (c.bits("pixels", 8 * CHUNK), c.bits("eigenface", 8 * CHUNK));
    let mut columns = Columns::new(w.chunk() as usize);
    for (a, b) in pixels.0.chunks(8).zip(eigenface.0.chunks(8)) {
        let (a, b) = (UInt(a.to_vec()), UInt(flip_top(b)));
        let (sum, carry) = add_carry(&mut c, &a, &b, goal);
        let digits: Vec<Bit> = sum.0.into_iter().chain([carry]).collect();
        // The lowest product weighs 2.
        add_pairs(&mut c, &mut columns, 1, &digits);
    }
    let (first, second) = columns.carry_save(&mut c);
    c.output("first", &UInt(first));
    c.output("second", &UInt(second));
    c.finish()
}

/// One feature: inputs `first` and `second` (the sums of all chunks), `image_term` and `eigenface_term`, output `feature`,
/// all modulo 2^feature.
fn feature(w: &Widths, goal: Goal) -> Circuit {
    let mut c = Builder::new("feature");
    let words = ["first", "second"].map(|name| c.bits(name, w.chunk() * (w.pixels / CHUNK)));
    let terms = ["image_term", "eigenface_term"].map(|name| c.uint(name, w.feature));
    let mut columns = Columns::new(w.feature as usize);
    words.iter().flat_map(|word| word.0.chunks(w.chunk() as usize)).for_each(|word| columns.add_word(0, word));
    terms.iter().for_each(|term| columns.add_word(0, &term.0));
    let feature = columns.sum(&mut c, goal);
    c.output("feature", &Int(feature));
    c.finish()
}

/// One face: inputs `features`, `face` ([`EIGENFACES`] features each) and `term`, output `key`, the distance without the
/// part that is the same for all faces.
fn distance(w: &Widths, goal: Goal) -> Circuit {
    let mut c = Builder::new("distance");
    let (features, face) = (c.bits("features", w.all()), c.bits("face", w.all()));
    let term = c.uint("term", w.key);
    let (low, key) = (w.low as usize, w.key as usize);
    let sizes = [w.low + 1, w.high() + 1, w.low.max(w.high()) + 2];
    let mut squares = sizes.map(|digits| Columns::new(pair_bits(digits as usize)));
    for (ours, theirs) in face.0.chunks(w.feature as usize).zip(features.0.chunks(w.feature as usize)) {
        let parts = difference(&mut c, ours.split_at(low), theirs.split_at(low), goal);
        for (columns, part) in squares.iter_mut().zip(&parts) {
            add_pairs(&mut c, columns, 0, &flip_top(part));
        }
    }
    let [lows, highs, middles] = squares.map(|columns| words(&mut c, columns, goal));
    let mut columns = Columns::new(key);
    columns.add_word(0, &term.0);
    for (words, shift) in [(&lows, 0), (&highs, 2 * low), (&middles, low)] {
        words.iter().for_each(|word| columns.add_word(shift, word));
    }
    lows.iter().chain(&highs).for_each(|word| columns.subtract_word(low, word));
    let key = UInt(columns.sum(&mut c, goal));
    let key = w.tournament(goal).encode(&mut c, &key);
    c.output("key", &key);
    c.finish()
}

/// The key of the threshold: inputs `features` and `threshold`, output `key`.
fn limit(w: &Widths, goal: Goal) -> Circuit {
    let mut c = Builder::new("limit");
    let (features, threshold) = (c.bits("features", w.all()), c.uint("threshold", w.key));
    let mut columns = Columns::new(w.key as usize);
    columns.add_word(0, &threshold.0);
    columns.add_constant(0, w.offset);
    for feature in features.0.chunks(w.feature as usize) {
        let (low, high) = feature.split_at(w.low as usize);
        columns.subtract_word(0, low);
        columns.subtract_signed(2 * w.low as usize, high);
    }
    let key = UInt(columns.sum(&mut c, goal));
    let key = w.tournament(goal).encode(&mut c, &key);
    c.output("key", &key);
    c.finish()
}

/// The differences of the lower and of the upper parts, and their sum, in two's complement.
fn difference(c: &mut Builder, a: (&[Bit], &[Bit]), b: (&[Bit], &[Bit]), goal: Goal) -> [Vec<Bit>; 3] {
    let (mut low, borrow) = subtract_borrow(c, &Bits(a.0.to_vec()), &Bits(b.0.to_vec()), goal);
    low.0.push(borrow);
    let [a, b] = [a.1, b.1].map(|high| Int(high.to_vec()).resized(high.len() + 1));
    let high = subtract(c, &a, &b, goal);
    let width = low.0.len().max(high.0.len()) + 1;
    let sum = add(c, &Int(low.0.clone()).resized(width), &high.resized(width), goal);
    [low.0, high.0, sum.0]
}

/// Adds 2^(i + j) for each pair of digits that are equal, a quarter of the square of the number of these digits ±1 but
/// for a constant.
fn add_pairs(c: &mut Builder, columns: &mut Columns, below: usize, digits: &[Bit]) {
    for (j, &b) in digits.iter().enumerate() {
        for (i, &a) in digits[..j].iter().enumerate() {
            columns.add_bit(i + j - below, !c.xor(a, b));
        }
    }
}

/// The sum as one word, which is used twice, or as two at once.
fn words(c: &mut Builder, columns: Columns, goal: Goal) -> Vec<Vec<Bit>> {
    match goal {
        Goal::Size => vec![columns.sum(c, goal)],
        Goal::Depth => {
            let (first, second) = columns.carry_save(c);
            vec![first, second]
        }
    }
}

/// Two's complement as digits ±1, or with the offset 2^(n−1).
fn flip_top(word: &[Bit]) -> Vec<Bit> {
    let mut word = word.to_vec();
    if let Some(top) = word.last_mut() {
        *top = !*top;
    }
    word
}

/// Σ 2^(i + j) over pairs of n digits.
fn pair_sum(digits: usize) -> u128 {
    let all = (1u128 << digits) - 1;
    (all * all - ((1u128 << (2 * digits)) - 1) / 3) / 2
}

/// The bits of [`EIGENFACES`] sums over pairs.
fn pair_bits(digits: usize) -> usize {
    (EIGENFACES as u128 * pair_sum(digits)).ilog2() as usize + 1
}

/// The constant that turns the sum over pairs and −d into d², for d in two's complement of n digits.
fn square_constant(digits: u32) -> i128 {
    let (all, squares) = ((1i128 << digits) - 1, ((1i128 << (2 * digits)) - 1) / 3);
    (2 * squares - all * all - 1) / 4
}

/// Alice's inputs.
#[derive(Clone, Debug)]
pub struct Query {
    /// The pixels of the image.
    pub image: Vec<u8>,
}

/// Bob's inputs.
#[derive(Clone, Debug)]
pub struct Gallery {
    /// A number for each pixel.
    pub eigenfaces: [Vec<i8>; EIGENFACES],
    /// The average face.
    pub average: Vec<u8>,
    /// The faces as [`Gallery::project`] gives them.
    pub faces: Vec<[i64; EIGENFACES]>,
    /// The largest distance at which a face is found.
    pub threshold: u64,
}

impl Query {
    /// Alice's inputs, with the linear part of the projection.
    ///
    /// # Panics
    /// If the image has a number of pixels that [`eigenfaces`] does not take.
    pub fn inputs(&self) -> Inputs {
        let w = Widths::new(self.image.len() as u32);
        let image: Vec<u64> = self.image.iter().map(|&pixel| pixel.into()).collect();
        let term = image.iter().map(|b| b * (255 - b)).sum::<u64>() / 2;
        let lanes =
            |width: u32, numbers: &[u64]| data::uints(width as usize, numbers).expect("widths follow from pixels");
        Inputs::new().with("image", lanes(8, &image)).with("image_term", lanes(w.feature, &[term]))
    }
}

impl Gallery {
    /// The features of an image, in the clear.
    pub fn project(&self, image: &[u8]) -> [i64; EIGENFACES] {
        let difference = image.iter().zip(&self.average).map(|(&a, &b)| i64::from(a) - i64::from(b));
        let difference: Vec<i64> = difference.collect();
        std::array::from_fn(|k| self.eigenfaces[k].iter().zip(&difference).map(|(&u, d)| i64::from(u) * d).sum())
    }

    /// Bob's inputs, with the linear parts of the projection and of the distances.
    ///
    /// # Panics
    /// If the average face has a number of pixels that [`eigenfaces`] does not take.
    pub fn inputs(&self) -> Inputs {
        let w = Widths::new(self.average.len() as u32);
        let lanes = |width: u32, numbers: &mut dyn Iterator<Item = i128>| -> BitMatrix {
            // Sums are taken modulo 2^width.
            let low = |number: i128| number as u128 & ((1 << width) - 1);
            let numbers: Vec<u128> = numbers.map(low).collect();
            BitMatrix::from_numbers(width as usize, &numbers).expect("cut to the width")
        };
        let eigenfaces = self.eigenfaces.iter().flatten().map(|&u| i128::from(u));
        let terms = self.eigenfaces.iter().map(|eigenface| self.eigenface_term(eigenface));
        let gallery = self.faces.iter().flatten().map(|&feature| i128::from(feature));
        let gallery_terms = self.faces.iter().map(|face| face_term(&w, face));
        let threshold = u128::from(self.threshold).min(w.distance);
        Inputs::new()
            .with("eigenfaces", lanes(8, &mut { eigenfaces }))
            .with("eigenface_terms", lanes(w.feature, &mut { terms }))
            .with("gallery", lanes(w.feature, &mut { gallery }))
            .with("gallery_terms", lanes(w.key, &mut { gallery_terms }))
            .with("threshold", lanes(w.key, &mut [threshold as i128].into_iter()))
    }

    /// Half of what is added to the digit products of (u + 128) and the image for 2ω, but for Alice's part.
    fn eigenface_term(&self, eigenface: &[i8]) -> i128 {
        let term = |(&u, &average): (&i8, &u8)| {
            let (u, a) = (i128::from(u), i128::from(u) + 128);
            a * (511 - a) - 2 * u * i128::from(average) - pair_sum(DIGITS) as i128
        };
        eigenface.iter().zip(&self.average).map(term).sum::<i128>() / 2
    }
}

/// The constant that turns the digit products of the differences into a distance, but for the part that depends on ω.
fn face_term(w: &Widths, face: &[i64; EIGENFACES]) -> i128 {
    let [low, high, middle] = [w.low + 1, w.high() + 1, w.low.max(w.high()) + 2].map(square_constant);
    let constant = (high << (2 * w.low)) + low + ((middle - high - low) << w.low);
    let linear = |&feature: &i64| {
        let high = i128::from(feature) >> w.low;
        (high << (2 * w.low)) + i128::from(feature) - (high << w.low)
    };
    EIGENFACES as i128 * constant + w.offset as i128 - face.iter().map(linear).sum::<i128>()
}
