//! Functions of one number in fixed point, by a table of polynomials.
//!
//! The leading bits of x choose a segment by a one-hot code, of which every coefficient is a free XOR. The bits below
//! are, as [digits](super::digits), the offset u from the middle of the segment, in (−1, 1) if the segment's radius is
//! the unit; and the polynomial in u is the truncated Chebyshev series of the function.
//!
//! Size: Horner's rule, a product and a sum a degree. Depth: p = p₀ + T·p₁ with T one of u, u² − ½, (u² − ½)² − ⅛, ...
//! (Chebyshev's polynomials but for a factor), so that halves of the polynomial are there at the same time, and the
//! outermost products add up in one tree.
//!
//! Errors: what the series leaves out is bounded by twice its next coefficient; each word, coefficient and product
//! carries its own bound. All words end at the same bit, as low as the bounds demand: a product of n digits by n is
//! off by at most n/2 units there.

use std::ops::Range;

use num_bigint::BigInt;

use super::digits::{Digits, Sum, exponent, fit};
use super::reals::{Interpolation, Reals, power_of_two};
use crate::blocks::{Goal, one_hot};
use crate::builder::Builder;
use crate::graph::Bit;

/// The position of an argument within the unit of its last bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LastBit {
    /// At its start: the bits are the number.
    Start,
    /// Anywhere, so that the middle is the best guess: the bits are a number rounded down. The function is evaluated
    /// there; what it varies in half a unit comes on top of the error.
    Middle,
}

/// A function on [0, 1) and how well to compute it.
pub(crate) struct Piecewise<'a> {
    /// The function.
    pub(crate) function: &'a dyn Fn(&Reals, &BigInt) -> BigInt,
    /// The part of [0, 1) that occurs; elsewhere results are arbitrary.
    pub(crate) domain: Range<f64>,
    /// The position of the argument within the unit of its last bit.
    pub(crate) place: LastBit,
    /// The weight of the result's last bit, as a power of two.
    pub(crate) low: i32,
    /// Results are modulo 2^high.
    pub(crate) high: i32,
    /// How far the sum may be off before it is rounded, in units of its last bit.
    pub(crate) error: f64,
}

/// Segments and degree of the polynomials.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Leading bits that choose the segment.
    index: usize,
    degree: usize,
}

impl Piecewise<'_> {
    /// The function of x = Σ bit i · 2^(i − n), rounded to the nearest multiple of 2^low but for the error.
    pub(crate) fn evaluate(&self, c: &mut Builder, x: &[Bit], goal: Goal) -> Vec<Bit> {
        let r = Reals::new((64 - self.low).max(64 + x.len() as i32) as u32);
        let mut shape = self.shape(&r, x.len());
        let series = loop {
            let series = self.series(&r, x.len(), shape, self.segments(shape.index));
            if self.rest(&r, &series) <= self.error / 4.0 {
                break series;
            }
            shape.degree += 1;
        };
        let (offset, index) = x.split_at(x.len() - shape.index);
        let hots = one_hot(c, index)[self.segments(shape.index)].to_vec();
        let u = Digits::new(offset.to_vec(), 1 - offset.len() as i32);
        let polynomials = Polynomials::new(&r, &series, goal);
        let sum = fit(self.low, self.unit() * self.error * 3.0 / 4.0, |cut| {
            polynomials.add_to(Sum::new(cut).plus_power(self.low - 1), c, &r, &hots, &u)
        });
        sum.word(c, self.low, self.high, goal)
    }

    fn unit(&self) -> f64 {
        power_of_two(self.low)
    }

    /// The segments that occur.
    fn segments(&self, index: usize) -> Range<usize> {
        let count = (1usize << index) as f64;
        (self.domain.start * count) as usize..(self.domain.end * count).ceil() as usize
    }

    /// The truncation error of the series, in units of the last bit of the result: twice the last coefficient.
    fn rest(&self, r: &Reals, series: &[Vec<BigInt>]) -> f64 {
        let last = series.iter().map(|series| r.to_f64(&series[series.len() - 1]).abs());
        2.0 * last.fold(0.0, f64::max) / self.unit()
    }

    /// The Chebyshev series around the middle of each of these segments, one coefficient longer than the degree.
    fn series(&self, r: &Reals, n: usize, shape: Shape, segments: impl IntoIterator<Item = usize>) -> Vec<Vec<BigInt>> {
        let radius = -(shape.index as i32) - 1;
        let shift = match self.place {
            LastBit::Start => r.power_of_two(-(n as i32) - 1),
            LastBit::Middle => BigInt::ZERO,
        };
        let interpolation = Interpolation::new(r, shape.degree + 1);
        let of_segment = |segment: usize| {
            let centre = r.scaled(2 * segment + 1, radius) - &shift;
            interpolation.series(|u| (self.function)(r, &(&centre + (u >> -radius))))
        };
        segments.into_iter().map(of_segment).collect()
    }

    /// The number of segments with the fewest ANDs, by an estimate, and the degree that three of them need.
    fn shape(&self, r: &Reals, n: usize) -> Shape {
        let shapes = (n.min(4)..=n.min(10)).map(|index| {
            let segments = self.segments(index);
            let probes = [segments.start, (segments.start + segments.end) / 2, segments.end - 1];
            let mut shape = Shape { index, degree: 0 };
            loop {
                let series = self.series(r, n, shape, probes);
                if self.rest(r, &series) <= self.error / 4.0 {
                    return (self.estimate(r, &series, shape), shape);
                }
                shape.degree += 1;
            }
        });
        shapes.min_by_key(|shape| shape.0).expect("one number of segments or more").1
    }

    /// About how many ANDs it takes: the decoder, and a triangle of digits for each product.
    fn estimate(&self, r: &Reals, series: &[Vec<BigInt>], shape: Shape) -> i64 {
        let cut = self.unit() * self.error / 32.0;
        let width = |degree: usize| {
            let most = series.iter().map(|series| r.to_f64(&series[degree]).abs()).fold(cut, f64::max);
            i64::from(exponent(most / cut)) + 1
        };
        let products: i64 = (1..=shape.degree).map(|degree| width(degree).pow(2) / 2).sum();
        products + self.segments(shape.index).len() as i64
    }
}

