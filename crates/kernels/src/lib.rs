//! The symmetric core of duologue: 128-bit blocks, AES many blocks wide, the hashes of the
//! protocols, a random generator and bit transposition.
//!
//! | module | what it gives |
//! |---|---|
//! | [`Block`] | 128 bits: a wire label, a key, an OT message |
//! | [`aes`] | AES-128 under one key |
//! | [`generator`] | AES-128-CTR with children by (label, index) |
//! | [`GarblingHash`] | garbles and evaluates, on many lanes of a gate or several gates in one call |
//! | [`half_gates`] | [`half_gates::HalfGates`], the usual way of garbling |
//! | [`three_halves`] | [`three_halves::ThreeHalves`], with shorter tables |
//! | [`gates`] | operands, gates and the numbers of ANDs, of both garbling schemes |
//! | [`ot_hash`] | [`ot_hash::OtHash`] turns correlated OT into random OT |
//! | [`tree`] | [`tree::TreeHash`] grows half-tree GGM trees, a level at a time, with one node that is not known |
//! | [`planes`] | streams of the leaves of small trees, summed up for SoftSpoken OT |
//! | [`local`] | a linear code of which each output adds ten entries of a table |
//! | [`syndrome`] | a code that compresses blocks two to one: convolutions, permutations and a block code |
//! | [`blake3`] | the leaves of BLAKE3's tree |
//! | [`field`] | GF(2¹²⁸): sums of products, columns times factors, inverses |
//! | [`rows`] | sums of rows of blocks |
//! | [`transpose`] | bit matrices |
//! | [`montgomery`] | products and powers modulo an odd number, of eight numbers side by side |
//! | [`ristretto`] | the group ristretto255: batches of points, eight side by side |
//! | [`nontemporal`] | stores that go past the caches |
//! | [`pages`] | memory in large pages |
//! | [`prefetch`] | long lists, prefetched while they are read |
//! | [`work`] | how many AES blocks this thread has computed |
//!
//! Everything runs on the widest [`Backend`] that the processor has, found at run time (`backend/`). The loops are
//! written once, in the `wide.rs` of each folder, over registers of 1, 2 or 4 blocks; `backend/x86` and
//! `backend/aarch64.rs` hold the instructions and, with one line of `memory/pages.rs` and one of `memory/prefetch.rs`, all
//! `unsafe` of the project; the `portable.rs` beside each `wide.rs` is a second, plain writing of the same functions on
//! RustCrypto's `aes`. All give the same bytes, and the tests hold each to the portable one.
//!
//! No function branches or indexes on labels, keys or shares; key material is zeroised on drop.

#![deny(unsafe_code)]
#![warn(missing_docs)]
// In the loops over registers `r` is the number of a register and indexes several arrays side by side.
#![allow(clippy::needless_range_loop)]
// Without an instruction set to run on, the wide loops are not used.
#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]

#[cfg(target_endian = "big")]
compile_error!("blocks are little-endian in memory and on the wire: big-endian targets are not supported");

mod backend;
mod block;
mod checks;
mod cipher;
mod garbling;
mod matrices;
mod memory;
pub mod montgomery;
mod ot;
pub mod ristretto;
pub mod work;

pub use backend::Backend;
pub use block::Block;
pub use checks::{blake3, field};
pub use cipher::{aes, generator};
pub use garbling::scheme::{GarblingHash, GarblingScheme};
pub use garbling::{gates, half_gates, three_halves};
pub use matrices::{rows, transpose};
pub use memory::{nontemporal, pages, prefetch};
pub use ot::{local, ot_hash, planes, syndrome, tree};
