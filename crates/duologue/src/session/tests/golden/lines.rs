//! Golden files: lines of a name, a direction or party, how many bytes, and their SHA-256.

use super::super::taps::Log;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

const WRITE: &str = "DUOLOGUE_WRITE_VECTORS";

/// The lines of one file, in the order in which they were made.
#[derive(Default)]
pub struct Lines(Vec<String>);

impl Lines {
    /// What each party sent.
    pub fn sent(&mut self, name: &str, logs: [Log; 2]) {
        self.push(name, ["alice-to-bob", "bob-to-alice"], logs.map(|log| log.payload()));
    }

    /// What each party holds.
    pub fn held(&mut self, name: &str, contents: [Vec<u8>; 2]) {
        self.push(name, ["alice", "bob"], contents);
    }

    fn push(&mut self, name: &str, whose: [&str; 2], bytes: [Vec<u8>; 2]) {
        for (whose, bytes) in whose.iter().zip(bytes) {
            let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            self.0.push(format!("{name} {whose} {} {digest}\n", bytes.len()));
        }
    }

    /// Holds them against the file of this name in `vectors`, which is written first if that is asked for.
    pub fn check(&self, file: &str) {
        let path = format!("{}/../../vectors/{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&path, self.0.concat()).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        let (ours, golden) = (by_name(&self.0.concat()), by_name(&golden));
        assert_eq!(ours.len(), self.0.len(), "{file}: a name comes twice");
        let names = ours.keys().chain(golden.keys().filter(|name| !ours.contains_key(*name)));
        let others: Vec<&String> = names.filter(|&name| ours.get(name) != golden.get(name)).collect();
        assert!(others.is_empty(), "{file} has other lines for {others:#?}; if they shall differ, set {WRITE}=1");
    }
}

/// Length and digest of each name and direction.
fn by_name(lines: &str) -> BTreeMap<String, String> {
    let parts = |line: &str| {
        let name = line.match_indices(' ').nth(1).expect("four words").0;
        (line[..name].to_owned(), line[name..].trim().to_owned())
    };
    lines.lines().map(parts).collect()
}
