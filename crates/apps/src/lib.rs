#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Applications, one file or folder each.

pub mod aes;
pub mod argmin;
pub mod conditional_sum;
mod consent;
pub mod eigenfaces;
pub mod equality;
pub mod iris;
pub mod join;
mod packed;
pub mod private_function;
pub mod proximity;
pub mod psi;
pub mod scifi;
pub mod social;
pub mod statistics;
mod tournament;
pub mod universal;
mod vole;

use argmin::encrypted::Keys;
use consent::Unconsented;
pub use consent::leak_of;
use duologue::call::{CallProtocol, Calls};
use std::sync::Arc;

/// The protocols of all calls that applications make, for a session to register. Those that tell a party more than their result
/// do not run by these, only by [`leaky_calls`].
pub fn calls() -> Calls {
    calls_with(&Keys::none())
}

/// The same, with what a party has of the key of encrypted values.
pub fn calls_with(keys: &Keys) -> Calls {
    all(keys).iter().map(Unconsented::unless_harmless).fold(Calls::new(), Calls::with)
}

/// The protocols of calls that tell a party more than their result ([`leak_of`]). Who registers them with a session, after
/// [`calls`], consents to that.
pub fn leaky_calls(keys: &Keys) -> Calls {
    let all = all(keys);
    all.iter().filter(|call| leak_of(call.name()).is_some()).cloned().fold(Calls::new(), Calls::with)
}

fn all(keys: &Keys) -> Calls {
    let calls: [Arc<dyn CallProtocol>; 9] = [
        Arc::new(equality::Equality),
        Arc::new(conditional_sum::ConditionalSum),
        Arc::new(argmin::Argmin),
        Arc::new(argmin::Backtrack),
        Arc::new(universal::Universal),
        Arc::new(psi::Psi),
        Arc::new(statistics::Totals),
        Arc::new(statistics::Lists),
        Arc::new(psi::shares::CircuitPsi),
    ];
    let calls = calls.into_iter().fold(Calls::new(), Calls::with);
    argmin::encrypted::calls(keys).iter().cloned().fold(calls, Calls::with)
}
