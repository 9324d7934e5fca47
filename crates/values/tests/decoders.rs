//! The fuzz target of tables on a bounded number of inputs: random bytes, and valid ones that came to harm.

use proptest::prelude::*;
use proptest::sample::{Index, select};

#[path = "../../../fuzz/src/table.rs"]
mod table;

/// What may replace a part of a table.
const PARTS: [&str; 14] = [
    "\"",
    ",",
    "\n",
    "\r\n",
    ":",
    "-",
    "0x",
    "id",
    "name\n",
    "99999999999999999999",
    "2024-01-01",
    "nan",
    "\u{feff}",
    "\0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn harmed(
        seed in select(table::tables()),
        harm in prop::collection::vec((any::<Index>(), 0usize..12, select(&PARTS[..]), any::<u8>()), 0..4),
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
        table::table(&bytes);
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        table::table(&bytes);
    }
}

#[test]
fn every_target_has_its_file() {
    let file = format!("{}/../../fuzz/fuzz_targets/table.rs", env!("CARGO_MANIFEST_DIR"));
    assert!(std::path::Path::new(&file).exists(), "{file}");
}