/// Polynomials of one shape, in the basis that the goal asks for.
pub(crate) struct Polynomials {
    /// For each element of the basis, the coefficients of all segments.
    pub(crate) coefficients: Vec<Vec<BigInt>>,
    /// The largest of each in magnitude.
    largest: Vec<f64>,
    goal: Goal,
}

impl Polynomials {
    /// From Chebyshev series, all but the last coefficient.
    pub(crate) fn new(r: &Reals, series: &[Vec<BigInt>], goal: Goal) -> Self {
        let rebased: Vec<Vec<BigInt>> = series
            .iter()
            .map(|series| match (goal, &series[..series.len() - 1]) {
                (Goal::Size, series) => powers(series),
                (Goal::Depth, series) => products(series.to_vec()),
            })
            .collect();
        let coefficients: Vec<Vec<BigInt>> =
            (0..rebased[0].len()).map(|j| rebased.iter().map(|series| series[j].clone()).collect()).collect();
        let most = |values: &Vec<BigInt>| values.iter().map(|value| r.to_f64(value).abs()).fold(0.0, f64::max);
        Polynomials { largest: coefficients.iter().map(most).collect(), coefficients, goal }
    }

    /// Adds the polynomial of the segment that is hot to a sum.
    pub(crate) fn add_to(&self, sum: Sum, c: &mut Builder, r: &Reals, hots: &[Bit], u: &Digits) -> Sum {
        let mut factors = vec![u.clone()];
        for i in 1..self.factors() {
            let mut square = Sum::new(sum.low() - exponent(self.largest_with(i)));
            square.square(c, r, &factors[i - 1], 2 - (1 << i));
            factors.push(square.digits(c, self.goal));
        }
        Evaluation { c, r, hots, factors: &factors, goal: self.goal }.add(sum, &self.coefficients)
    }

    /// How many factors the basis is made of.
    fn factors(&self) -> usize {
        match self.goal {
            Goal::Size => 1,
            Goal::Depth => (usize::BITS - (self.coefficients.len() - 1).leading_zeros()) as usize,
        }
    }

    /// A bound on what factor i is multiplied by.
    fn largest_with(&self, i: usize) -> f64 {
        self.largest.iter().enumerate().filter(|(j, _)| j >> i & 1 == 1).map(|(_, largest)| largest).sum()
    }
}

/// A polynomial on its way into gates.
struct Evaluation<'a> {
    c: &'a mut Builder,
    r: &'a Reals,
    hots: &'a [Bit],
    factors: &'a [Digits],
    goal: Goal,
}

