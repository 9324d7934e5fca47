//! `docs/pitfalls.md` names a test for every rule: each of them exists, in the file that is named before it.

use std::fs::read_to_string;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/pitfalls.md");

/// A file of the page: from the root, from `crates` or from this crate.
fn source(path: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = path.replace('…', "src");
    ["crates/duologue", "crates", "."].iter().find_map(|folder| read_to_string(root.join(folder).join(&path)).ok())
}

/// What is named and does not exist: files, and functions that the last file before them does not have.
fn missing(page: &str) -> Vec<&str> {
    let (mut file, mut missing) = (None, Vec::new());
    for name in page.split('`').skip(1).step_by(2) {
        let exists = if name.ends_with(".rs") {
            file = source(name);
            file.is_some()
        } else {
            !is_function(name) || file.as_ref().is_some_and(|file| file.contains(&format!("fn {name}(")))
        };
        if !exists {
            missing.push(name);
        }
    }
    missing
}

fn is_function(name: &str) -> bool {
    name.contains('_') && name.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
}

#[test]
fn every_test_that_is_named_exists() {
    assert_eq!(missing(PAGE), [""; 0]);
    assert!(PAGE.matches(".rs`").count() > 50, "the page was not read");
}

#[test]
fn every_pitfall_has_its_row() {
    let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| P")).collect();
    assert_eq!(rows.len(), 28);
    for (number, row) in (1..).zip(rows) {
        assert!(row.starts_with(&format!("| P{number} |")) && row.contains('`'), "{row}");
    }
}

/// The broken twin: a test that is not there, one of another file, and a file that is not there.
#[test]
fn names_of_nothing_are_found() {
    let page = "`…/ot/silent/tests.rs`: `a_changed_byte_is_caught`, `salts_are_fresh`, `…/ot/base/tests.rs`: \
        `a_changed_byte_is_caught`, `…/ot/none.rs`: `two_runs_differ`, `make test`, `Session`";
    assert_eq!(missing(page), ["salts_are_fresh", "a_changed_byte_is_caught", "…/ot/none.rs", "two_runs_differ"]);
}
