//! How fast the builder writes gates: the two circuits that `crates/python/benches/trace.py` lowers, written by hand. Seconds are
//! those of the processor where the system tells them.

use circuit::blocks::{Goal, add, less, multiply_low, mux};
use circuit::{Bits, Builder, UInt};
use std::time::Instant;

type Round = fn(&mut Builder, UInt, UInt) -> (UInt, UInt);

fn main() {
    measure("products", 1_000, |c, x, y| {
        let product = multiply_low(c, &x, &y, Goal::Size);
        let is_less = less(c, &x, &y, Goal::Size);
        let chosen = mux(c, is_less, &product, &y);
        (add(c, &x, &product, Goal::Size), chosen)
    });
    measure("sums", 20_000, |c, x, y| {
        let sum = add(c, &x, &y, Goal::Size);
        let is_less = less(c, &x, &y, Goal::Size);
        let chosen = mux(c, is_less, &sum, &y);
        (UInt(sum.0.iter().zip(&chosen.0).map(|(&x, &y)| c.xor(x, y)).collect()), chosen)
    });
}

fn measure(name: &str, rounds: usize, round: Round) {
    let (start, wall) = (processor_seconds(), Instant::now());
    let mut c = Builder::new(name);
    let words = (c.uint("alice", 32), c.uint("bob", 32));
    let (x, y) = (0..rounds).fold(words, |(x, y), _| round(&mut c, x, y));
    let out = Bits(x.0.iter().zip(&y.0).map(|(&x, &y)| c.xor(x, y)).collect());
    c.output("out", &out);
    let circuit = c.finish();
    let elapsed = wall.elapsed().as_secs_f64();
    let (seconds, ands) =
        (processor_seconds().zip(start).map_or(elapsed, |(end, start)| end - start), circuit.and_count());
    println!("{name}: {ands} ANDs in {seconds:.2} s, {:.3} million a second", ands as f64 / seconds / 1e6);
}

/// Time on a processor, of this thread.
fn processor_seconds() -> Option<f64> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}
