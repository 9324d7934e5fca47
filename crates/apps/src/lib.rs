#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Applications, one file or folder each.

pub mod argmin;
pub mod eigenfaces;
pub mod equality;
mod packed;
pub mod proximity;
pub mod scifi;
pub mod social;
mod tournament;
pub mod universal;

use duologue::call::Calls;
use std::sync::Arc;

/// The protocols of all calls that applications make, for a session to register.
pub fn calls() -> Calls {
    Calls::new().with(Arc::new(equality::Equality)).with(Arc::new(argmin::Argmin)).with(Arc::new(universal::Universal))
}
