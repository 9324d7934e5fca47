//! Points that are read one by one: sums of few of them, in any order.
//!
//! A batch has the limbs of eight points side by side, so one of its points lies in twenty cache lines. Here each point lies
//! by itself, in three.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::traits::Identity;
use subtle::ConditionallyNegatable;
use zeroize::{Zeroize, Zeroizing};

use super::edwards::{Group, Point, ZERO};
use super::points::{Batch, Points};
use super::{Ristretto, neutral_group};
use crate::backend::Multiplier;
use crate::backend::limbs::{LimbLanes, LimbLoop, SIDE_BY_SIDE};

/// The limbs of X, Y, Z and T of a point.
type Single = [u64; 20];

/// Points in places. Time depends on how many are read and on where they lie, not on what they are or whether they are
/// subtracted.
pub struct Singles(Each);

enum Each {
    Wide(Multiplier, Vec<Single>),
    Plain(Vec<RistrettoPoint>),
}

/// A point of a sum: the one at a place, or its negative.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// Where the point is.
    pub place: u32,
    /// Whether it is subtracted.
    pub negative: bool,
}

impl Drop for Singles {
    fn drop(&mut self) {
        match &mut self.0 {
            Each::Wide(_, points) => points.zeroize(),
            Each::Plain(points) => points.zeroize(),
        }
    }
}

impl Singles {
    /// So many neutral points.
    pub fn neutral(group: Ristretto, count: usize) -> Self {
        Singles(match group.0 {
            Some(cpu) => Each::Wide(cpu, vec![single(&neutral_group(), 0); count]),
            None => Each::Plain(vec![RistrettoPoint::identity(); count]),
        })
    }

    /// Puts points in these places, as many as there are of both.
    ///
    /// # Panics
    /// If there is no such place, or the points are of another backend.
    pub fn put(&mut self, places: impl IntoIterator<Item = usize>, points: &Points) {
        match (&mut self.0, points.batch()) {
            (Each::Wide(_, to), Batch::Wide(_, groups)) => {
                let from = (0..points.len()).map(|at| single(&groups[at / SIDE_BY_SIDE], at % SIDE_BY_SIDE));
                places.into_iter().zip(from).for_each(|(place, point)| to[place] = point);
            }
            (Each::Plain(to), Batch::Plain(points)) => {
                places.into_iter().zip(points).for_each(|(place, point)| to[place] = *point);
            }
            _ => panic!("points of another backend"),
        }
    }

    /// The sum of each of these lists, of at least one term.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn sums<const N: usize>(&self, lists: &[[Term; N]]) -> Points {
        match &self.0 {
            Each::Wide(cpu, points) => Points::wide(*cpu, lists.len(), |groups| {
                let mut terms = Zeroizing::new([ZERO; N]);
                for (lists, group) in lists.chunks(SIDE_BY_SIDE).zip(groups) {
                    let negative = gather(points, lists, &mut terms);
                    cpu.run(Sum { terms: &*terms, negative: &negative, group });
                }
            }),
            Each::Plain(points) => Points::plain(lists.iter().map(|list| sum(points, list)).collect()),
        }
    }
}

fn single(group: &Group, lane: usize) -> Single {
    let limbs = group.as_flattened();
    std::array::from_fn(|k| limbs[k].0[lane])
}

/// Lays the points of at most eight lists side by side; returns the lanes of each term that are subtracted.
fn gather<const N: usize>(from: &[Single], lists: &[[Term; N]], terms: &mut [Group; N]) -> [u8; N] {
    let mut negative = [0; N];
    for (lane, list) in lists.iter().enumerate() {
        for (k, term) in list.iter().enumerate() {
            negative[k] |= u8::from(term.negative) << lane;
            let point = &from[term.place as usize];
            terms[k].as_flattened_mut().iter_mut().zip(point).for_each(|(limb, &word)| limb.0[lane] = word);
        }
    }
    negative
}

fn sum<const N: usize>(points: &[RistrettoPoint], list: &[Term; N]) -> RistrettoPoint {
    let term = |term: &Term| {
        let mut point = points[term.place as usize];
        point.conditional_negate(u8::from(term.negative).into());
        point
    };
    let first = term(&list[0]);
    list[1..].iter().fold(first, |sum, next| sum + term(next))
}

struct Sum<'a> {
    terms: &'a [Group],
    /// The lanes of each term that are subtracted.
    negative: &'a [u8],
    group: &'a mut Group,
}

impl LimbLoop for Sum<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let mut sum = Point::load(cpu, &self.terms[0]).negated_where(self.negative[0].into());
        for (term, &negative) in self.terms[1..].iter().zip(&self.negative[1..]) {
            sum = sum.add(Point::load(cpu, term).prepared(cpu), negative.into());
        }
        sum.store(self.group);
    }
}
