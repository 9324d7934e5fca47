//! The benchmarks as users run them, with few correlations: form and bytes, not times.

use crate::process::Place;
use serde_json::Value;

/// Runs it without openssl, which takes seconds, unless it is there at `path`.
fn figures(place: &Place, path: &str, args: &str) -> Value {
    bench(place, path, &format!("correlations {args}"))
}

fn bench(place: &Place, path: &str, args: &str) -> Value {
    let mut command = place.command(&format!("bench {args} --json --quiet --runs 1"));
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

/// Name, unit, and whether there is a ratio to R.
const ENGINES: [(&str, &str, bool); 34] = [
    ("garble", "AND/s", true),
    ("evaluate", "AND/s", true),
    ("garble_cold", "AND/s", true),
    ("evaluate_cold", "AND/s", true),
    ("strands2_garble", "times", false),
    ("strands2_evaluate", "times", false),
    ("threads2_garble", "times", false),
    ("threads2_evaluate", "times", false),
    ("threads2", "times", false),
    ("threads2_garble_1strand", "times", false),
    ("threads2_evaluate_1strand", "times", false),
    ("threads2_gmw", "times", false),
    ("threads2_masked", "times", false),
    ("threads2_softspoken4", "times", false),
    ("threads2_triples", "times", false),
    ("threads2_silent", "times", false),
    ("mover_garble", "AND/s", true),
    ("mover_evaluate", "AND/s", true),
    ("yao_memory", "AND/s", true),
    ("channel_tcp", "GB/s", false),
    ("yao_tcp", "AND/s", true),
    ("channel_tls", "GB/s", false),
    ("yao_tls", "AND/s", true),
    ("aes_latency", "µs", false),
    ("aes_latency_memory", "µs", false),
    ("session_start", "ms", false),
    ("aes_first_tls", "ms", false),
    ("gmw_alone", "AND/s", true),
    ("gmw_online_memory", "AND/s", true),
    ("gmw_online", "AND/s", true),
    ("gmw_product512", "ms", false),
    ("stream_memory_yao", "MB", false),
    ("stream_memory_gmw", "MB", false),
    ("stream_memory", "MB", false),
];

#[test]
fn every_figure_of_the_engines_has_its_form() {
    let report = bench(&Place::new(), "", "--quick --count 10M");
    assert_eq!(report["figures"].as_array().map(Vec::len), Some(ENGINES.len()));
    for (name, unit, _) in ENGINES {
        let figure = figure(&report, name);
        assert!(figure["value"].as_f64().unwrap() > 0.0 && figure["unit"] == unit, "{figure}");
        assert!(figure["ratio"].is_null(), "there is no openssl: {figure}");
        let (session, mover) = (["yao_tcp", "yao_tls"].contains(&name), name.starts_with("mover"));
        for part in ["of_memory", "of_possible", "engine", "channel"] {
            let compared = session || mover && part != "of_memory";
            assert_eq!(figure[part].as_f64().is_some_and(|part| part > 0.0), compared, "{part} of {figure}");
        }
    }
    assert_eq!(figure(&report, "garble")["ands"], 41 * 6400);
    assert!(report["openssl_blocks_per_second"].is_null() && report["quick"] == true, "{report}");
}

#[test]
fn engines_are_set_beside_openssl() {
    let path = std::env::var("PATH").unwrap_or_default();
    let report = bench(&Place::new(), &path, "--quick --only garble,aes_latency_memory");
    let blocks = report["openssl_blocks_per_second"].as_f64();
    for (name, _, has_ratio) in ENGINES.iter().filter(|(name, ..)| ["garble", "aes_latency_memory"].contains(name)) {
        let figure = figure(&report, name);
        let ratio = blocks.filter(|_| *has_ratio).map(|blocks| figure["value"].as_f64().unwrap() / blocks);
        let differ = figure["ratio"].as_f64().zip(ratio).map(|(a, b)| (a / b - 1.0).abs());
        assert!(differ.is_none_or(|differ| differ < 1e-9), "{figure}");
        assert_eq!(figure["ratio"].is_null(), ratio.is_none(), "{figure}");
    }
}

#[test]
fn circuits_are_measured_in_every_combination() {
    let args = "--circuits sort,block:add:32 --lanes 3 --link none --link 4ms --threads 1,2 --most 100k";
    let report = bench(&Place::new(), "", args);
    let cases = report["cases"].as_array().expect("a list");
    // The smaller sort alone has few enough ANDs.
    let sorts = cases.iter().filter(|case| case["circuit"] == "sort").count();
    let left_out = report["left_out"].as_array().map_or(0, Vec::len);
    assert_eq!((cases.len() - sorts, sorts + left_out), (12, 12), "{report}");
    for case in cases.iter().filter(|case| case["circuit"] == "block:add:32") {
        let number = |name: &str| case[name].as_f64().unwrap_or_else(|| panic!("{name} in {case}"));
        assert_eq!(number("ands"), 3.0 * 31.0, "{case}");
        let bytes = number("setup_bytes") + number("online_bytes");
        match case["protocol"] != "yao" {
            true => assert!(number("rounds") >= 31.0 && number("online_bytes") < 500.0, "{case}"),
            false => assert!(bytes > 32.0 * number("ands"), "{case}"),
        }
        if !case["link"].is_null() {
            // Both send at once: a round takes half a round trip.
            assert!(number("online_ms") >= 2.0 * number("rounds") - 2.0, "{case}");
        }
    }
}

#[test]
fn three_halves_are_measured_as_half_gates_are() {
    let report = bench(&Place::new(), "", "--quick --only garble --garbling three-halves");
    assert!(report["garbling"] == "three-halves" && figure(&report, "garble")["ands"] == 41 * 6400, "{report}");
    let [half, three] = ["half-gates", "three-halves"].map(|garbling| {
        let args = format!("--circuits aes128 --protocols yao --lanes 5 --garbling {garbling}");
        bench(&Place::new(), "", &args)["cases"][0].clone()
    });
    assert_eq!([&half["protocol"], &three["protocol"]], ["yao", "yao, three-halves"]);
    let bytes = |case: &Value| case["setup_bytes"].as_u64().unwrap();
    assert_eq!(bytes(&half) + 2 * 2 - bytes(&three), 5 * 6400 * 7, "but for the name in both parties' terms");
}

/// What both parties report, which meet over TLS.
fn two_machines(common: &str) -> [Value; 2] {
    let place = Place::new();
    let [alice, bob] = place.tls();
    let (bob, address) = place.listen(&format!("{common} --as bob {bob}"));
    let alice = place.run(&format!("{common} --as alice {alice} --connect {address}")).json();
    [alice, bob.end().json()]
}

#[test]
fn two_machines_measure_engines_together() {
    let [alice, bob] = two_machines("bench --json --circuits scifi --protocols gmw --lanes 5 --runs 1");
    for part in ["ands", "rounds", "online_bytes"] {
        assert_eq!(alice["cases"][0][part], bob["cases"][0][part]);
    }
}

#[test]
fn two_machines_measure_together() {
    let [alice, bob] = two_machines("bench correlations --json --only softspoken8 --count 1000 --runs 1");
    assert_eq!(figure(&alice, "softspoken8")["bits"], figure(&bob, "softspoken8")["bits"]);
    assert_eq!(alice["tls"], true);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let place = Place::new();
    place.run("bench correlations --only softspoken9").failed(1, &["no figure is called 'softspoken9'", "hint: "]);
    let gone = ["'triples_silent17'", "hint: ", "'silent17' is gone", "use silent17w"];
    place.run("bench correlations --only triples_silent17").failed(1, &gone);
    assert_eq!(place.run("bench correlations --as alice").code, Some(2));
    place.run("bench --only garbling").failed(1, &["no figure is called 'garbling'", "hint: there are garble, "]);
    place.run("bench --circuits aes").failed(8, &["reading the program aes", "hint: "]);
    let apart = "bench --as alice --connect 127.0.0.1:1";
    place.run(&format!("{apart} --only garble")).failed(1, &["between two machines"]);
    for line in [
        "bench --lanes 3",
        "bench --circuits aes128 --only garble",
        "bench --circuits aes128 --lanes 0",
        "bench --as bob",
    ] {
        assert_eq!(place.run(line).code, Some(2), "{line}");
    }
}
