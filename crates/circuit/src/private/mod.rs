//! Functions whose wiring is a secret: every gate of one kind, and all the rest free.
//!
//! A gate is the **majority** of three bits, each an earlier bit, the complement of one, or a constant. With their sum
//! v = x + y + z, which is 0 to 3, it yields t = \[v ≥ 2\]. A protocol whose labels carry integers computes any such gate
//! from one hidden sum, whatever it is of, and bits that are sums of others cost it nothing:
//!
//! ```text
//! AND   [x + y + 0 ≥ 2]     carry   [x + y + z ≥ 2]          XOR of two or three    v − 2t    after a gate of them
//! OR    [x + y + 1 ≥ 2]     NOT     1 − x                    x AND NOT y            x − t     after x AND y
//!                                                            x OR y                 x + y − t after x AND y
//!                                                            z ? x : y              t + t'    after z AND x, NOT z AND y
//! ```
//!
//! A full adder is one gate, a multiplexer two, an XOR one and with it every function of the same two bits. A sum exists
//! only as one of these `Node`s, of which each is 0 or 1 by what it is made of; so no sum of another range can be
//! written down. (Such a sum would give its maker the other party's inputs: `docs/private.md`.)
//!
//! `thresholds` makes a circuit such gates, by cuts of at most three inputs; `nands` makes it NANDs alone, as Katz and
//! Malka's protocol takes them, for comparison.

mod cuts;
mod function;
mod maker;
mod nands;
pub mod nodes;
mod thresholds;

pub use function::{Function, Node};
pub use nands::nands;
pub use thresholds::thresholds;

#[cfg(test)]
mod tests;
