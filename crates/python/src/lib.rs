#![forbid(unsafe_code)]
//! `duologue._core`, the compiled part of the Python package `duologue`. It is private: people import `duologue`, whose
//! Python in `python/duologue` checks arguments, asks NumPy, and holds what people see.

mod beside;
mod errors;
mod matrix;
mod party;
mod program;
mod query;
mod report;
mod settings;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::matrix::{Matrix, pack_bits, pack_bytes, pack_numbers};
    #[pymodule_export]
    use super::party::{Canceller, Listener, Party, Prepared, Security};
    #[pymodule_export]
    use super::program::{Binding, Program};
    #[pymodule_export]
    use super::query::{Query, Rows, key_form, key_strings};
    #[pymodule_export]
    use super::settings::check_settings;
    #[pymodule_export]
    use super::{main, new_key, public_key};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// The command: the words with which it is started again, and those after its name; the exit code.
#[pyfunction]
fn main(py: Python<'_>, itself: Vec<OsString>, words: Vec<OsString>) -> u8 {
    py.detach(|| duologue_cli::embed::main(itself, words))
}

/// Makes a key in a file that is not there yet; the public key.
#[pyfunction]
fn new_key(file: PathBuf) -> PyResult<String> {
    let make = || {
        let identity = duologue::channel::Identity::generate()?;
        identity.save(&file).map(|()| identity.public().to_string())
    };
    make().map_err(errors::raised)
}

/// The public key of the private one in a file.
#[pyfunction]
fn public_key(file: PathBuf) -> PyResult<String> {
    duologue::channel::Identity::load(file).map(|identity| identity.public().to_string()).map_err(errors::raised)
}
