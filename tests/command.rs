//! Every verb and its messages, in one process.

use crate::process::Place;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const AWAY: &str = "--insecure-plaintext --connect 127.0.0.1:1 --wait 60";

/// A line is assumed for a choice alone.
#[test]
fn a_line_is_assumed_for_a_choice_alone() {
    let place = Place::new();
    let fill = format!("pool fill --as bob {AWAY} --pool new --triples 1k --assume-link lan");
    place.run(&format!("{fill} --correlations silent16w")).failed(2, &["--assume-link is for", "silent16w is named"]);
    let prepare = format!("prepare block:add:10 --as bob {AWAY} --to runs --times 1 --size lanes=1 --assume-link lan");
    place.run(&format!("{prepare} --correlations softspoken2")).failed(2, &["softspoken2 is named"]);
}

#[test]
fn inputs_are_checked_before_anybody_is_called() {
    let place = Place::new();
    place.write("wide.csv", "1,0\n");
    place.write("words.csv", "one\n");
    place.write("text.npy", "not an array");
    let bob = format!("run block:add:10 --as bob {AWAY} --yes");
    for (args, code, words) in [
        ("--input b=1024", 1, &["'b'", "lane 0", "0 to 1023", "uint(10)"][..]),
        ("--input b=1,2,-1", 1, &["'b'", "lane 2", "0 to 1023"]),
        ("--input b=wide.csv", 1, &["'b'", "lane 0", "2 columns", "10 columns of 0 and 1"]),
        ("--input b=words.csv", 1, &["'b'", "lane 0", "0 to 1023"]),
        ("--input b=text.npy", 7, &["'b'", "text.npy", "header"]),
        ("--input b=none.npy", 8, &["'b'", "none.npy", "No such file"]),
        ("--input b=numbers.txt", 1, &["hint: files are read if their names end in .npy or .csv"]),
        ("--input b=1 --size lanes=2", 1, &["'b'", "has 1 lane:", "expected 2"]),
        ("--input b=1 --input b=2", 1, &["'b' is given twice"]),
        ("--input a=1", 1, &["'a' belongs to alice"]),
        ("--input c=1", 1, &["no input 'c'", "hint: its inputs are a, b"]),
        ("", 1, &["the size 'lanes'", "hint: --size lanes=NUMBER"]),
        ("--size lanes=3", 1, &["the input 'b' is not given: 3 × uint(10)"]),
        ("--size lanes=-3", 2, &[]),
        ("--size lane=3", 1, &["did you mean lanes"]),
        ("--input b=1 --output sum=x.csv", 1, &["no output 'sum'", "hint: bob learns out"]),
        ("--input b=1 --json --output out=-", 1, &["--json"]),
        (
            "--input b=1 --protocol yao --assume-link lan --correlations softspoken2",
            2,
            &["--assume-link is for --correlations auto", "softspoken2 is named"],
        ),
        ("--input b=1 --protocol gmw --wish bytes", 2, &["--wish is for --protocol auto, not for gmw"]),
        ("--input b=1 --protocol auto --assume-link lan --wish luck", 2, &["total, online, bytes"]),
        (
            "--input b=1 --protocol gmw --assume-link lan --pool there",
            2,
            &["--assume-link is for", "the pool there has its maker"],
        ),
    ] {
        place.run(&format!("{bob} {args}")).failed(code, words);
    }
    place.run(&format!("run app:scifi --as bob {AWAY} --yes --size faces=0")).failed(1, &["faces", "not between"]);
    let hit = format!("run app:scifi:8 --as bob {AWAY} --yes --input gallery=00 --input limits=1 --output hit=x.csv");
    place.run(&hit).failed(1, &["'hit' is for alice"]);
}

