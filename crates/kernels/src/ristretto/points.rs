//! Batches of points.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::Identity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use zeroize::{Zeroize, Zeroizing};

use super::doubles::{self, EncodeDoubles};
use super::edwards::{Group, Point, ZERO};
use super::field::LIMBS;
use super::group::{Decode, Encode, Map, TOGETHER};
use super::multiples::{copy_lane, multiply};
use super::{Encoding, Refused};
use crate::backend::Multiplier;
use crate::backend::limbs::{Limb, LimbLanes, LimbLoop, SIDE_BY_SIDE};

/// Points of ristretto255, any number of them. Operations on two batches panic if they were made on different backends.
#[derive(Clone)]
pub struct Points {
    len: usize,
    batch: Batch,
}

#[derive(Clone)]
pub(crate) enum Batch {
    /// Groups of eight; what is left over in the last one is some point.
    Wide(Multiplier, Vec<Group>),
    Plain(Vec<RistrettoPoint>),
}

impl Drop for Points {
    fn drop(&mut self) {
        match &mut self.batch {
            Batch::Wide(_, groups) => groups.zeroize(),
            Batch::Plain(points) => points.zeroize(),
        }
    }
}

impl Points {
    pub(crate) fn batch(&self) -> &Batch {
        &self.batch
    }

    pub(crate) fn plain(points: Vec<RistrettoPoint>) -> Self {
        Points { len: points.len(), batch: Batch::Plain(points) }
    }

    /// Groups for so many points, which begin as neutral ones.
    pub(crate) fn wide(cpu: Multiplier, len: usize, fill: impl FnOnce(&mut [Group])) -> Self {
        let mut groups = vec![neutral_group(); len.div_ceil(SIDE_BY_SIDE)];
        fill(&mut groups);
        Points { len, batch: Batch::Wide(cpu, groups) }
    }

    pub(crate) fn neutral(cpu: Option<Multiplier>, len: usize) -> Self {
        match cpu {
            Some(cpu) => Self::wide(cpu, len, |_| ()),
            None => Self::plain(vec![RistrettoPoint::identity(); len]),
        }
    }

    pub(crate) fn decode(cpu: Option<Multiplier>, encodings: &[Encoding]) -> Result<Self, Refused> {
        match cpu {
            Some(cpu) => Self::decode_wide(cpu, encodings),
            None => Self::decode_plain(encodings),
        }
    }

    fn decode_wide(cpu: Multiplier, encodings: &[Encoding]) -> Result<Self, Refused> {
        let mut places = Vec::new();
        let points = Self::wide(cpu, encodings.len(), |groups| {
            let chunks = encodings.chunks(TOGETHER * SIDE_BY_SIDE).zip(groups.chunks_mut(TOGETHER));
            for (chunk, (encodings, groups)) in chunks.enumerate() {
                let refused = decode_chunk(cpu, encodings, groups);
                places.extend((0..encodings.len()).filter(|at| refused >> at & 1 == 1).map(|at| CHUNK * chunk + at));
            }
        });
        if places.is_empty() { Ok(points) } else { Err(Refused { places }) }
    }

    fn decode_plain(encodings: &[Encoding]) -> Result<Self, Refused> {
        let points = encodings.iter().map(|bytes| CompressedRistretto(*bytes).decompress());
        let points = Zeroizing::new(points.collect::<Vec<_>>());
        let places: Vec<_> = (0..points.len()).filter(|&at| points[at].is_none()).collect();
        if places.is_empty() {
            Ok(Self::plain(points.iter().flatten().copied().collect()))
        } else {
            Err(Refused { places })
        }
    }

    pub(crate) fn map(cpu: Option<Multiplier>, uniform: &[[u8; 64]]) -> Self {
        let Some(cpu) = cpu else {
            return Self::plain(uniform.iter().map(RistrettoPoint::from_uniform_bytes).collect());
        };
        Self::wide(cpu, uniform.len(), |groups| {
            let mut numbers = Zeroizing::new([[Limb::ZERO; LIMBS]; 2]);
            for (uniform, out) in uniform.chunks(SIDE_BY_SIDE).zip(groups) {
                for (lane, bytes) in uniform.iter().enumerate() {
                    let (halves, _) = bytes.as_chunks();
                    numbers.iter_mut().zip(halves).for_each(|(number, half)| put_number(number, lane, &words(half)));
                }
                cpu.run(Map { numbers: &numbers, out });
            }
        })
    }

