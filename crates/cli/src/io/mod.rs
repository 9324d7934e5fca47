//! Values and files that people give and get: read, checked and printed.

pub mod ciphertexts;
pub mod consent;
pub mod console;
pub mod drawn;
pub mod input;
pub mod lane;
pub mod listing;
pub mod npy;
pub mod output;
pub mod paths;
pub mod private;
pub mod progress;
mod rate;
mod real;
pub mod shown;
pub mod sizes;
