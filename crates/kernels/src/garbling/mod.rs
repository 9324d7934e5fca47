//! Garbling of ANDs: half-gates and three halves, both roles.

pub mod gates;
pub mod half_gates;
pub(crate) mod portable;
pub mod scheme;
pub mod three_halves;
pub(crate) mod wires;
