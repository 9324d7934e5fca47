//! Functions that one party keeps to itself, in the forms that protocols take them in.

pub mod nodes;
