#![no_main]
#[allow(dead_code)]
#[path = "../src/private.rs"]
mod private;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| private::proposal(bytes));