/// Method, form and protocol go together, or the command says what does not.
#[test]
fn flags_of_argmin_that_would_do_nothing_are_refused() {
    let place = Place::new();
    let run = format!("run app:argmin:8 --as bob {AWAY} --yes");
    for (flags, words) in [
        ("--protocol yao", &["run by gmw, not by yao", "hint: leave out --protocol"][..]),
        ("--protocol gmw-masked --form halves", &["run by gmw, not by gmw-masked"]),
        ("--protocol gmw --form xor --method kolesnikov --size values=2", &["run by yao, not by gmw"]),
        ("--form halves --schedule lan", &["leave out --schedule"]),
        ("--form xor --method schneider --schedule lan", &["only the method auto looks at a line"]),
        ("--form xor --method kolesnikov", &["made for a number of values: --size values=N"]),
        ("--form xor --method huang --argument 8 --size values=3", &["shows Bob the place", "--leaky"]),
        ("--form xor --method aby_yao --argument 8 --leaky", &["--leaky is for the methods huang"]),
        ("--leaky", &["--leaky is for the methods huang"]),
        ("--method erkin", &["--form encrypted"]),
        ("--server alice", &["are for form encrypted"]),
        ("--form halves --ots one", &["--ots is for the other forms"]),
        ("--form encrypted --server alice --method erkin --ots one", &["leave out --ots"]),
        ("--form encrypted --server alice --method boma --leaky --ots both", &["leave out --ots"]),
        ("--form encrypted --server alice --key-bits 2048", &["--key-bits is for costs"]),
        // The protocol that it is may be said: then the next thing is missing.
        ("--protocol gmw --size values=2", &["the input 'bob_shares' is not given"]),
        ("--protocol yao --form xor --method kolesnikov --size values=2", &["the input 'values' is not given"]),
        ("--schedule 200ms,10Mbit --size values=1000000000000000000", &["values", "1048576"]),
    ] {
        place.run(&format!("{run} {flags}")).failed(1, words);
    }
    let prepare = format!("prepare app:argmin:8 --as bob {AWAY} --to runs --size values=3 --form xor");
    for method in ["schneider", "duologue", "aby_gmw --argument 8"] {
        let words = ["prepared by yao, and this method runs by gmw", "hint: --method kolesnikov"];
        place.run(&format!("{prepare} --method {method}")).failed(1, &words);
        place.run(&format!("{run} --form xor --size values=3 --prepared runs --method {method}")).failed(1, &words);
    }
    // The default of a configuration file is no wish for this program.
    let config = place.write("gmw.toml", "[defaults]\nprotocol = \"gmw-masked\"\n");
    let mut command = place.command(&format!("{run} --size values=2"));
    let output = command.env("DUOLOGUE_CONFIG", config).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the input 'bob_shares' is not given"), "{said}");
}

#[test]
fn programs_that_are_none() {
    let place = Place::new();
    place.write("text.duo", "a text");
    place.run("export app:scifi:8 -o good.duo").succeeded();
    let mut bytes = std::fs::read(place.path("good.duo")).unwrap();
    bytes[40] ^= 1;
    place.write("changed.duo", &bytes);
    place.write("cut.duo", &bytes[..20]);
    for (args, code, words) in [
        ("inspect none.duo", 8, &["none.duo", "hint: "][..]),
        ("inspect text.duo", 7, &["text.duo"]),
        ("inspect changed.duo", 7, &["changed.duo", "digest"]),
        ("inspect cut.duo", 7, &["cut.duo"]),
        ("inspect block:aes", 1, &["aes128"]),
        ("inspect block:add:0", 1, &["width must be 1 to"]),
        ("inspect block:add:x", 1, &["'x' is no size"]),
        ("inspect block:add:8:speed", 1, &["size or depth"]),
        ("inspect app:none", 1, &["no app is named 'none'"]),
        ("inspect app:scifi:0", 1, &["1 to"]),
        ("import text.duo -o x.duo", 7, &["text.duo", "line 1"]),
        ("import text.duo -o x.duo --format aiger", 7, &["text.duo", "'aag' or 'aig'"]),
        ("optimise text.duo -o x.pdf", 1, &["x.pdf", "FILE.duo", "FILE.bristol"]),
        ("optimise none.aig -o x.duo", 8, &["none.aig"]),
        ("export app:scifi -o x.zip", 1, &["FILE.duo"]),
        ("export app:scifi -o x.duo --inputs bob", 1, &["owners"]),
        ("run", 2, &[]),
        ("nothing", 2, &[]),
    ] {
        place.run(args).failed(code, words);
    }
}

