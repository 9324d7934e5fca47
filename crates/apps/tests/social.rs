//! The mobile social network against a plain computation, and its costs.

use crate::common::{GOALS, Random, assert_at_most, evaluate_plainly};
use apps::social::{social, social_user};
use duologue::circuit::blocks::Goal;
use duologue::circuit::simulate::Simulator;
use duologue::circuit::{BitMatrix, Circuit};
use duologue::{Inputs, data};

#[test]
fn costs_at_most() {
    let bound = |goal| social(255, 32, goal).bind(&[("users", 128)]).unwrap();
    // The paper has 89,321 ANDs of depth 98, and 203,102 of depth 68.
    assert_at_most(&bound(Goal::Size), 87_586, 96);
    assert_at_most(&bound(Goal::Depth), 135_881, 29);
}

/// What the circuit of one user is asked.
#[derive(Clone, Copy, Default)]
struct Question {
    here: [u64; 2],
    interests: u128,
    limit: u64,
    there: [u64; 2],
    offered: u128,
}

impl Question {
    /// How many interests are shared with a user who is near.
    fn common(&self) -> u32 {
        let distance = self.here[0].abs_diff(self.there[0]) + self.here[1].abs_diff(self.there[1]);
        if distance <= self.limit { (self.interests & self.offered).count_ones() } else { 0 }
    }

    fn ports(questions: &[Question]) -> [Vec<u128>; 7] {
        let column = |part: &dyn Fn(&Question) -> u128| questions.iter().map(part).collect();
        [
            column(&|q| q.here[0].into()),
            column(&|q| q.here[1].into()),
            column(&|q| q.interests),
            column(&|q| q.limit.into()),
            column(&|q| q.there[0].into()),
            column(&|q| q.there[1].into()),
            column(&|q| q.offered),
        ]
    }
}

/// Few interests are a large key; in unary, a digit of four bits after the other, for depth.
fn key(common: u32, bits: u32, goal: Goal) -> u128 {
    let few = (1 << bits) - 1 - common;
    match goal {
        Goal::Size => few.into(),
        Goal::Depth => {
            let digit = |digit: u32| (1u128 << (few >> (4 * digit) & 15)) - 1;
            (0..bits.div_ceil(4)).map(|place| digit(place) << (15 * place)).sum()
        }
    }
}

fn check(circuit: &Circuit, interests: u32, goal: Goal, questions: &[Question]) {
    let ports = Question::ports(questions);
    let keys = Simulator::new(circuit).numbers(&ports.each_ref().map(|port| &port[..]));
    for (question, &came) in questions.iter().zip(&keys[0]) {
        assert_eq!(came, key(question.common(), interests.ilog2() + 1, goal), "{:?} {goal}", question.common());
    }
}

#[test]
fn every_user_of_a_small_network() {
    let coordinates = 3;
    for goal in GOALS {
        let circuit = social_user(1, coordinates, goal);
        let part = |all: u32, from: u32, bits: u32| u64::from(all >> from & ((1 << bits) - 1));
        let question = |all: u32| Question {
            here: [part(all, 0, 3), part(all, 3, 3)],
            there: [part(all, 6, 3), part(all, 9, 3)],
            limit: part(all, 12, 4),
            interests: part(all, 16, 1).into(),
            offered: part(all, 17, 1).into(),
        };
        check(&circuit, 1, goal, &(0..1 << 18).map(question).collect::<Vec<_>>());
    }
}

#[test]
fn a_million_users() {
    let mut random = Random(1);
    for goal in GOALS {
        let circuit = social_user(100, 32, goal);
        for _ in 0..16 {
            let questions: Vec<_> = (0..1 << 16).map(|_| close_to_the_limit(&mut random)).collect();
            check(&circuit, 100, goal, &questions);
        }
    }
}

/// Coordinates of any size, and a limit that mostly is the distance or next to it.
fn close_to_the_limit(random: &mut Random) -> Question {
    let [x, y, u, v] = [0; 4].map(|_| {
        let edge = random.choose(&[0, 1, (1 << 32) - 1, 1 << 31]);
        let any = random.word() >> 32 >> random.below(32);
        random.choose(&[edge, any, any, any])
    });
    let distance = x.abs_diff(u) + y.abs_diff(v);
    let any = random.word() >> 31;
    let limit = random.choose(&[distance, distance + 1, distance.saturating_sub(1), any]);
    let mut interests = || (u128::from(random.word()) << 64 | u128::from(random.word())) >> 28;
    Question {
        here: [x, y],
        there: [u, v],
        limit: limit.min((1 << 33) - 1),
        interests: interests(),
        offered: interests(),
    }
}

#[test]
fn whole_networks() {
    let mut random = Random(2);
    for goal in GOALS {
        for round in 0..60 {
            let (interests, users) = (1 + random.below(20) as u32, 1 + random.below(40) as usize);
            let questions: Vec<Question> = (0..users).map(|_| user(&mut random, interests, round % 3 == 0)).collect();
            let questions: Vec<Question> =
                questions.iter().map(|q| Question { there: q.there, offered: q.offered, ..questions[0] }).collect();
            let most = questions.iter().map(Question::common).max().unwrap();
            let user = questions.iter().position(|question| question.common() == most).unwrap();
            let job = social(interests, 8, goal).bind(&[("users", users as u64)]).unwrap();
            let outputs = evaluate_plainly(&job, &[alice(&questions[0], interests), bob(&questions, interests)]);
            assert_eq!(outputs["found"], [u64::from(most > 0)]);
            assert_eq!(outputs["user"], [if most > 0 { user as u64 } else { 0 }], "{users} users, {most} in common");
        }
    }
}

fn user(random: &mut Random, interests: u32, far: bool) -> Question {
    let limit = if far { random.below(8) } else { random.below(256) };
    let mut word = |bits: u32| random.below(1 << bits);
    Question {
        here: [word(8), word(8)],
        there: [word(8), word(8)],
        interests: word(interests).into(),
        offered: word(interests).into(),
        limit,
    }
}

fn alice(question: &Question, interests: u32) -> Inputs {
    Inputs::new()
        .with("x", data::uints(8, &[question.here[0]]).unwrap())
        .with("y", data::uints(8, &[question.here[1]]).unwrap())
        .with("interests", data::uints(interests as usize, &[question.interests as u64]).unwrap())
        .with("limit", data::uints(9, &[question.limit]).unwrap())
}

fn bob(questions: &[Question], interests: u32) -> Inputs {
    let lanes = |width: usize, part: &dyn Fn(&Question) -> u64| -> BitMatrix {
        data::uints(width, &questions.iter().map(part).collect::<Vec<_>>()).unwrap()
    };
    Inputs::new()
        .with("user_x", lanes(8, &|q| q.there[0]))
        .with("user_y", lanes(8, &|q| q.there[1]))
        .with("user_interests", lanes(interests as usize, &|q| q.offered as u64))
}
