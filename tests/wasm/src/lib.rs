#![cfg(target_family = "wasm")]
#![forbid(unsafe_code)]
//! One party of a session in WebAssembly. `run.mjs` starts two of them, each in a worker of its own, over one ring.

mod ring;

use duologue::channel::{Channel, Limits};
use duologue::circuit::blocks::{self, Goal};
use duologue::circuit::program::{Binding, Recipient};
use duologue::circuit::{self, BitMatrix, Program, bits};
use duologue::{Inputs, Options, Party, Scheme, Session};
use js_sys::SharedArrayBuffer;
use ring::Ring;
use std::time::Duration;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// Bytes of a key and of a block of AES-128.
const BLOCK: usize = 16;

/// Runs a session of one program: AES-128 of Bob's blocks under Alice's keys, lane by lane. Returns the ciphertexts.
///
/// # Errors
/// Whatever the library says.
#[wasm_bindgen]
pub fn encrypt(shared: SharedArrayBuffer, party: &str, scheme: &str, input: &[u8]) -> Result<Vec<u8>, JsError> {
    let party = if party == "alice" { Party::Alice } else { Party::Bob };
    let program = aes(input.len() / BLOCK)?;
    let channel = Channel::over(Ring::new(&shared, party)?, limits());
    let mut session = Session::connect(channel, party)?;
    let inputs = Inputs::new().with(port(party), BitMatrix::from_byte_rows(8 * BLOCK, input)?);
    let outcome = session.run(&program, &Options::new(scheme.parse::<Scheme>()?), &inputs)?;
    session.close()?;
    let cipher = outcome.outputs.get("cipher").ok_or_else(|| JsError::new("there is no output"))?;
    Ok(cipher.to_byte_rows())
}

fn aes(lanes: usize) -> circuit::Result<Binding> {
    let mut p = Program::new("aes");
    let [key, text] = [Party::Alice, Party::Bob].map(|party| p.input(port(party), party, bits(128), lanes as u64));
    let cipher = p.map(&blocks::find("aes128")?.circuit(&[], Goal::Size)?, &[key, text]);
    p.output("cipher", Recipient::Both, cipher);
    p.bind(&[])
}

fn port(party: Party) -> &'static str {
    match party {
        Party::Alice => "key",
        Party::Bob => "text",
    }
}

/// A busy machine may take its time: no thread says meanwhile that a party is alive.
fn limits() -> Limits {
    Limits::default().silence(Duration::from_secs(600)).progress(Duration::from_secs(600))
}
