//! Division and square roots against integers, and their costs.

#[path = "common/numbers.rs"]
#[allow(dead_code)]
mod numbers;

use circuit::blocks::{self, Goal};
use circuit::{Builder, Circuit};
use numbers::{check, every, low, mixed, signed};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

fn unsigned_circuit(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("divide");
    let (a, b) = (c.uint("a", width), c.uint("b", width));
    let (quotient, remainder) = blocks::divide(&mut c, &a, &b, goal);
    c.output("quotient", &quotient);
    c.output("remainder", &remainder);
    c.finish()
}

fn signed_circuit(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("divide");
    let (a, b) = (c.int("a", width), c.int("b", width));
    let (quotient, remainder) = blocks::divide_signed(&mut c, &a, &b, goal);
    c.output("quotient", &quotient);
    c.output("remainder", &remainder);
    c.finish()
}

fn root_circuit(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("root");
    let a = c.uint("a", width);
    let (root, remainder) = blocks::square_root(&mut c, &a, goal);
    c.output("root", &root);
    c.output("remainder", &remainder);
    c.finish()
}

fn divided(a: u128, b: u128, width: u32) -> [u128; 2] {
    if b == 0 { [low(width), a] } else { [a / b, a % b] }
}

fn divided_signed(a: u128, b: u128, width: u32) -> [u128; 2] {
    let (x, y) = (signed(a, width), signed(b, width));
    let result = if y == 0 { [-1, x] } else { [x.wrapping_div(y), x.wrapping_rem(y)] };
    result.map(|number| number as u128 & low(width))
}

fn rooted(a: u128) -> [u128; 2] {
    [a.isqrt(), a - a.isqrt().pow(2)]
}

#[test]
fn division() {
    for goal in GOALS {
        let of = |width: u32, lanes: &numbers::Lanes| {
            let place = format!("{width} bits, {goal}");
            check(&unsigned_circuit(width, goal), lanes, &place, |lane| divided(lane[0], lane[1], width));
            check(&signed_circuit(width, goal), lanes, &place, |lane| divided_signed(lane[0], lane[1], width));
        };
        (1..=10).for_each(|width| of(width, &every(&[width; 2])));
        (11..40).for_each(|width| of(width, &mixed(&[width; 2], 1 << 12, 5)));
        for (width, lanes) in [(32, 1 << 20), (53, 1 << 14), (64, 1 << 14), (128, 1 << 12)] {
            of(width, &mixed(&[width; 2], lanes, 6));
        }
    }
}

#[test]
fn square_roots() {
    for goal in GOALS {
        let of = |width: u32, lanes: &numbers::Lanes| {
            let place = format!("{width} bits, {goal}");
            check(&root_circuit(width, goal), lanes, &place, |lane| rooted(lane[0]));
        };
        (1..=18).for_each(|width| of(width, &every(&[width])));
        (19..40).for_each(|width| of(width, &mixed(&[width], 1 << 12, 5)));
        for (width, lanes) in [(32, 1 << 20), (53, 1 << 14), (64, 1 << 14), (128, 1 << 12)] {
            of(width, &mixed(&[width], lanes, 6));
        }
    }
}

#[test]
fn costs() {
    for n in [8, 16, 32, 64] {
        for goal in GOALS {
            for (name, c) in
                [("div", unsigned_circuit(n, goal)), ("sdiv", signed_circuit(n, goal)), ("root", root_circuit(n, goal))]
            {
                println!("{name} {n} {goal}: {}@{}", c.and_count(), c.depth());
            }
        }
    }
}
