//! Iris identification against counts of bits in words and products across, and its costs.

use crate::common::{GOALS, Random, assert_at_most, evaluate_plainly};
use apps::iris::{BITS, MOST_PEOPLE, count_width, iris, iris_masked, sample};
use duologue::circuit::blocks::Goal;
use duologue::circuit::{BitMatrix, Program};
use duologue::{Inputs, data};

#[test]
fn costs_at_most() {
    let bound = |program: Program, people| program.bind(&[("people", people)]).unwrap();
    for (goal, ands, depth) in [(Goal::Size, 2_135_504, 78), (Goal::Depth, 2_318_654, 35)] {
        assert_at_most(&bound(iris(BITS, goal), 1023), ands, depth);
    }
    for (goal, ands, depth) in [(Goal::Size, 8_790_119, 275), (Goal::Depth, 8_838_200, 125)] {
        assert_at_most(&bound(iris_masked(BITS, goal), 1023), ands, depth);
    }
    bound(iris(BITS, Goal::Size), MOST_PEOPLE);
    assert!(iris(BITS, Goal::Size).bind(&[("people", MOST_PEOPLE + 1)]).is_err());
}

/// Bits in words of 64; what is beyond the width is zero.
type Code = Vec<u64>;

/// A code and its mask.
#[derive(Clone)]
struct Eye {
    code: Code,
    mask: Code,
}

/// What is asked: a query, a gallery, and the fraction below which a person is found.
struct Question {
    width: u32,
    query: Eye,
    gallery: Vec<Eye>,
    limit: [u64; 2],
}

fn ones(words: impl Iterator<Item = u64>) -> u64 {
    words.map(|word| u64::from(word.count_ones())).sum()
}

impl Question {
    /// The first of the least among the limit and the distances of all.
    fn common(&self) -> u64 {
        let distance = |eye: &Eye| ones(self.query.code.iter().zip(&eye.code).map(|(a, b)| a ^ b));
        let all: Vec<u64> = [self.limit[0]].into_iter().chain(self.gallery.iter().map(distance)).collect();
        let least = all.iter().min().unwrap();
        all.iter().position(|distance| distance == least).unwrap() as u64
    }

    /// The same with fractions; somebody without usable bits is not found.
    fn masked(&self) -> u64 {
        let mut best = (self.limit.map(u128::from), 0);
        for (eye, person) in self.gallery.iter().zip(1..) {
            let usable: Code = self.query.mask.iter().zip(&eye.mask).map(|(a, b)| a & b).collect();
            let words = self.query.code.iter().zip(&eye.code).zip(&usable);
            let differ = u128::from(ones(words.map(|((a, b), mask)| (a ^ b) & mask)));
            let usable = u128::from(ones(usable.iter().copied()));
            if usable > 0 && differ * best.0[1] < best.0[0] * usable {
                best = ([differ, usable], person);
            }
        }
        best.1
    }

    fn inputs(&self) -> Inputs {
        let count = count_width(self.width) as usize;
        let lanes = |eyes: &[Eye], part: fn(&Eye) -> &Code| matrix(self.width, eyes.iter().map(part));
        let (query, gallery) = (std::slice::from_ref(&self.query), &self.gallery[..]);
        Inputs::new()
            .with("query", lanes(query, |eye| &eye.code))
            .with("query_mask", lanes(query, |eye| &eye.mask))
            .with("gallery", lanes(gallery, |eye| &eye.code))
            .with("masks", lanes(gallery, |eye| &eye.mask))
            .with("limit", data::uints(count, &self.limit[..1]).unwrap())
            .with("limit_of", data::uints(count, &self.limit[1..]).unwrap())
    }

    /// Asks both programs.
    fn check(&self, goal: Goal) {
        let people = self.gallery.len() as u64;
        let asked = [(iris(self.width, goal), self.common()), (iris_masked(self.width, goal), self.masked())];
        for (program, expected) in asked {
            let job = program.bind(&[("people", people)]).unwrap();
            let came = evaluate_plainly(&job, &[self.inputs()]);
            let name = program.name();
            assert_eq!(came["person"], [expected], "{name}, {people} people, {} bits, {goal}", self.width);
        }
    }
}

fn matrix<'a>(width: u32, codes: impl Iterator<Item = &'a Code>) -> BitMatrix {
    let length = width.div_ceil(8) as usize;
    let bytes = codes.flat_map(|code| code.iter().flat_map(|word| word.to_le_bytes()).take(length));
    BitMatrix::from_byte_rows(width as usize, &bytes.collect::<Vec<u8>>()).unwrap()
}

fn words(matrix: &BitMatrix) -> Vec<Code> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    data::to_bytes(matrix).iter().map(|bytes| bytes.chunks(8).map(word).collect()).collect()
}

fn eyes(sample: &sample::Sample) -> Vec<Eye> {
    let both = words(&sample.codes).into_iter().zip(words(&sample.masks));
    both.map(|(code, mask)| Eye { code, mask }).collect()
}

/// Everybody has an own code, and so have the pictures that are looked for.
fn population(people: u64, person: u64, limit: [u64; 2]) -> Question {
    let gallery = eyes(&sample::gallery(people, BITS).unwrap());
    let query = eyes(&sample::query(person, BITS).unwrap()).remove(0);
    Question { width: BITS, query, gallery, limit }
}

