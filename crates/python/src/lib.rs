#![forbid(unsafe_code)]
//! `duologue._core`, the compiled part of the Python package `duologue`. It is private: people import `duologue`, whose
//! Python in `python/duologue` checks arguments, asks NumPy, and holds what people see.

mod beside;
mod column;
mod debug;
mod errors;
mod folders;
mod matrix;
mod meeting;
mod party;
mod private;
mod program;
mod query;
mod report;
mod settings;
mod simulation;
mod trace;
mod verilog;

use duologue_cli::embed;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::debug::trace_values;
    #[pymodule_export]
    use super::folders::{has_pool, load_share, pool_status, runs_status, save_share};
    #[pymodule_export]
    use super::matrix::{Matrix, pack_bits, pack_bytes, pack_numbers};
    #[pymodule_export]
    use super::meeting::{Canceller, Listener, Meeting, Security};
    #[pymodule_export]
    use super::party::{Party, Prepared};
    #[pymodule_export]
    use super::private::{ask_private, hold_private};
    #[pymodule_export]
    use super::program::{Binding, Program};
    #[pymodule_export]
    use super::query::{Query, Rows, key_form, key_strings};
    #[pymodule_export]
    use super::settings::check_settings;
    #[pymodule_export]
    use super::simulation::simulate;
    #[pymodule_export]
    use super::trace::{Profile, Trace, Word, about_block, block_names, first_difference};
    #[pymodule_export]
    use super::verilog::compile_verilog;
    #[pymodule_export]
    use super::{main, named_peer, new_key, own_key, public_key};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// The command: the words with which it is started again, and those after its name; the exit code.
#[pyfunction]
fn main(py: Python<'_>, itself: Vec<OsString>, words: Vec<OsString>) -> u8 {
    py.detach(|| embed::main(itself, words))
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

/// The file of one's own private key, where none is named.
#[pyfunction]
fn own_key() -> PyResult<PathBuf> {
    embed::own_key().map_err(errors::raised)
}

/// The address and the public key that are meant by these or by a peer's name; the key of the peer by whose name we connect,
/// where none is given.
#[pyfunction]
fn named_peer(address: &str, listens: bool, key: Option<&str>) -> PyResult<(String, Option<String>)> {
    let find = || {
        let (address, its) = if listens { (address.to_owned(), None) } else { embed::address(address)? };
        let key = key.map(embed::peer_key).transpose()?.or(its);
        Ok((address, key.map(|key| key.to_string())))
    };
    find().map_err(errors::raised)
}

/// The public key of the private one in a file.
#[pyfunction]
fn public_key(file: PathBuf) -> PyResult<String> {
    duologue::channel::Identity::load(file).map(|identity| identity.public().to_string()).map_err(errors::raised)
}
