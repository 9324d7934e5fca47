#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| duologue_fuzz::driver_message(bytes));