#[test]
fn inspect_shows_who_learns_what() {
    let place = Place::new();
    let done = place.run("inspect app:scifi").succeeded().stdout.clone();
    for words in ["alice learns", "bob supplies", "× faces", "906 ANDs, depth 10", "map scifi_match(v3, v1, v2)"] {
        assert!(done.contains(words), "no '{words}' in {done}");
    }
    let report = place.run("inspect app:scifi --size faces=7 --json").json();
    assert_eq!(report["circuits"][0]["ands"], 906);
    let layers: Vec<u64> = serde_json::from_value(report["circuits"][0]["layers"].clone()).unwrap();
    assert_eq!((layers.len(), layers.iter().sum::<u64>()), (10, 906));
    let about = "for each face 1 if it differs from the query in fewer bits than its limit";
    let hit = json!({"name": "hit", "who": "alice learns", "type": "bits(1)", "lanes": "7", "about": about});
    assert_eq!(report["outputs"], json!([hit]));
    assert_eq!(report["sizes"], json!([{"name": "faces", "least": 1, "most": 1 << 24}]));
}

#[test]
fn a_file_has_the_digest_of_what_was_built() {
    let place = Place::new();
    let written = place.run("export block:aes128 -o aes.duo --json").json();
    let read = place.run("inspect aes.duo --json").json();
    assert_eq!(written["digest"], read["digest"]);
    assert_eq!(written["digest"], place.run("inspect block:aes128:size --json").json()["digest"]);
    assert_ne!(written["digest"], place.run("inspect block:aes128:depth --json").json()["digest"]);
}

#[test]
fn blocks_are_listed_with_their_costs() {
    let place = Place::new();
    let report = place.run("blocks --json").json();
    let aes = place.run("blocks aes128 --json").json();
    let costs = aes["costs"].as_array().unwrap().iter().map(|cost| (&cost["name"], &cost["ands"]));
    assert_eq!(costs.collect::<Vec<_>>()[0], (&json!("block:aes128:size"), &json!(6400)));
    let one = place.run("blocks add --size 8 --goal size").succeeded().stdout.clone();
    assert!(one.contains("block:add:8:size") && one.contains('7'), "{one}");
    assert_eq!(one.lines().count(), 3, "{one}");
    // Every name that is listed can be used.
    for name in report["blocks"].as_array().unwrap().iter().chain(report["apps"].as_array().unwrap()) {
        place.run(&format!("inspect {}", name["name"].as_str().unwrap())).succeeded();
    }
}

