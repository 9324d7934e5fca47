//! The fuzz target of netlists on a bounded number of inputs: random bytes, and valid ones that came to harm.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use synthesis::netlist::Module;

#[path = "../../../fuzz/src/netlist.rs"]
mod netlist;

/// What may replace a part of a netlist.
const PARTS: [&str; 16] = [
    "$dff",
    "$mul",
    "$pow",
    "$shiftx",
    "$macc",
    "[",
    "]",
    "0",
    "\"z\"",
    "-1",
    "18446744073709551615",
    "[2,2,2,2]",
    "\"x\"",
    "input",
    "output",
    "\"\"",
];

#[test]
fn seeds_are_read() {
    for seed in netlist::netlists() {
        let module = Module::read(&seed);
        assert!(module.is_ok(), "{}: {}", module.unwrap_err(), String::from_utf8_lossy(&seed));
        netlist::netlist(&seed);
    }
}

/// A reader that gives a byte at a time, so that every value crosses what was read so far.
struct Slowly<'a>(&'a [u8]);

impl std::io::Read for Slowly<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let [first, rest @ ..] = self.0 else { return Ok(0) };
        let Some(byte) = into.first_mut() else { return Ok(0) };
        (*byte, self.0) = (*first, rest);
        Ok(1)
    }
}

#[test]
fn a_netlist_is_the_same_however_it_is_read() {
    for seed in netlist::netlists() {
        let [whole, slowly] =
            [Module::read(&seed), Module::read_from(Slowly(&seed), &[])].map(|module| format!("{:?}", module.unwrap()));
        assert_eq!(whole, slowly);
    }
    // A text with what ends others, longer than what is read at once.
    let long = format!(r#"{{"creator":"\"}}],\\","x":"{}","modules":{{"m":{{}}}}}}"#, r#"\"}{"#.repeat(1 << 20));
    assert_eq!(Module::read(long.as_bytes()).unwrap().creator, r#""}],\"#);
}

#[test]
fn what_is_no_netlist_has_a_line() {
    let why = |text: &str| Module::read(text.as_bytes()).unwrap_err().to_string();
    assert!(why("{\n\"modules\":\n{\"m\":{\"cells\":{\"c\":{\n\"type\": 5}}}}}").contains("line 4: invalid type"));
    assert!(why("{\n\n\"modules\" {}}").contains("line 3: ':' is missing"));
    assert!(why("{\"modules\":{\"m\":{}}").contains("line 1: neither ',' nor '}'"));
    assert!(why("{\"modules\":{\"m\":{}}} 7").contains("more behind the end"));
    assert!(why("{}").contains("no entry 'modules'"));
    assert!(why(&format!("{{\"x\":{}", "[".repeat(1 << 20))).contains("ends too early"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn netlist(
        seed in select(netlist::netlists()),
        harm in prop::collection::vec((any::<Index>(), 0usize..12, select(&PARTS[..]), any::<u8>()), 1..4),
    ) {
        let mut bytes = seed;
        for (at, length, part, kind) in harm {
            let at = at.index(bytes.len() + 1);
            let end = (at + length).min(bytes.len());
            match kind % 4 {
                0 => bytes.truncate(at),
                1 => drop(bytes.splice(at..end, part.bytes())),
                2 => bytes.extend_from_within(at..end),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = byte.wrapping_add(1)),
            }
        }
        netlist::netlist(&bytes);
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        netlist::netlist(&bytes);
    }
}

#[test]
fn every_target_has_its_file() {
    let file = format!("{}/../../fuzz/fuzz_targets/netlist.rs", env!("CARGO_MANIFEST_DIR"));
    assert!(std::path::Path::new(&file).exists(), "{file}");
}