impl Evaluation<'_> {
    /// Adds the polynomial of these coefficients.
    fn add(&mut self, mut sum: Sum, coefficients: &[Vec<BigInt>]) -> Sum {
        if let [constant] = coefficients {
            sum.table(self.c, self.r, self.hots, constant);
            return sum;
        }
        let i = match self.goal {
            Goal::Size => 0,
            Goal::Depth => (coefficients.len() - 1).ilog2(),
        };
        let (low, high) = coefficients.split_at(1 << i);
        let high = match high {
            [constant] => Digits::table(self.c, self.r, self.hots, constant, sum.low()),
            _ => self.add(Sum::new(sum.low()), high).digits(self.c, self.goal),
        };
        sum.product(self.c, &self.factors[i as usize], &high);
        self.add(sum, low)
    }
}

/// The coefficients of 1, u, u², ... of a Chebyshev series, by T_{j+1} = 2u·T_j − T_{j−1}.
fn powers(series: &[BigInt]) -> Vec<BigInt> {
    let mut sum = vec![BigInt::ZERO; series.len()];
    let (mut before, mut last) = (vec![BigInt::ZERO], vec![BigInt::from(1)]);
    for (j, coefficient) in series.iter().enumerate() {
        for (sum, t) in sum.iter_mut().zip(&last) {
            *sum += coefficient * t;
        }
        let doubled = if j == 0 { 1 } else { 2 };
        before.resize(last.len() + 1, BigInt::ZERO);
        let shifted = std::iter::once(BigInt::ZERO).chain(last.iter().map(|t| t * doubled));
        let next = shifted.zip(&before).map(|(up, before)| up - before).collect();
        before = std::mem::replace(&mut last, next);
    }
    sum
}

/// The coefficients of products of T₁, T₂/2, T₄/8, ... of a Chebyshev series, the one of factor i in those places that
/// have bit i, by T_{h+l} = 2·T_h·T_l − T_{h−l}.
fn products(mut series: Vec<BigInt>) -> Vec<BigInt> {
    if series.len() < 2 {
        return series;
    }
    let half = (series.len() - 1).ilog2();
    let mut high = series.split_off(1 << half);
    // T_h is 2^(h − 1) times the factor.
    let scale = (1usize << half) - 1;
    for (l, coefficient) in high.iter_mut().enumerate() {
        if l > 0 {
            series[(1 << half) - l] -= &*coefficient;
            *coefficient *= 2;
        }
        *coefficient <<= scale;
    }
    [products(series), products(high)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Circuit, Simulator};

    fn exp2(width: u32, fraction: i32, place: LastBit, goal: Goal) -> Circuit {
        let mut c = Builder::new("exp2");
        let x = c.uint("x", width);
        let piecewise =
            Piecewise { function: &|r, x| r.exp2(x), domain: 0.0..1.0, place, low: -fraction, high: 2, error: 0.25 };
        let out = piecewise.evaluate(&mut c, &x.0, goal);
        c.output("out", &crate::UInt(out));
        c.finish()
    }

    #[test]
    fn powers_of_two_of_fractions() {
        for (width, fraction, ands, depth) in
            [(8, 5, 29, 7), (12, 10, 106, 10), (16, 16, 216, 12), (16, 23, 403, 17), (20, 40, 1121, 21)]
        {
            for goal in [Goal::Size, Goal::Depth] {
                let circuit = exp2(width, fraction, LastBit::Start, goal);
                let lanes: Vec<u128> = (0..1 << width).collect();
                let results = Simulator::new(&circuit).numbers(&[&lanes]).remove(0);
                for (&x, &result) in lanes.iter().zip(&results) {
                    let exact = (x as f64 / (1u64 << width) as f64).exp2() * (1u64 << fraction) as f64;
                    assert!((exact - result as f64).abs() < 0.7501, "{width} {fraction} {goal} {x}: {exact} {result}");
                }
                match goal {
                    Goal::Size => assert!(circuit.and_count() <= ands, "{width}: {}", circuit.and_count()),
                    Goal::Depth => assert!(circuit.depth() <= depth, "{width}: {}", circuit.depth()),
                }
            }
        }
    }

    #[test]
    fn bases_have_the_same_sum() {
        // 3 + 2·T₁ + T₂ = 2 + 2u + 2u².
        let series: Vec<BigInt> = [3, 2, 1].map(BigInt::from).to_vec();
        assert_eq!(powers(&series), [2, 2, 2].map(BigInt::from));
        // 3 + 2u + 2·(T₂/2).
        assert_eq!(products(series), [3, 2, 2].map(BigInt::from));
    }
}
