//! Writes the JavaScript between Node and a module that was compiled with `wasm-bindgen`, whose version, by `Cargo.lock`,
//! is that of this program: `duologue-wasm-glue MODULE.wasm FOLDER`.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [module, folder] = &arguments[..] else { return Err("usage: duologue-wasm-glue MODULE.wasm FOLDER".into()) };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).nodejs(true)?.typescript(false).remove_name_section(true).remove_producers_section(true);
    Ok(bindgen.generate(folder)?)
}
