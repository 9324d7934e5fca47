//! One file a verb.

pub mod bench;
pub mod blocks;
pub mod circuits;
pub mod cost;
pub mod demo;
pub mod export;
pub mod import;
pub mod inspect;
pub mod keys;
pub mod pool;
pub mod prepare;
pub mod run;
pub mod shelf;
