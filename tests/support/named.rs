//! For a crate whose tests are one program: a file of tests that nobody names would be left out in silence.

use std::fs::{read_dir, read_to_string};

#[test]
fn every_file_of_tests_is_named() {
    let folder = crate::TESTS;
    let read = |file: &str| read_to_string(file).unwrap();
    let (all, manifest) = (read(&format!("{folder}/all.rs")), read(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
    let files = read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in files.filter_map(|file| file.strip_suffix(".rs").map(str::to_string)).filter(|name| name != "all") {
        let named = all.contains(&format!("mod {name};\n")) || manifest.contains(&format!("\"tests/{name}.rs\""));
        assert!(named, "tests/{name}.rs is neither in tests/all.rs nor a program of its own");
    }
}
