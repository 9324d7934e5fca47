//! The protocols, a folder each: plain, GMW, masked GMW, Yao.

pub(crate) mod gmw;
pub(crate) mod masked_gmw;
pub mod plain;
pub mod terms;
pub(crate) mod yao;
