#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Applications, one file or folder each.

pub mod argmin;
pub mod eigenfaces;
pub mod equality;
mod packed;
pub mod private_function;
pub mod proximity;
pub mod scifi;
pub mod social;
mod tournament;
pub mod universal;

use duologue::call::{CallProtocol, Calls};
use std::sync::Arc;

/// The protocols of all calls that applications make, for a session to register.
pub fn calls() -> Calls {
    calls_with(&argmin::encrypted::Keys::none())
}

/// The same, with what a party has of the key of encrypted values.
pub fn calls_with(keys: &argmin::encrypted::Keys) -> Calls {
    let calls: [Arc<dyn CallProtocol>; 4] = [
        Arc::new(equality::Equality),
        Arc::new(argmin::Argmin),
        Arc::new(argmin::Backtrack),
        Arc::new(universal::Universal),
    ];
    let calls = calls.into_iter().fold(Calls::new(), Calls::with);
    argmin::encrypted::calls(keys).iter().fold(calls, |calls, call| calls.with(call.clone()))
}
