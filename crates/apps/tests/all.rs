//! All tests of the crate in one program.

mod common;
#[path = "../../../tests/support/named.rs"]
mod named;

mod aes;
mod argmin;
mod argmin_boma;
mod argmin_encrypted;
mod argmin_erkin;
mod argmin_levels;
mod conditional_sum;
mod eigenfaces;
mod equality;
mod hostile_calls;
mod iris;
mod jobs;
mod join;
mod private_function;
mod proximity;
mod psi;
mod psi_shares;
mod quantile;
mod social;
mod statistics;
mod two_processes;
mod universal;

/// Where they lie.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
