//! How fast the builder writes gates: what `crates/python/benches/trace.py` lowers, by hand.

use circuit::blocks::{Goal, add, less, multiply_low, mux};
use circuit::{Bits, Builder};
use std::time::Instant;

const ROUNDS: usize = 30_000;

fn main() {
    let start = Instant::now();
    let mut c = Builder::new("mixed");
    let (mut x, mut y) = (c.uint("alice", 32), c.uint("bob", 32));
    for _ in 0..ROUNDS {
        let product = multiply_low(&mut c, &x, &y, Goal::Size);
        let is_less = less(&mut c, &x, &y, Goal::Size);
        let chosen = mux(&mut c, is_less, &product, &y);
        (x, y) = (add(&mut c, &x, &product, Goal::Size), chosen);
    }
    let out = Bits(x.0.iter().zip(&y.0).map(|(&x, &y)| c.xor(x, y)).collect());
    c.output("out", &out);
    let circuit = c.finish();
    let (seconds, ands) = (start.elapsed().as_secs_f64(), circuit.and_count());
    println!("{ROUNDS} rounds: {seconds:.2} s, {ands} ANDs, {:.2} million a second", ands as f64 / seconds / 1e6);
}