    /// How many points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Their encodings (RFC 9496, section 4.3.2).
    pub fn encode(&self) -> Zeroizing<Vec<Encoding>> {
        let mut encodings = Zeroizing::new(vec![[0; 32]; self.len]);
        match &self.batch {
            Batch::Wide(cpu, groups) => {
                let chunks = encodings.chunks_mut(CHUNK).zip(groups.chunks(TOGETHER));
                chunks.for_each(|(encodings, groups)| encode_chunk(*cpu, groups, encodings));
            }
            Batch::Plain(points) => {
                encodings.iter_mut().zip(points).for_each(|(to, point)| *to = point.compress().to_bytes());
            }
        }
        encodings
    }

    /// The encodings of their doubles, with one inversion for many: a quarter of the time of other encodings.
    pub fn encode_doubles(&self) -> Zeroizing<Vec<Encoding>> {
        match &self.batch {
            Batch::Wide(cpu, groups) => {
                let mut encodings = Zeroizing::new(vec![[0; 32]; self.len]);
                encode_doubles(*cpu, groups, &mut encodings);
                encodings
            }
            Batch::Plain(points) => {
                let compressed = Zeroizing::new(RistrettoPoint::double_and_compress_batch(points));
                Zeroizing::new(compressed.iter().map(CompressedRistretto::to_bytes).collect())
            }
        }
    }

    /// Each point times one secret scalar.
    pub fn multiply(&self, scalar: &Scalar) -> Self {
        let mut points = self.clone();
        match &mut points.batch {
            Batch::Wide(cpu, groups) => multiply(*cpu, groups, scalar),
            Batch::Plain(points) => points.iter_mut().for_each(|point| *point *= scalar),
        }
        points
    }

    /// Sums of points at the same places.
    ///
    /// # Panics
    /// If there are not as many of both.
    pub fn add(&self, other: &Self) -> Self {
        self.combine(other, 0, |a, b| a + b)
    }

    /// Differences of points at the same places.
    ///
    /// # Panics
    /// If there are not as many of both.
    pub fn subtract(&self, other: &Self) -> Self {
        self.combine(other, 0xff, |a, b| a - b)
    }

    fn combine(&self, other: &Self, negative: u8, f: fn(RistrettoPoint, RistrettoPoint) -> RistrettoPoint) -> Self {
        assert_eq!(self.len, other.len, "as many points as points");
        let mut out = self.clone();
        match (&mut out.batch, &other.batch) {
            (Batch::Wide(cpu, groups), Batch::Wide(_, others)) => cpu.run(Combine { groups, others, negative }),
            (Batch::Plain(points), Batch::Plain(others)) => {
                points.iter_mut().zip(others).for_each(|(point, other)| *point = f(*point, *other));
            }
            _ => panic!("points of another backend"),
        }
        out
    }

    /// The points at these places, one after the other; a place may come again.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn pick(&self, places: impl ExactSizeIterator<Item = usize>) -> Self {
        let inside = |place: usize| {
            assert!(place < self.len, "point number {place} of {}", self.len);
            place
        };
        match &self.batch {
            Batch::Wide(cpu, from) => Self::wide(*cpu, places.len(), |groups| {
                places.map(inside).enumerate().for_each(|(at, place)| copy_point(from, place, groups, at));
            }),
            Batch::Plain(points) => Self::plain(places.map(|place| points[inside(place)]).collect()),
        }
    }

    /// Puts other points behind these.
    pub fn append(&mut self, other: &Self) {
        let (before, len) = (self.len, self.len + other.len);
        match (&mut self.batch, &other.batch) {
            (Batch::Wide(_, groups), Batch::Wide(_, others)) => {
                grow(groups, len.div_ceil(SIDE_BY_SIDE), neutral_group());
                if before % SIDE_BY_SIDE == 0 {
                    groups[before / SIDE_BY_SIDE..].copy_from_slice(others);
                } else {
                    (0..other.len).for_each(|at| copy_point(others, at, groups, before + at));
                }
            }
            (Batch::Plain(points), Batch::Plain(others)) => {
                grow(points, len, RistrettoPoint::identity());
                points[before..].copy_from_slice(others);
            }
            _ => panic!("points of another backend"),
        }
        self.len = len;
    }
}

/// Encodings that are computed together.
const CHUNK: usize = TOGETHER * SIDE_BY_SIDE;

/// Makes a list longer, and erases the memory that it leaves.
fn grow<T: Copy + Zeroize>(list: &mut Vec<T>, len: usize, fill: T) {
    if len > list.capacity() {
        let mut longer = Vec::with_capacity(len.max(2 * list.len()));
        longer.extend_from_slice(list);
        std::mem::replace(list, longer).zeroize();
    }
    list.resize(len, fill);
}

pub(crate) fn neutral_group() -> Group {
    let (mut group, one) = (ZERO, Limb([1; SIDE_BY_SIDE]));
    (group[1][0], group[2][0]) = (one, one);
    group
}

