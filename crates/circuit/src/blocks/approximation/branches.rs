//! Functions of one number that have several branches, by a table of polynomials for each.
//!
//! A [branch](Branch) is a function on [0, 1] and a bit that is set where it counts; exactly one of them is. A float
//! makes branches of its exponent: sin(2^−m·s)·2^m is a smooth function of the significand s for every m, and its
//! fixed-point error is the relative error of the sine. So do quadrants, or the two sides of a pole.
//!
//! The leading bits of the place x choose a segment of the branch by a one-hot code, the bits below are the digits of a
//! [polynomial](super::piecewise). A bit that is still to be added to the last place of x needs no adder: it is one
//! more digit, and counts only in the linear term. The sign of the result is no adder either: what is rounded is
//! ±½ above the function, and then the bits are turned over.

use num_bigint::BigInt;

use super::digits::{Digits, Sum, exponent};
use super::piecewise::Polynomials;
use super::reals::{Interpolation, Reals, power_of_two};
use crate::blocks::{Goal, one_hot};
use crate::builder::Builder;
use crate::graph::Bit;

/// A function on [0, 1].
type Function<'a> = Box<dyn Fn(&Reals, &BigInt) -> BigInt + 'a>;

/// A function and where it counts.
pub(crate) struct Branch<'a> {
    /// Set where it counts.
    pub(crate) hot: Bit,
    /// The function.
    pub(crate) function: Function<'a>,
}

/// A place in [0, 1].
pub(crate) struct UnitArgument<'a> {
    /// Bit i of n stands for 2^(i − n).
    pub(crate) bits: &'a [Bit],
    /// The bit to be added in the last place; if none is known, the place is taken to be half a unit on.
    pub(crate) carry: Option<Bit>,
}

/// Branches and how well to compute them.
pub(crate) struct Branches<'a> {
    /// The functions; exactly one of them is hot, or the result is arbitrary.
    pub(crate) branches: Vec<Branch<'a>>,
    /// The weight of the result's last bit, as a power of two.
    pub(crate) low: i32,
    /// Results are modulo 2^high.
    pub(crate) high: i32,
    /// How far the value may be off before it is rounded, in units of the last bit.
    pub(crate) error: f64,
}

/// Segments and degree of the polynomials.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// Leading bits that choose the segment.
    index: usize,
    degree: usize,
}

/// Shares of the error: of the polynomials, of the sum.
const SHARES: (f64, f64) = (0.2, 0.8);

