//! The symmetric core of duologue: 128-bit blocks, AES many blocks wide, the hashes of the
//! protocols, a random generator and bit transposition.
//!
//! | module | what it gives |
//! |---|---|
//! | [`Block`] | 128 bits: a wire label, a key, an OT message |
//! | [`aes`] | AES-128 under one key |
//! | [`ahead`] | long lists, called for before they are read |
//! | [`hash`] | [`hash::GateHash`] garbles and evaluates, [`hash::OtHash`] turns correlated OT into random OT, [`hash::TreeHash`] grows GGM trees |
//! | [`gates`] | the same for several gates in one call |
//! | [`three_halves`] | [`three_halves::ThreeHalves`] garbles and evaluates with shorter tables |
//! | [`blake3`] | the leaves of BLAKE3's tree |
//! | [`field`] | GF(2¹²⁸): sums of products |
//! | [`generator`] | AES-128-CTR with children by (label, index) |
//! | [`pages`] | room in large pages |
//! | [`planes`] | streams of the leaves of small trees, summed up for SoftSpoken OT |
//! | [`rows`] | sums of rows of blocks |
//! | [`stow`] | copies past the caches |
//! | [`transpose`] | bit matrices |
//! | [`tree`] | half-tree GGM, a level at a time, with one node that is not known |
//! | [`local`] | a linear code of which each output adds ten entries of a table |
//! | [`work`] | how many AES blocks this thread has computed |
//!
//! Everything runs on the widest [`Backend`] that the processor has, found at run time. The loops are
//! written once (`wide.rs`) over registers of 1, 2 or 4 blocks; `x86.rs` and `aarch64.rs` hold the
//! instructions and, with one line of `pages.rs` and one of `ahead.rs`, all `unsafe` of the project; `portable.rs` is a second, plain writing of the
//! same functions on RustCrypto's `aes`. All give the same bytes, and the tests hold each to the portable one.
//!
//! No function branches or indexes on labels, keys or shares; key material is zeroised on drop.

#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(target_endian = "big")]
compile_error!("blocks are little-endian in memory and on the wire: big-endian targets are not supported");

#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code)]
mod aarch64;
pub mod aes;
pub mod ahead;
mod backend;
pub mod blake3;
mod block;
pub mod field;
pub mod gates;
pub mod generator;
pub mod hash;
pub mod local;
pub mod pages;
pub mod planes;
mod portable;
pub mod rows;
pub mod stow;
pub mod three_halves;
pub mod transpose;
pub mod tree;
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
mod wide;
pub mod work;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86;

pub use backend::Backend;
pub use block::Block;
