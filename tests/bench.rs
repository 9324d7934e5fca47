//! The benchmarks as users run them, with few correlations: form and bytes, not times.

#[path = "support/process.rs"]
mod process;

use process::Place;
use serde_json::Value;

/// Runs it without openssl, which takes seconds, unless it is there at `path`.
fn figures(place: &Place, path: &str, args: &str) -> Value {
    let mut command = place.command(&format!("bench correlations --json --quiet --runs 1 {args}"));
    let output = command.env("PATH", path).output().expect("the command starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn figure<'a>(report: &'a Value, name: &str) -> &'a Value {
    let found: Vec<&Value> =
        report["figures"].as_array().expect("a list").iter().filter(|f| f["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name} in {report}");
    found[0]
}

/// Bits of a COT by the parameters alone: a row of corrections for each tree but one.
fn softspoken(k: f64) -> f64 {
    (128.0 / k).ceil() - 1.0
}

#[test]
fn every_figure_has_its_form_and_its_bits() {
    let names = "softspoken1,softspoken2,softspoken4,softspoken8,softspoken4_one_way,triples_softspoken8,base_ot_ms,\
                 random_ot,random_bit_ot,random_ot_1_of_16,bit_vector_triples_128";
    let report = figures(&Place::new(), "", &format!("--count 65536 --only {names}"));
    for (name, unit, bits) in [
        ("softspoken1", "COT/s", softspoken(1.0)),
        ("softspoken2", "COT/s", softspoken(2.0)),
        ("softspoken4", "COT/s", softspoken(4.0)),
        ("softspoken8", "COT/s", softspoken(8.0)),
        ("softspoken4_one_way", "COT/s", softspoken(4.0)),
        ("triples_softspoken8", "triples/s", 2.0 * softspoken(8.0)),
        ("random_ot", "OT/s", softspoken(4.0)),
        ("random_bit_ot", "OT/s", softspoken(4.0)),
        ("random_ot_1_of_16", "OT/s", 4.0 * softspoken(4.0)),
        ("bit_vector_triples_128", "triples/s", 2.0 * softspoken(4.0)),
    ] {
        let figure = figure(&report, name);
        assert!(figure["value"].as_f64().unwrap() > 0.0 && figure["unit"] == unit, "{figure}");
        assert!((figure["bits"].as_f64().unwrap() / bits - 1.0).abs() < 0.05, "{bits} bits: {figure}");
        assert!(figure["ratio"].is_null() && figure["setup_ms"].as_f64().unwrap() > 0.0, "{figure}");
    }
    let base = figure(&report, "base_ot_ms");
    assert!(base["value"].as_f64().unwrap() > 0.0 && base["unit"] == "ms", "{base}");
    assert!(base["ratio"].is_null() && base["bits"].is_null(), "{base}");
    assert!(report["openssl_blocks_per_second"].is_null() && report["commit"].is_null(), "{report}");
    assert!(report["machine"].as_str().is_some_and(|machine| !machine.is_empty()), "{report}");
}

#[test]
fn openssl_runs_beside_it() {
    let path = std::env::var("PATH").unwrap_or_default();
    let report = figures(&Place::new(), &path, "--only base_ot_ms");
    let blocks = &report["openssl_blocks_per_second"];
    assert!(blocks.is_null() || blocks.as_f64().unwrap() > 1e6, "{report}");
    assert_eq!(report["figures"].as_array().map(Vec::len), Some(2), "{report}");
}

#[test]
fn two_machines_measure_together() {
    let place = Place::new();
    let [alice, bob] = place.tls();
    let common = "bench correlations --json --only softspoken8 --count 1000 --runs 1";
    let (bob, address) = place.listen(&format!("{common} --as bob {bob}"));
    let alice = place.run(&format!("{common} --as alice {alice} --connect {address}")).json();
    let bob = bob.end().json();
    assert_eq!(figure(&alice, "softspoken8")["bits"], figure(&bob, "softspoken8")["bits"]);
    assert_eq!(alice["tls"], true);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    place.run("bench correlations --only softspoken9").failed(1, &["no figure is called 'softspoken9'", "hint: "]);
    assert_eq!(place.run("bench correlations --as alice").code, Some(2));
    assert_eq!(place.run("bench correlations --book . --only softspoken1").code, Some(2));
    assert_eq!(place.run("bench").code, Some(2));
}