impl Branches<'_> {
    /// The function that is hot at this place, negated if `negative`, rounded to the nearest but for the error.
    pub(crate) fn evaluate(&self, c: &mut Builder, x: &UnitArgument, negative: Bit, goal: Goal) -> Vec<Bit> {
        let n = x.bits.len();
        let r = Reals::new((64 - 2 * self.low).max(64 + n as i32) as u32);
        let (shape, series) = self.shape(&r, x, goal);
        let (offset, index) = x.bits.split_at(n - shape.index);
        let index = one_hot(c, index);
        let hots = self.products(c, &index);
        let place = Digits::new(offset.to_vec(), 1 - offset.len() as i32);
        let carry = x.carry.filter(|carry| !is_constant(*carry)).map(|bit| Digits::new(vec![bit], place.low));
        let polynomials = Polynomials::new(&r, &series, goal);
        let mut cut = self.low - 3 - (shape.degree + n).ilog2() as i32;
        let sum = loop {
            let mut sum = Sum::new(cut);
            sum.product(c, &Digits::new(vec![!negative], self.low), &Digits::new(vec![Bit::TRUE], 1));
            if let (Some(carry), Some(slopes)) = (&carry, polynomials.coefficients.get(1)) {
                let slopes = Digits::table(c, &r, &hots, slopes, cut - carry.low + 1);
                sum.product(c, carry, &slopes);
            }
            let sum = polynomials.add_to(sum, c, &r, &hots, &place);
            if sum.error() <= power_of_two(self.low) * self.error * SHARES.1 {
                break sum;
            }
            cut -= 1;
        };
        let word = sum.word(c, self.low, self.high, goal);
        word.into_iter().map(|bit| c.xor(bit, negative)).collect()
    }

    /// A hot bit for each segment of each branch; that of the last branch follows from the others.
    fn products(&self, c: &mut Builder, index: &[Bit]) -> Vec<Bit> {
        let mut rest = index.to_vec();
        let mut hots = Vec::with_capacity(index.len() * self.branches.len());
        let (_, others) = self.branches.split_last().expect("a branch");
        for branch in others {
            let row: Vec<Bit> = index[1..].iter().map(|&segment| c.and(branch.hot, segment)).collect();
            hots.push(c.xor_all(row.iter().copied().chain([branch.hot])));
            hots.extend(row);
            let start = hots.len() - index.len();
            rest.iter_mut().zip(&hots[start..]).for_each(|(rest, &hot)| *rest = c.xor(*rest, hot));
        }
        hots.extend(rest);
        hots
    }

    /// The cheapest shape by an estimate, and its series.
    fn shape(&self, r: &Reals, x: &UnitArgument, goal: Goal) -> (Shape, Vec<Vec<BigInt>>) {
        let n = x.bits.len();
        let last = self.branches.len() - 1;
        let probes: Vec<usize> =
            [0, 1, last / 2, last - last.min(1), last].into_iter().filter(|&i| i <= last).collect();
        let shapes = (0..=n.min(9)).map(|index| {
            let mut shape = Shape { index, degree: 1 };
            loop {
                let end = (1 << index) - 1;
                let ends = probes.iter().flat_map(|&branch| [(branch, 0), (branch, end / 2), (branch, end)]);
                let series = self.series(r, x, shape, ends);
                if self.rest(r, &series) <= self.error * SHARES.0 {
                    return (self.estimate(r, &series, shape, goal), shape);
                }
                shape.degree += 1;
            }
        });
        let mut shape = shapes.min_by_key(|shape| shape.0).expect("a shape").1;
        loop {
            let segments = (0..=last).flat_map(|branch| (0..1 << shape.index).map(move |segment| (branch, segment)));
            let series = self.series(r, x, shape, segments);
            if self.rest(r, &series) <= self.error * SHARES.0 {
                return (shape, series);
            }
            shape.degree += 1;
        }
    }

    /// The Chebyshev series of these segments, each given by its branch and index, one coefficient longer than the degree.
    fn series(
        &self,
        r: &Reals,
        x: &UnitArgument,
        shape: Shape,
        segments: impl Iterator<Item = (usize, usize)>,
    ) -> Vec<Vec<BigInt>> {
        let interpolation = Interpolation::new(r, shape.degree + 1);
        let radius = -(shape.index as i32) - 1;
        let half = r.power_of_two(-(x.bits.len() as i32) - 1);
        let shift = match x.carry {
            Some(Bit::FALSE) => -half,
            Some(Bit::TRUE) => half,
            _ => BigInt::ZERO,
        };
        let of_segment = |(branch, segment): (usize, usize)| {
            let centre = r.scaled(2 * segment + 1, radius) + &shift;
            interpolation.series(|u| (self.branches[branch].function)(r, &(&centre + (u >> -radius))))
        };
        segments.map(of_segment).collect()
    }

    /// The truncation error of the series, in units of the last bit of the result: a little more than the next coefficient.
    fn rest(&self, r: &Reals, series: &[Vec<BigInt>]) -> f64 {
        let last = series.iter().map(|series| r.to_f64(&series[series.len() - 1]).abs());
        1.25 * last.fold(0.0, f64::max) / power_of_two(self.low)
    }

    /// About how many ANDs it takes: the decoder, and a triangle of digits for each product; for the goal depth, as
    /// many again for each degree that makes a layer of products.
    fn estimate(&self, r: &Reals, series: &[Vec<BigInt>], shape: Shape, goal: Goal) -> i64 {
        let cut = power_of_two(self.low - 5);
        let width = |degree: usize| {
            let most = series.iter().map(|series| r.to_f64(&series[degree]).abs()).fold(cut, f64::max);
            i64::from(exponent(most / cut)) + 1
        };
        let products: i64 = (1..=shape.degree).map(|degree| width(degree).pow(2) / 2).sum();
        let ands = products + ((self.branches.len() as i64) << shape.index);
        match goal {
            Goal::Size => ands,
            Goal::Depth => ands + ands * i64::from(shape.degree.ilog2()) / 2,
        }
    }
}

fn is_constant(bit: Bit) -> bool {
    bit == Bit::TRUE || bit == Bit::FALSE
}
