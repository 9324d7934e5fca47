#![no_main]
#[allow(dead_code)]
#[path = "../src/table.rs"]
mod table;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| table::table(bytes));