#[test]
fn cost_predicts_what_the_demo_measures() {
    let place = Place::new();
    // Of a file, as the demo's program is: parties tell each other its outline.
    place.run("export app:scifi -o scifi.duo").succeeded();
    let cost = place.run("cost scifi.duo --size faces=100 --link 10ms,1Gbit --correlations softspoken4 --json").json();
    let demo = place.run("demo --json").json();
    for (cost, run) in cost["protocols"].as_array().unwrap().iter().zip(demo["runs"].as_array().unwrap()) {
        assert_eq!(cost["protocol"], run["protocol"]);
        assert_eq!((&cost["ands"], &cost["depth"]), (&json!(90_600), &json!(10)));
        for phase in ["setup", "online"] {
            let (cost, alice, bob) = (&cost[phase], &run["alice"][phase], &run["bob"][phase]);
            assert_eq!(cost["alice_to_bob"], alice["sent"], "{phase}");
            assert_eq!(cost["bob_to_alice"], bob["sent"], "{phase}");
            assert_eq!([&cost["alice_rounds"], &cost["bob_rounds"]], [&alice["rounds"], &bob["rounds"]], "{phase}");
        }
    }
    // Ten layers take at least ten half round trips.
    assert!(cost["protocols"][1]["online"]["seconds"].as_f64().unwrap() > 0.05);
    let text = place.run("cost app:scifi --size faces=100").succeeded().stdout.clone();
    assert!(text.contains("Fastest in all") && text.contains("AND gates"), "{text}");
    let three = "cost scifi.duo --size faces=100 --garbling three-halves --correlations softspoken4 --json";
    let three = place.run(three).json();
    let (yao, shorter) = (&cost["protocols"][0], &three["protocols"][0]);
    assert_eq!([&yao["garbling"], &shorter["garbling"]], ["half-gates", "three-halves"]);
    let sent = |cost: &Value| cost["setup"]["bob_to_alice"].as_u64().unwrap();
    assert_eq!(sent(yao) + "three-halves".len() as u64 - sent(shorter), 90_600 * 7 + "half-gates".len() as u64);
    place.run("cost app:scifi").failed(1, &["the size 'faces'", "hint: --size faces=NUMBER"]);
    place.run("cost app:scifi --link fast").failed(2, &["10ms,100Mbit"]);
}

#[test]
fn cost_simulates_cores() {
    let place = Place::new();
    let costs = place.run("cost block:aes128 --size lanes=4096 --cores 1,2 --json").json();
    assert_eq!(costs["gates"]["ands"], json!(6400 * 4096));
    let [one, two] = [0, 1].map(|at| &costs["speedups"][at]);
    assert_eq!(
        [&one["fine"], &one["coarse"], &one["both"], &one["shared"]],
        [1.0, 1.0, 1.0, 0.0].map(|x| json!(x)).each_ref()
    );
    let coarse = two["coarse"].as_f64().unwrap();
    assert!(coarse > 1.9 && coarse <= 2.0 && two["fine"].as_f64().unwrap() < coarse);
    // Where nothing but ANDs takes time and there are cores for the widest layer, a layer takes as long as an AND.
    let free = "--xor 0ns --label 0ns --barrier 0ns --piece 1 --and 1us";
    let wide = place.run(&format!("cost block:aes128 --size lanes=1 --cores 256 {free} --json")).json();
    assert!((wide["seconds"].as_f64().unwrap() - 6400.0 * 1e-6).abs() < 1e-12);
    assert!((wide["speedups"][0]["fine"].as_f64().unwrap() - 6400.0 / 60.0).abs() < 1e-9);
    let text = place.run("cost block:aes128 --size lanes=1 --cores 2,64").succeeded().stdout.clone();
    assert!(text.contains("6,400 ANDs in 60 layers") && text.contains("ANDs from"), "{text}");
    place.run("cost block:add:8 --size lanes=1 --cores 2 --and fast").failed(2, &["6.8ns"]);
    for args in ["--cores 0", "--cores 2 --link lan", "--and 5ns"] {
        place.run(&format!("cost block:add:8 --size lanes=1 {args}")).failed(2, &[]);
    }
    place.run("cost app:equality:8 --size lanes=1 --cores 2").failed(1, &["calls"]);
}

#[test]
fn keys_are_made_once() {
    let place = Place::new();
    place.run("keys").failed(8, &["hint: `duologue keys new` makes one"]);
    let made = place.run("keys new");
    assert!(made.succeeded().stdout.starts_with("duo1"), "{}", made.stdout);
    assert!(made.stderr.contains("keep it to yourself"));
    assert_eq!(place.run("keys show").succeeded().stdout, made.stdout);
    assert_eq!(place.run("keys --json").json()["public_key"], made.stdout.trim());
    place.run("keys new").failed(1, &["exists", "never overwritten"]);
    assert_eq!(place.run("keys show").succeeded().stdout, made.stdout);
    let private = std::fs::read_to_string(place.path("config/duologue/key")).unwrap();
    assert!(private.starts_with("-----BEGIN PRIVATE KEY-----"));
    place.run(&format!("run block:add --as bob --connect x:1 --peer-key {}x", made.stdout.trim())).failed(2, &[]);
}

