//! What the fuzz targets of private functions do with their bytes: the decoders of all that a peer sends.
//! `crates/pfe/tests/decoders.rs` runs them on a few thousand inputs.

use pfe::{Offer, Padding, Sizes, Wired, decoders};
use std::sync::OnceLock;

/// A wired function of two gates.
fn wired() -> &'static Wired {
    static WIRED: OnceLock<Wired> = OnceLock::new();
    WIRED.get_or_init(|| {
        let mut c = circuit::Builder::new("fuzz");
        let x = c.bits("x", 3).0;
        let (both, odd) = (c.and(x[0], x[1]), c.xor(x[1], x[2]));
        c.output("y", &circuit::Bits(vec![both, odd]));
        let function = circuit::private::thresholds(&c.finish()).expect("a function");
        Wired::new(function, Padding::default()).expect("wired")
    })
}

fn offer() -> Offer {
    Offer { sizes: *wired().sizes(), runs: 1, id: [3; 32] }
}

/// First messages.
pub fn hello(bytes: &[u8]) {
    decoders::hello(bytes);
}

/// What is proposed before there is a method.
pub fn proposal(bytes: &[u8]) {
    decoders::proposal(bytes);
}

/// Queries and the labels of the result, which are made up: nobody guesses a label.
pub fn queries(bytes: &[u8]) {
    let (queries, labels) = bytes.split_at(bytes.len().min(32 * wired().sizes().queries() as usize));
    assert!(!decoders::garbling(&offer(), queries, labels));
}

/// What announces a run, labels of inputs and tables.
pub fn tables(bytes: &[u8]) {
    let Some((announcement, rest)) = bytes.split_first_chunk() else { return };
    let Sizes { inputs, .. } = *wired().sizes();
    let (labels, tables) = rest.split_at(rest.len().min(32 * inputs as usize));
    decoders::evaluation(wired(), &offer(), announcement, labels, tables);
}
