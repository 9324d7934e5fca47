#![no_main]
#[allow(dead_code)]
#[path = "../src/homomorphic.rs"]
mod homomorphic;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| homomorphic::ciphertexts(bytes));
