#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(
    not(feature = "disk"),
    allow(dead_code, reason = "protocols say how their setup is stored, and nobody stores it")
)]
//! Secure two-party computation: two parties who do not trust each other compute a function of their private inputs,
//! and learn the result and nothing else.
//!
//! A [`Program`](circuit::Program) says what is computed; a [`Session`] runs it with a peer over a
//! [`Channel`](channel::Channel), by Yao's garbled circuits or by GMW; the example there is complete. Security is
//! semi-honest at 128 bits: each party follows the protocol, and what it sees tells it no more than its outputs.
//!
//! # Features
//! Both are on by default:
//! - `net`: TCP and TLS ([`Listener`](channel::Listener), [`Channel::connect`](channel::Channel::connect)) and the keys of
//!   parties. Without it, sessions run over any [`Pipe`](channel::Pipe).
//! - `disk`: [pools](correlation::pool) and [prepared runs](prepared) in folders.
//!
//! For `wasm32-unknown-unknown`: no default features, and `wasm_js`, which takes randomness from the JavaScript engine.

mod agreement;
#[doc(hidden)]
pub mod bench;

pub mod call;
pub mod channel;
mod clock;
mod conditions;
pub mod correlation;
pub mod cost;
pub mod data;
mod error;
mod executor;
pub mod job;
pub mod ot;
mod outbox;
mod packed;
#[cfg(feature = "disk")]
pub mod prepared;
#[doc(hidden)]
pub mod private_files;
mod protocol;
pub mod session;
#[cfg(feature = "disk")]
pub mod storage;
mod threads;

#[doc(hidden)]
pub use agreement::hex;
pub use circuit;
pub use circuit::program::Party;
pub use conditions::Conditions;
#[doc(hidden)]
pub use conditions::Findings;
pub use data::{Inputs, Outputs};
pub use error::{Error, Result};
pub use executor::Phase;
pub use kernels::Block;
pub use protocol::Scheme;
pub use protocol::plain;
pub use protocol::terms;
pub use protocol::terms::{Garbling, Options, Timing};
pub use session::{Outcome, PhaseReport, Precomputation, Progress, Report, Session, Unit};

/// The Rust of the README and of the book, compiled and run with the documentation tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/tutorial.md")]
    mod tutorial {}
    #[doc = include_str!("../../../docs/blocks.md")]
    mod blocks {}
    #[doc = include_str!("../../../docs/concepts.md")]
    mod concepts {}
}
