//! Universal circuits: one network of switches and gates for all functions of a size, and the control bits that make it
//! compute one of them.
//!
//! **Construction**: the universal circuits of Valiant (STOC 1976) in the form of Liu, Yu, Zhao, Zhang, Zhao, *Pushing the
//! Limits of Valiant's Universal Circuits: Simpler, Tighter and More Compact* (CRYPTO 2021). The *poles* of the network are
//! the function's inputs, gates and outputs in order. What a pole gives out goes into two *edge-universal networks*, and each of
//! these gives it one of its operands: the edges of a function, of which every node has two in and two out, are two sets in
//! which every node has one. A network of n poles takes them in pairs, a = 2k and b = 2k + 1, and has two networks of ⌈n/2⌉
//! whose poles are the pairs:
//!
//! ```text
//! the pair's edges in, one of each half ──[ in ]── a          the operand of a
//!                                            └─────[ mid ]─── b          the operand of b
//! the result of a ─────────────────────────────────┘  └──[ out ]── the pair's edges out, one for each half
//! the result of b ───────────────────────────────────────────┘
//! ```
//!
//! where each box is a *switch*, which crosses its two wires or does not. An edge from a to b crosses *mid*; the other
//! edges are those of a graph of pairs, with two in and two out, which are two sets again. To find these is to colour the
//! edges of a bipartite graph of degree two, a walk along its paths and circles: O(N log N) in all.
//!
//! **Size**. Liu et al. have S(n) = 2·S(⌈n/2⌉) + 3·(⌈n/2⌉ − 2) + (4, of odd n 3) with S(2) = 1, and two networks of S(N)
//! switches. Here fewer do ([`Size::switches`]): a wire of a circuit may go to two places, so the first pair
//! needs no *mid*, nor a pair of two poles any switch; of each circle or path one edge's colour is free, so that the first
//! pair needs no *out* (as in Waksman's networks); and inputs have no operands and outputs no readers. With one input and one
//! output that is S(n) = 2·S(⌈n/2⌉) + 3·(⌈n/2⌉ − 2) + (2, of odd n 1) with S(2) = 0.
//!
//! [`Walk`] goes through a network in an order in which every wire is known when it is read, as a function of the sizes alone.
//! All 2^l networks of one level do the same at the same time, so that they are a row of independent switches; a
//! [`Board`] holds the values of wires, 3·2^⌈log₂ N⌉ of them, which is 3 to 6 for each node. [`Controls`] are the control
//! bits of one function.

mod board;
mod layout;
mod route;
mod walk;

pub use crate::private::nodes::{NOTHING, Node, Nodes, Size};
pub use board::{Board, Engine};
pub use route::Controls;
pub use walk::{Unit, Walk};

#[cfg(test)]
mod tests;
