#![no_main]
#[allow(dead_code)]
#[path = "../src/bfv.rs"]
mod bfv;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bfv::bfv(bytes));
