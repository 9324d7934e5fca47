//! Division and square roots against integers, and their costs.

use crate::common::lanes;
use crate::common::lanes::{check, every, low, mixed, signed};
use circuit::blocks::{self, Goal};
use circuit::{Builder, Circuit};

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
    [a.checked_div(b).unwrap_or(low(width)), a.checked_rem(b).unwrap_or(a)]
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
        let of = |width: u32, lanes: &lanes::Lanes| {
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
        let of = |width: u32, lanes: &lanes::Lanes| {
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
fn costs_of_the_main_widths() {
    type Row = (fn(u32, Goal) -> Circuit, u32, (u64, u32), (u64, u32));
    let bounds: [Row; 8] = [
        (unsigned_circuit, 8, (76, 62), (150, 31)),
        (unsigned_circuit, 16, (252, 208), (682, 73)),
        (unsigned_circuit, 32, (892, 740), (4904, 51)),
        (unsigned_circuit, 64, (3324, 2764), (16640, 70)),
        (signed_circuit, 32, (1048, 771), (5252, 61)),
        (root_circuit, 16, (51, 31), (90, 20)),
        (root_circuit, 32, (167, 123), (414, 52)),
        (root_circuit, 64, (591, 499), (1998, 132)),
    ];
    for (make, width, size, depth) in bounds {
        for (goal, bound) in GOALS.into_iter().zip([size, depth]) {
            let circuit = make(width, goal);
            let came = (circuit.and_count(), circuit.depth());
            assert!(came.0 <= bound.0 && came.1 <= bound.1, "{width} bits, {goal}: {came:?} over {bound:?}");
        }
    }
}

#[test]
fn costs_stay_below_their_formulas() {
    for n in 2..=130u32 {
        let quotient = unsigned_circuit(n, Goal::Size);
        assert_eq!(quotient.and_count(), u64::from(3 * n * n / 4 + 4 * n - 4 + n % 2), "{n} bits");
        assert!(quotient.depth() <= 5 * n * n / 8 + 4 * n, "{n} bits");
    }
    for n in 2..=38u32 {
        let root = root_circuit(n, Goal::Size);
        let even = n + n % 2;
        assert!(root.and_count() <= u64::from(even * even / 8 + 5 * even / 4), "{n} bits");
        assert!(root.depth() <= even * even / 8 + 2, "{n} bits");
    }
}