fn copy_point(from: &[Group], place: usize, to: &mut [Group], at: usize) {
    copy_lane(&from[place / SIDE_BY_SIDE], place % SIDE_BY_SIDE, &mut to[at / SIDE_BY_SIDE], at % SIDE_BY_SIDE);
}

/// Decodes at most two groups, of which one alone takes less time; a bit is set for each encoding that is refused.
fn decode_chunk(cpu: Multiplier, encodings: &[Encoding], groups: &mut [Group]) -> u32 {
    if groups.len() == 1 {
        decode_groups::<1>(cpu, encodings, groups)
    } else {
        decode_groups::<TOGETHER>(cpu, encodings, groups)
    }
}

fn decode_groups<const N: usize>(cpu: Multiplier, encodings: &[Encoding], groups: &mut [Group]) -> u32 {
    let mut s = Zeroizing::new([[Limb::ZERO; LIMBS]; N]);
    let mut out = Zeroizing::new([ZERO; N]);
    let (mut refused, mut off_curve) = (0, [0; N]);
    for (at, encoding) in encodings.iter().enumerate() {
        let words = words(encoding);
        put_number(&mut s[at / SIDE_BY_SIDE], at % SIDE_BY_SIDE, &words);
        refused |= u32::from(!may_encode(&words)) << at;
    }
    cpu.run(Decode { s: &s, out: &mut out, refused: &mut off_curve });
    groups.copy_from_slice(&*out);
    off_curve.iter().rev().fold(0, |all, &mask| all << SIDE_BY_SIDE | u32::from(mask)) | refused
}

fn encode_chunk(cpu: Multiplier, groups: &[Group], encodings: &mut [Encoding]) {
    let mut points = Zeroizing::new([ZERO; TOGETHER]);
    let mut out = Zeroizing::new([[Limb::ZERO; LIMBS]; TOGETHER]);
    points[..groups.len()].copy_from_slice(groups);
    cpu.run(Encode { points: &points, out: &mut out });
    for (at, encoding) in encodings.iter_mut().enumerate() {
        *encoding = number_bytes(&out[at / SIDE_BY_SIDE], at % SIDE_BY_SIDE);
    }
}

fn encode_doubles(cpu: Multiplier, groups: &[Group], encodings: &mut [Encoding]) {
    let most = groups.len().min(doubles::TOGETHER);
    let mut kept = Zeroizing::new(vec![doubles::NOTHING; most]);
    let mut out = Zeroizing::new(vec![[Limb::ZERO; LIMBS]; most]);
    let chunks = groups.chunks(doubles::TOGETHER).zip(encodings.chunks_mut(doubles::TOGETHER * SIDE_BY_SIDE));
    for (points, encodings) in chunks {
        cpu.run(EncodeDoubles { points, kept: &mut kept[..points.len()], out: &mut out[..points.len()] });
        for (at, encoding) in encodings.iter_mut().enumerate() {
            *encoding = number_bytes(&out[at / SIDE_BY_SIDE], at % SIDE_BY_SIDE);
        }
    }
}

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

const P: [u64; 4] = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];

/// Whether a number is below p and even.
fn may_encode(words: &[u64; 4]) -> bool {
    let below = words.iter().zip(P).fold(false, |borrow, (&word, p)| {
        let (difference, first) = word.overflowing_sub(p);
        first | difference.overflowing_sub(borrow.into()).1
    });
    below & (words[0] & 1 == 0)
}

const MASK: u64 = (1 << 51) - 1;

/// The lowest 255 bits, in limbs of 51.
fn put_number(number: &mut [Limb; LIMBS], lane: usize, &[a, b, c, d]: &[u64; 4]) {
    let limbs = [a, a >> 51 | b << 13, b >> 38 | c << 26, c >> 25 | d << 39, d >> 12];
    number.iter_mut().zip(limbs).for_each(|(place, limb)| place.0[lane] = limb & MASK);
}

fn number_bytes(number: &[Limb; LIMBS], lane: usize) -> Encoding {
    let [a, b, c, d, e] = number.each_ref().map(|limb| limb.0[lane]);
    let words = [a | b << 51, b >> 13 | c << 38, c >> 26 | d << 25, d >> 39 | e << 12];
    bytemuck::cast(words.map(u64::to_le))
}

/// Adds points, or subtracts them if all lanes are in the mask.
struct Combine<'a> {
    groups: &'a mut [Group],
    others: &'a [Group],
    negative: u8,
}

impl LimbLoop for Combine<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        for (group, other) in self.groups.iter_mut().zip(self.others) {
            let other = Point::load(cpu, other).prepared(cpu);
            Point::load(cpu, group).add(other, self.negative.into()).store(group);
        }
    }
}
