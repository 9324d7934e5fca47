//! A score card: each attribute of an applicant is worth points by the step that its value has reached, and the score is their
//! sum.
//!
//! ```text
//! age 8            # an attribute, and the bits of its value
//!   0 12           # from 0 on 12 points,
//!   25 30          # from 25 on 30
//! income 16
//!   0 5
//!   2000 40
//! ```
//!
//! Inputs are the attributes in the order of the file, the output is `score`, of 16 bits. Whoever has the data needs the
//! attributes' names and bits; steps and points are the owner's secret.
//!
//! Steps that are reached are exclusive in the difference to the step before: so the points of an attribute are sums by XOR of
//! comparisons, and cost no AND besides these.

use super::{Steps, lines, number, words};
use duologue::circuit::blocks::{Goal, greater_or_equal, sum_full};
use duologue::circuit::{Builder, Circuit, UInt};

/// Bits of the score, and of the points of a step.
const SCORE: u32 = 16;

/// The most bits of an attribute.
const MOST_BITS: u32 = 32;

/// A score card, which is its owner's secret.
pub struct ScoreCard {
    attributes: Vec<Attribute>,
}

struct Attribute {
    name: String,
    bits: u32,
    steps: Steps,
}

impl ScoreCard {
    /// Reads a card.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(text: &str) -> Result<ScoreCard, String> {
        let mut attributes: Vec<Attribute> = Vec::new();
        for (at, line) in lines(text) {
            match (&words(line)[..], attributes.last_mut()) {
                ([from, points], Some(attribute)) if from.starts_with(|c: char| c.is_ascii_digit()) => {
                    let (from, points) = (number(from, attribute.bits, at)?, number(points, SCORE, at)?);
                    attribute.steps.push(from, points, at)?;
                }
                ([name, bits], _) if !name.starts_with(|c: char| c.is_ascii_digit()) => {
                    let bits = number(bits, 8, at)? as u32;
                    if !(1..=MOST_BITS).contains(&bits) || attributes.iter().any(|other| other.name == *name) {
                        return Err(format!("line {at}: a name of its own and 1 to {MOST_BITS} bits"));
                    }
                    attributes.push(Attribute { name: (*name).into(), bits, steps: Steps(Vec::new()) });
                }
                _ => return Err(format!("line {at}: an attribute NAME BITS, or a step FROM POINTS of one")),
            }
        }
        let card = ScoreCard { attributes };
        let most: u64 = card.attributes.iter().map(|attribute| attribute.most()).sum();
        match card.attributes.iter().find(|attribute| attribute.steps.0.is_empty()) {
            Some(attribute) => Err(format!("'{}' has no step", attribute.name)),
            None if card.attributes.is_empty() => Err("no attribute".into()),
            None if most >> SCORE > 0 => Err(format!("a score may be {most}, and has {SCORE} bits")),
            None => Ok(card),
        }
    }

    /// The score of these values, one for each attribute.
    pub fn evaluate(&self, values: &[u64]) -> u64 {
        let points = |(attribute, &value): (&Attribute, &u64)| {
            attribute.steps.0.iter().rev().find(|(from, _)| *from <= value).map_or(0, |&(_, points)| points)
        };
        self.attributes.iter().zip(values).map(points).sum()
    }

    /// The bits of each attribute, in order.
    pub fn widths(&self) -> Vec<u32> {
        self.attributes.iter().map(|attribute| attribute.bits).collect()
    }

    /// The card as a circuit: an input for each attribute, and `score`.
    pub fn circuit(&self) -> Circuit {
        let mut c = Builder::new("score card");
        let values: Vec<UInt> = self.attributes.iter().map(|one| c.uint(&one.name, one.bits)).collect();
        let points: Vec<UInt> =
            self.attributes.iter().zip(&values).map(|(attribute, value)| attribute.points(&mut c, value)).collect();
        let score = sum_full(&mut c, &points, Goal::Size);
        c.output("score", &score.resized(SCORE as usize));
        c.finish()
    }
}

impl Attribute {
    fn most(&self) -> u64 {
        self.steps.0.iter().map(|&(_, points)| points).max().unwrap_or(0)
    }

    fn points(&self, c: &mut Builder, value: &UInt) -> UInt {
        let mut points = UInt::constant(self.steps.0[0].1.into(), SCORE);
        for step in self.steps.0.windows(2) {
            let [(_, before), (from, after)] = [step[0], step[1]];
            let reached = greater_or_equal(c, value, &UInt::constant(from.into(), self.bits), Goal::Size);
            let change = before ^ after;
            for (_, bit) in points.0.iter_mut().enumerate().filter(|(i, _)| change >> i & 1 == 1) {
                *bit = c.xor(*bit, reached);
            }
        }
        points
    }
}
