//! Values and files that people give and get: read, checked and printed.

pub mod ciphertexts;
pub mod consent;
pub mod console;
pub mod drawn;
pub mod input;
pub mod listing;
pub mod output;
pub mod paths;
pub mod private;
pub mod progress;
mod rate;
pub mod shown;
pub mod sizes;