#[test]
fn consent_is_asked_for() {
    let place = Place::new();
    let run = format!("run block:add:8 --as alice --input a=1 {AWAY}");
    let digest = place.run("inspect block:add:8 --json").json()["digest"].as_str().unwrap().to_string();
    let refused = place.run(&run);
    refused.failed(10, &["nobody is at a terminal", "--yes", &digest]);
    place.run(&format!("{run} --expect-digest 00")).failed(10, &["not the expected one"]);
    let common = format!("block:add:8 --insecure-plaintext --expect-digest {digest}");
    let (alice, bob) = place.both(&common, "--input a=1", "--input b=2");
    assert_eq!((alice.succeeded().stdout.as_str(), bob.succeeded().stdout.as_str()), ("out = 3\n", "out = 3\n"));
}

/// Runs a command on a terminal of its own, where somebody types `answer`.
#[cfg(target_os = "linux")]
fn typed(place: &Place, args: &str, answer: &str) -> (Option<i32>, String) {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_duologue"));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(place.path("."));
    script.env("XDG_CONFIG_HOME", place.path("config"));
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script (bsdutils)");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(answer.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What is prepared is Yao's, whatever another run would be.
#[test]
#[cfg(target_os = "linux")]
fn consent_to_a_prepared_run_names_its_protocol() {
    let place = Place::new();
    let common = format!("run app:argmin:8 --as bob {AWAY} --input bob_shares=1,2");
    let (code, shown) = typed(&place, &common, "n\n");
    assert!(code != Some(0) && shown.contains("you are  bob, by gmw"), "{shown}");
    let (code, shown) = typed(&place, &format!("{common} --prepared runs"), "n\n");
    assert!(code != Some(0) && shown.contains("you are  bob, by yao"), "{shown}");
}

#[test]
#[cfg(target_os = "linux")]
fn consent_given_on_a_terminal_is_remembered_for_this_peer() {
    let place = Place::new();
    let [tls, other] = place.tls();
    // Nobody listens: whoever consents is told so, with another code than whoever does not.
    let run = |tls: &str, size: u32| {
        format!("run app:scifi:8 --as alice --input query=00 --size faces={size} {tls} --connect 127.0.0.1:1 --wait 0")
    };
    let (code, shown) = typed(&place, &run(&tls, 5), "n\n");
    assert_eq!(code, Some(10), "{shown}");
    for words in ["Run it? [y/N]", "alice supplies", "(you)", "alice learns", "faces = 5", "bits(8)", "5 lanes"] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    let (code, shown) = typed(&place, &run(&tls, 5), "y\n");
    assert_eq!(code, Some(8), "{shown}");
    place.run(&run(&tls, 6)).failed(8, &["before"]);
    place.run(&run(&other, 6)).failed(10, &[]);
    place.run(&run(&tls, 6).replace("scifi:8", "scifi:16").replace("=00", "=0000")).failed(10, &[]);
}

#[test]
#[cfg(target_os = "linux")]
fn what_takes_longer_than_a_second_shows_how_far_it_is() {
    let place = Place::new();
    let (code, shown) = typed(&place, "demo --faces 1500 --protocol gmw --link 40Mbit", "");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("scifi, gmw, setup") && shown.contains("of 1,359,000"), "{shown}");
    let (_, shown) = typed(&place, "demo --faces 1500 --protocol gmw --link 40Mbit --quiet", "");
    assert!(!shown.contains("of 1,359,000"), "{shown}");
}

