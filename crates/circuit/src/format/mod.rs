//! Files of circuits and programs, one format a file.

pub mod bristol;
mod duo;
