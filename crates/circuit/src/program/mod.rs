//! Programs.
mod party;
pub use party::Party;
