//! The fuzz target of netlists on a bounded number of inputs: random bytes, and valid ones that came to harm.

use proptest::prelude::*;
use proptest::sample::{Index, select};

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
        let module = synthesis::netlist::Module::read(&seed);
        assert!(module.is_ok(), "{}: {}", module.unwrap_err(), String::from_utf8_lossy(&seed));
        netlist::netlist(&seed);
    }
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
