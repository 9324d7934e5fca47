//! What the fuzz targets of private functions do with their bytes: the decoders of all that a peer sends.
//! `crates/pfe/tests/decoders.rs` runs them on a few thousand inputs.

use he::djn::DjnOf;
use he::elgamal::ElGamal;
use he::linear::Labels;
use pfe::linear::{Linear, Netlist};
use pfe::{Offer, Padding, Sizes, Wired, decoders};
use std::sync::{Mutex, OnceLock};

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

/// A key that is made quickly, and that anybody can break.
type Small = DjnOf<512>;

/// One run of Katz and Malka's protocol, of one function.
fn linear<S: Linear>() -> decoders::Linear<S> {
    let mut c = circuit::Builder::new("fuzz");
    let x = c.bits("x", 3).0;
    let odd = c.xor(x[1], x[2]);
    c.output("y", &circuit::Bits(vec![odd]));
    let function = circuit::private::nands(&c.finish()).expect("a function");
    decoders::Linear::new(Netlist::new(&function, None).expect("gates")).expect("a key")
}

static OF_POINTS: OnceLock<Mutex<decoders::Linear<ElGamal>>> = OnceLock::new();
static OF_INTEGERS: OnceLock<Mutex<decoders::Linear<Small>>> = OnceLock::new();

/// Answers and the labels of the result, for both schemes: nobody guesses a label.
pub fn answers(bytes: &[u8]) {
    fn one<S: Linear>(run: &mut decoders::Linear<S>, bytes: &[u8]) {
        let (answers, labels) = bytes.split_at(bytes.len().min(S::answers(8)));
        assert!(!run.garbling(answers, labels));
    }
    let mut points = OF_POINTS.get_or_init(|| Mutex::new(linear())).lock().expect("one thread");
    one(&mut points, bytes);
    one(&mut OF_INTEGERS.get_or_init(|| Mutex::new(linear())).lock().expect("one thread"), bytes);
}

/// A key, ciphertexts, labels and tables, for both schemes.
pub fn ciphertexts(bytes: &[u8]) {
    fn one<S: Linear>(run: &mut decoders::Linear<S>, bytes: &[u8]) {
        let mut rest = bytes;
        let mut take = |length: usize| {
            let (part, after) = rest.split_at(rest.len().min(length));
            rest = after;
            part
        };
        let (key, wires) = (take(S::KEY), [take(S::ciphertexts(3)), take(S::ciphertexts(3))]);
        let labels = take(3 * <S::Labels as Labels>::BYTES);
        run.evaluation(key, wires, labels, rest);
    }
    let mut points = OF_POINTS.get_or_init(|| Mutex::new(linear())).lock().expect("one thread");
    one(&mut points, bytes);
    one(&mut OF_INTEGERS.get_or_init(|| Mutex::new(linear())).lock().expect("one thread"), bytes);
}