#[test]
fn the_gallery_of_the_paper() {
    // 0.32 of all bits, and of those that are usable.
    for (person, found) in [(1, 1), (512, 512), (1023, 1023), (2000, 0)] {
        let mut question = population(1023, person, [656, 2048]);
        assert_eq!([question.common(), question.masked()], [found; 2]);
        if person > 1000 {
            GOALS.iter().for_each(|&goal| question.check(goal));
        }
        question.limit = [0, 1];
        assert_eq!([question.common(), question.masked()], [0; 2]);
    }
}

/// A threshold is met from below: what equals it is not found.
#[test]
fn the_threshold_met_exactly() {
    let question = population(5, 4, [0, 1]);
    let (query, person) = (&question.query, &question.gallery[3]);
    let distance = ones(query.code.iter().zip(&person.code).map(|(a, b)| a ^ b));
    let usable: Code = query.mask.iter().zip(&person.mask).map(|(a, b)| a & b).collect();
    let differ = ones(query.code.iter().zip(&person.code).zip(&usable).map(|((a, b), mask)| (a ^ b) & mask));
    let usable = ones(usable.into_iter());
    for goal in GOALS {
        for (limit, found) in [([distance, BITS.into()], 0), ([distance + 1, BITS.into()], 4)] {
            let question = Question { limit, query: query.clone(), gallery: question.gallery.clone(), width: BITS };
            assert_eq!(question.common(), found);
            question.check(goal);
        }
        for (limit, found) in [([differ, usable], 0), ([differ + 1, usable], 4), ([differ, usable - 1], 4)] {
            let question = Question { limit, query: query.clone(), gallery: question.gallery.clone(), width: BITS };
            assert_eq!(question.masked(), found);
            question.check(goal);
        }
    }
}

/// Short codes are often equally far away, and masks often empty.
#[test]
fn many_ties_and_empty_masks() {
    let mut dice = Random(7);
    for round in 0..400 {
        let width = 1 + dice.below(70) as u32;
        let width = if round % 2 == 0 { 1 + width % 6 } else { width };
        let people = 1 + dice.below(if round % 4 == 0 { 3 } else { 40 }) as usize;
        let sparse = dice.below(3);
        let mut eye = || {
            let mut word = |width: u32| (0..sparse).fold(dice.word(), |word, _| word & dice.word()) >> (64 - width);
            let mut code = || match width {
                ..=64 => vec![word(width)],
                _ => vec![word(64), word(width - 64)],
            };
            let (code, mask) = (code(), code());
            Eye { code, mask }
        };
        let (query, gallery) = (eye(), (0..people).map(|_| eye()).collect());
        let most = 1 << count_width(width);
        let limit = [dice.below(most), dice.below(most)];
        let question = Question { width, query, gallery, limit };
        GOALS.iter().for_each(|&goal| question.check(goal));
    }
}

/// Every pair of fractions of three bits, the threshold against one person and one against another.
#[test]
fn every_fraction() {
    let eye = |differ: u32, usable: u32| Eye { code: vec![(1 << differ) - 1], mask: vec![(1 << usable) - 1] };
    let query = eye(0, 7);
    let all = || (0..=7).flat_map(|usable| (0..=usable).map(move |differ| (differ, usable)));
    for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
        let gallery = vec![eye(a.0, a.1), eye(b.0, b.1)];
        let question = Question { width: 7, query: query.clone(), gallery, limit: [7, 6] };
        GOALS.iter().for_each(|&goal| question.check(goal));
        let gallery = vec![eye(a.0, a.1)];
        let limit = [b.0.into(), b.1.into()];
        let question = Question { width: 7, query: query.clone(), gallery, limit };
        GOALS.iter().for_each(|&goal| question.check(goal));
    }
}

/// What the codes for trials promise: pictures of one eye are 10 to 15 % apart, others half, by as much as Daugman says.
#[test]
fn codes_for_trials_are_as_those_of_irises() {
    let gallery = eyes(&sample::gallery(300, BITS).unwrap());
    let part = |a: &Code, b: &Code| ones(a.iter().zip(b).map(|(a, b)| a ^ b)) as f64 / f64::from(BITS);
    for (person, eye) in (1..).zip(&gallery) {
        let query = eyes(&sample::query(person, BITS).unwrap()).remove(0);
        assert!((0.09..0.16).contains(&part(&query.code, &eye.code)), "person {person}");
        let usable = ones(eye.mask.iter().copied()) as f64 / f64::from(BITS);
        assert!((0.5..1.0).contains(&usable), "person {person}: {usable}");
    }
    let pairs = (0..300).flat_map(|a| (0..a).map(move |b| (a, b)));
    let parts: Vec<f64> = pairs.map(|(a, b): (usize, usize)| part(&gallery[a].code, &gallery[b].code)).collect();
    let mean = parts.iter().sum::<f64>() / parts.len() as f64;
    let variance = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / parts.len() as f64;
    let coins = 0.25 / variance;
    assert!((0.495..0.505).contains(&mean) && (230.0..280.0).contains(&coins), "{mean}, {coins} coins");
}