#[test]
fn a_demo_without_a_place_for_its_files_says_so() {
    let place = Place::new();
    let done = place.command("demo").env("TMPDIR", "/nowhere").output().unwrap();
    assert_eq!(done.status.code(), Some(8));
    assert!(String::from_utf8_lossy(&done.stderr).contains("error: making a temporary folder"));
}

#[test]
fn logs_hold_no_secret_and_results_stay_on_standard_output() {
    let place = Place::new();
    let tls = place.tls();
    let secret = "5ec4e7f00dfacade5ec4e7f00dfacade";
    let (listener, address) =
        place.listen(&format!("run block:aes128 --as bob {} --input block={secret} --yes", tls[1]));
    let alice = format!("run block:aes128 --as alice {} --connect {address} --input key={secret} --yes --json", tls[0]);
    let done = place.command(&alice).env("RUST_LOG", "trace").output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(!said.contains(secret) && !said.contains("PRIVATE"), "{said}");
    serde_json::from_slice::<serde_json::Value>(&done.stdout).expect("nothing but JSON");
    listener.end().succeeded();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::new();
    let mut child = place.command("blocks").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn help_is_there_for_every_verb() {
    let place = Place::new();
    let help = place.run("--help").succeeded().stdout.clone();
    assert!(help.contains("Exit codes:"));
    for verb in ["demo", "run", "cost", "inspect", "blocks", "import", "optimise", "export", "keys"] {
        assert!(help.contains(verb), "no {verb} in {help}");
        place.run(&format!("{verb} --help")).succeeded();
    }
}

#[test]
fn calls_are_shown_and_counted() {
    let place = Place::new();
    let shown = place.run("inspect app:equality").succeeded().stdout.clone();
    for words in ["v2 = call \"duologue:equality\" version 2 (v0, v1)", "both learn"] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    let cost = place.run("cost app:equality:128 --size lanes=1000 --json").json();
    for protocol in cost["protocols"].as_array().unwrap() {
        // 43 pieces of 15 + 4 bits for each string, in five messages.
        let online = &protocol["online"];
        let sent = online["alice_to_bob"].as_u64().unwrap() + online["bob_to_alice"].as_u64().unwrap();
        assert!((1000 * 43 * 19 / 8..1000 * 43 * 19 / 8 + 40_000).contains(&sent), "{protocol}");
        for rounds in ["alice_rounds", "bob_rounds"] {
            assert!(online[rounds].as_u64().unwrap() <= 6, "{protocol}");
        }
    }
}

/// Every row of a table has the paper's figure, ours, and how many times as good that is.
#[test]
fn tables_of_papers_are_reproduced() {
    let place = Place::new();
    let table: serde_json::Value =
        serde_json::from_str(&place.run("reproduce boma/5 --json").succeeded().stdout).unwrap();
    let rows = table["rows"].as_array().unwrap();
    for protocol in ["kolesnikov", "huang", "aby_yao", "schneider", "aby_gmw", "erkin", "boma", "duologue"] {
        let rows: Vec<_> = rows.iter().filter(|row| row["row"] == protocol).collect();
        assert_eq!(rows.len(), 9, "{protocol}");
        for row in rows {
            let number = |name: &str| row[name].as_f64().unwrap();
            assert!((number("ratio") * number("ours") / number("paper") - 1.0).abs() < 1e-3, "{row}");
            assert_eq!((row["table"].as_str(), row["unit"].as_str()), (Some("boma/5"), Some("MiB")), "{row}");
            assert!(["exact", "computed"].contains(&row["how"].as_str().unwrap()), "{row}");
        }
    }
    let column = |name: &str| rows.iter().any(|row| row["column"] == name);
    assert!(["short/32", "medium/64", "long/128"].into_iter().all(column));
    assert!(place.run("reproduce boma/2").succeeded().stdout.contains("aby_gmw"));
    let one: serde_json::Value =
        serde_json::from_str(&place.run("reproduce boma/2 --row schneider --json").succeeded().stdout).unwrap();
    assert!(one["rows"].as_array().unwrap().iter().all(|row| row["row"] == "schneider"));
    place.run("reproduce boma/5 --row nobody").failed(1, &["boma/5 has no row 'nobody'"]);
    place
        .run("reproduce boma/4")
        .failed(1, &["'boma/4' is no table", "boma/2, boma/3, boma/5, linear-pfe/1, linear-pfe/2, linear-pfe/3"]);
    place.run("reproduce").failed(2, &["PAPER/TABLE"]);
    place.run("reproduce gmw-vs-yao --row add_rc").failed(1, &["--row add_rc is of one table, and these are 7"]);
    place.run("reproduce --all gmw-vs-yao/7").failed(2, &["--all"]);
}

/// Cells with units of their own, and whether they lose.
#[test]
fn circuits_and_lengths_of_a_paper_are_reproduced() {
    let place = Place::new();
    let rows_of = |table: &str| -> Vec<serde_json::Value> {
        let run = place.run(&format!("reproduce gmw-vs-yao/{table} --json"));
        let table: serde_json::Value = serde_json::from_str(&run.succeeded().stdout).unwrap();
        table["rows"].as_array().unwrap().clone()
    };
    let find = |rows: &[serde_json::Value], row: &str, column: &str| {
        rows.iter().find(|cell| cell["row"] == row && cell["column"] == column).unwrap().clone()
    };
    let circuits = rows_of("7");
    let squares = find(&circuits, "sqr_rc", "32/ands");
    assert_eq!((squares["unit"].as_str(), squares["how"].as_str()), (Some("ANDs"), Some("exact")));
    assert_eq!((squares["paper"].as_f64(), squares["loses"].as_bool()), (Some(992.0), Some(false)));
    assert_eq!(find(&circuits, "sqr_rc", "32/depth")["unit"], "layers");
    let lengths = rows_of("3");
    assert_eq!(find(&lengths, "online_bits_bob_to_alice", "yao")["loses"], true);
    assert_eq!(find(&lengths, "setup_bits_each_way", "gmw")["loses"], false);
}

/// A figure that our text of a paper lacks is said to be lost; shares lose nowhere, rivals stand beside the sum of the phases.
#[test]
fn cells_of_synthesis_and_of_threads_are_reproduced() {
    let place = Place::new();
    let rows_of = |args: &str| -> Vec<serde_json::Value> {
        let run = place.run(&format!("reproduce {args} --json"));
        let table: serde_json::Value = serde_json::from_str(&run.succeeded().stdout).unwrap();
        table["rows"].as_array().unwrap().clone()
    };
    let find =
        |rows: &[serde_json::Value], column: &str| rows.iter().find(|cell| cell["column"] == column).unwrap().clone();
    let circuit = rows_of("automated-synthesis/4 --row log2/32/circuit");
    let ands = find(&circuit, "ands");
    assert_eq!(
        (ands["paper"].is_null(), ands["lost"].as_bool(), ands["unit"].as_str()),
        (true, Some(true), Some("ANDs"))
    );
    assert!(find(&circuit, "compile").get("lost").is_none());
    assert!(place.run("reproduce automated-synthesis/4 --row log2/32/circuit").succeeded().stdout.contains("(lost)"));
    let rival = rows_of("automated-synthesis/2 --quick --row 64/abzs13/setup+online");
    let papers: Vec<f64> = rival.iter().map(|cell| cell["paper"].as_f64().unwrap()).collect();
    assert_eq!(papers, [60.0, 41.0, 40.0]);
    assert!(rival.iter().all(|cell| cell["how"] == "computed" && cell["unit"] == "ms"));
    let share = find(&rows_of("parallel-gc/layers --row mean"), "xor_share");
    assert_eq!(
        (share["unit"].as_str(), share["paper"].as_f64(), share["loses"].as_bool()),
        (Some("%"), Some(74.0), Some(false))
    );
}
