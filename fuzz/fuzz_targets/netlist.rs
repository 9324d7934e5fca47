#![no_main]
#[allow(dead_code)]
#[path = "../src/netlist.rs"]
mod netlist;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| netlist::netlist(bytes));
