//! Peers by name, defaults in a file, completions and pages: the command as users set it up.

use crate::process::{Place, repository};
use std::fs;
use std::process::{Command, Stdio};

/// A new key of this place: its file's argument and its public half.
fn key(place: &Place, file: &str) -> String {
    place.run(&format!("keys new --key {file}")).succeeded().stdout.trim().to_string()
}

fn file(place: &Place) -> String {
    fs::read_to_string(place.path("config/duologue/config.toml")).unwrap()
}

#[test]
fn a_name_stands_for_a_key_and_changes_only_if_told() {
    let place = Place::new();
    let (bob, other) = (key(&place, "bob.key"), key(&place, "other.key"));
    assert!(place.run("peers").succeeded().stderr.contains("peers add NAME KEY"));
    let added = place.run(&format!("peers add bob {bob} b.example:7000"));
    assert_eq!(added.succeeded().stdout, format!("--peer-key bob now stands for {bob}\n"));
    let again = place.run(&format!("peers add bob {bob}"));
    assert!(again.succeeded().stdout.contains("already"), "{}", again.stdout);
    place.run(&format!("peers add bob {other}")).failed(1, &["'bob' stands for another key", &bob, "--replace"]);
    let listed = place.run("peers list --json").json();
    assert_eq!(listed["peers"][0]["key"], bob.as_str());
    assert_eq!(listed["peers"][0]["address"], "b.example:7000");
    let replaced = place.run(&format!("peers add bob {other} b.example:8000 --replace"));
    assert!(replaced.succeeded().stdout.starts_with(&format!("--peer-key bob now stands for {other}")));
    let moved = place.run(&format!("peers add bob {other} b.example:9000"));
    assert!(moved.succeeded().stdout.contains("new address"), "{}", moved.stdout);
    let shown = place.run("peers").succeeded().stdout.clone();
    assert!(
        shown.contains("bob") && shown.contains(&other) && shown.contains(":9000") && !shown.contains(&bob),
        "{shown}"
    );
    place.run("peers remove carol").failed(1, &["no peer is called 'carol'", "bob"]);
    place.run("peers remove bob").succeeded();
    assert!(!file(&place).contains("bob"), "{}", file(&place));
    place.run(&format!("peers add duo1x {bob}")).failed(2, &["does not begin with 'duo1'"]);
    place.run(&format!("peers add bob {bob} b.example")).failed(2, &["host:port"]);
    place.run(&format!("peers add bob {bob} b.example:99999")).failed(2, &["1 to 65535"]);
    let own = key(&place, "config/duologue/key");
    let done = place.run(&format!("peers add me {own}"));
    assert!(done.succeeded().stderr.contains("your own key"), "{}", done.stderr);
}

#[test]
fn parties_meet_by_name() {
    let [alice, bob] = [Place::new(), Place::new()];
    let keys = [&alice, &bob].map(|place| place.run("keys new").succeeded().stdout.trim().to_string());
    bob.run(&format!("peers add alice {}", keys[0])).succeeded();
    let (listener, address) = bob.listen("run block:add:8 --as bob --peer-key alice --input b=2 --yes");
    alice.run(&format!("peers add bob {} {address}", keys[1])).succeeded();
    // The address and the key both come with the name.
    let done = alice.run("run block:add:8 --as alice --connect bob --input a=1 --yes");
    assert_eq!(done.succeeded().stdout, "out = 3\n");
    assert_eq!(listener.end().succeeded().stdout, "out = 3\n");
    let run = "run block:add:8 --as alice --input a=1 --yes";
    alice.run(&format!("{run} --connect carol")).failed(1, &["'carol' has no port and is no peer's name", "bob"]);
    alice.run(&format!("{run} --connect {address} --peer-key carol")).failed(1, &["no peer is called 'carol'"]);
    alice.run(&format!("{run} --connect {address}")).failed(2, &["--peer-key is missing"]);
    bob.run("run block:add:8 --as bob --input b=1 --yes --connect alice")
        .failed(1, &["no address of 'alice' is known"]);
    // Whoever has another key than the name's is refused.
    alice.run(&format!("peers add bob {} --replace", keys[0])).succeeded();
    let (listener, address) = bob.listen("run block:add:8 --as bob --peer-key alice --input b=2 --yes --wait 30");
    let done = alice.run(&format!("{run} --connect {address} --peer-key bob"));
    done.failed(4, &["the peer's key", &keys[1]]);
    drop(listener);
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let place = Place::new();
    let config = "[defaults]\nprotocol = \"gmw\"\nthreads = 2\nbackend = \"portable\"\n";
    fs::create_dir_all(place.path("config/duologue")).unwrap();
    place.write("config/duologue/config.toml", config);
    let protocol = |args: &str| {
        let common = format!("block:add:8 --insecure-plaintext --yes --json {args}");
        let (alice, bob) = place.both(&common, "--input a=1", "--input b=2");
        bob.succeeded();
        alice.json()["protocol"].as_str().unwrap().to_string()
    };
    assert_eq!(protocol(""), "gmw");
    assert_eq!(protocol("--protocol yao"), "yao");
    // Instructions that this processor lacks are refused by name, so that it is seen which setting counts.
    let backend = |variable: Option<&str>, flag: &str| {
        let mut command = place.command(&format!("doctor {flag}"));
        command.env_remove("DUOLOGUE_BACKEND");
        variable.map(|name| command.env("DUOLOGUE_BACKEND", name));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(backend(None, "").contains("instructions portable"));
    let best = place.run("doctor --json --backend portable");
    assert!(best.stdout.contains("portable"), "{}", best.stdout);
    let missing = if cfg!(target_arch = "x86_64") { "armv8" } else { "aesni" };
    let refused = place.command("blocks add").env("DUOLOGUE_BACKEND", missing).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "the environment goes before the file");
    assert!(backend(Some(missing), "--backend portable").contains("instructions portable"));
    // Another file, or none.
    let other = place.write("other.toml", "[defaults]\nprotocol = 'gmw-masked'\n");
    let help = |file: &str| {
        let output = place.command("run --help").env("DUOLOGUE_CONFIG", file).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(help(&other).contains("[default: gmw-masked]"), "{}", help(&other));
    assert!(help("").contains("[default: auto]"));
}

#[test]
fn a_file_that_is_wrong_is_named_with_its_line() {
    let place = Place::new();
    fs::create_dir_all(place.path("config/duologue")).unwrap();
    place.write("config/duologue/config.toml", "# mine\n[defaults]\ntreads = 4\n");
    place.run("blocks add").failed(7, &["config.toml, line 3: unknown field 'treads'", "docs/command.md"]);
    // Nothing is changed in it, and help is there all the same.
    let key = {
        let output = place.command("keys new --key k").env("DUOLOGUE_CONFIG", "").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    place.run(&format!("peers add bob {}", key.trim())).failed(7, &["line 3"]);
    assert_eq!(file(&place), "# mine\n[defaults]\ntreads = 4\n");
    place.run("run --help").succeeded();
    place.run("completions bash").succeeded();
}

#[test]
fn comments_links_and_permissions_of_the_file_stay() {
    let place = Place::new();
    let key = key(&place, "k");
    let mine = "# my settings\nkey = \"k\" # here\n\n[defaults]\nthreads = 2 # cores\n";
    place.write("mine.toml", mine);
    fs::create_dir_all(place.path("config/duologue")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        symlink(place.path("mine.toml"), place.path("config/duologue/config.toml")).unwrap();
        fs::set_permissions(place.path("mine.toml"), fs::Permissions::from_mode(0o640)).unwrap();
        place.run(&format!("peers add bob {key}")).succeeded();
        let text = fs::read_to_string(place.path("mine.toml")).unwrap();
        assert!(text.starts_with(mine) && text.contains(&format!("[peers.bob]\nkey = \"{key}\"")), "{text}");
        assert!(fs::symlink_metadata(place.path("config/duologue/config.toml")).unwrap().is_symlink());
        let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("mine.toml"), 0o640);
        place.run("peers remove bob").succeeded();
        assert!(fs::read_to_string(place.path("mine.toml")).unwrap().starts_with(mine));
        // A new one is its owner's.
        fs::remove_file(place.path("config/duologue/config.toml")).unwrap();
        place.run(&format!("peers add bob {key}")).succeeded();
        assert_eq!(mode("config/duologue/config.toml"), 0o600);
    }
}

#[test]
fn commands_at_once_lose_no_name() {
    let place = Place::new();
    let key = key(&place, "k");
    let all: Vec<_> = (0..8).map(|n| place.start(&format!("peers add peer{n} {key}"))).collect();
    for one in all {
        one.end().succeeded();
    }
    let names = place.run("peers --json").json()["peers"].as_array().unwrap().len();
    assert_eq!(names, 8);
    // Nothing else is left behind.
    let left: Vec<_> =
        fs::read_dir(place.path("config/duologue")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["config.toml"]);
}

#[test]
fn a_key_that_goes_into_a_variable_leaves_nothing_else() {
    let place = Place::new();
    place.run("keys new").succeeded();
    assert_eq!(place.run("keys show").succeeded().stderr, "");
    assert_eq!(place.run("keys").succeeded().stderr, "");
}

/// The verbs that help lists.
fn verbs(place: &Place) -> Vec<String> {
    let help = place.run("--help").succeeded().stdout.clone();
    let commands = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    // A line that begins with a word after two blanks; descriptions are further in.
    let name = |line: &str| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).map(first_word);
    let verbs: Vec<String> = commands.lines().filter_map(name).filter(|verb| verb != "help").collect();
    assert!(verbs.len() >= 16 && verbs.contains(&"doctor".into()), "{verbs:?}");
    verbs
}

fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap().to_string()
}

#[test]
fn completions_and_pages_name_every_verb() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&format!("completions {shell}")).succeeded().stdout.clone();
        for word in verbs(&place).iter().map(String::as_str).chain(["peer-key", "insecure-plaintext"]) {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    place.run("completions tcsh").failed(2, &["bash"]);
    let page = place.run("man").succeeded().stdout.clone();
    assert!(page.contains(".TH duologue"), "{page}");
    place.run("man pages").succeeded();
    for verb in verbs(&place) {
        assert!(page.contains(&format!("duologue\\-{verb}(1)")), "no {verb} in {page}");
        let own = fs::read_to_string(place.path(&format!("pages/duologue-{verb}.1"))).unwrap();
        assert!(own.contains(&format!("duologue\\-{verb}")), "{own}");
    }
    // README and the page of the book know them as well.
    let book = fs::read_to_string(repository("docs/command.md")).unwrap();
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    for verb in verbs(&place) {
        assert!(
            book.contains(&format!("`{verb}")) && readme.contains(&format!("`{verb}`")),
            "no {verb} in the documents"
        );
    }
}

/// The completion as bash itself does it.
#[test]
fn bash_completes_a_verb() {
    let place = Place::new();
    let script = place.run("completions bash").succeeded().stdout.clone();
    place.write(
        "complete.sh",
        script
            + "\nCOMP_WORDS=(duologue doc) COMP_CWORD=1\n_duologue duologue doc duologue\necho \"${COMPREPLY[@]}\"\n",
    );
    let output = Command::new("bash").arg(place.path("complete.sh")).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "doctor", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn lists_have_filters() {
    let place = Place::new();
    let names = |args: &str| -> Vec<String> {
        let report = place.run(&format!("{args} --json")).json();
        report["blocks"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_string()).collect()
    };
    let (all, float) = (names("blocks"), names("blocks float"));
    assert!(float.len() > 3 && float.len() < all.len(), "{float:?}");
    assert!(float.iter().all(|name| all.contains(name)) && float.iter().any(|name| name.contains("fp_")));
    assert_eq!(float, names("blocks --only FLOAT"));
    let both = names("blocks --only sha256,aes128");
    assert!(both.iter().all(|name| name.contains("sha256") || name.contains("aes128")), "{both:?}");
    // The name of a block is a block, not a word.
    assert!(place.run("blocks add --json").json()["costs"].is_array());
    place.run("blocks nothingofthiskind").failed(1, &["nothingofthiskind", "block"]);
    place.run("blocks --only nothingofthiskind").failed(1, &["nothing that is built in has such a word"]);
    let [words, only] = ["circuits crc", "circuits --only crc"].map(|args| place.run(args));
    assert_eq!(words.code, only.code);
    assert_eq!(words.stdout, only.stdout);
    let adders = place.run("circuits --only block:add: --json").json();
    assert!(adders.as_array().unwrap().iter().all(|row| row["program"].as_str().unwrap().contains("block:add:")));
}

/// Runs a command on a terminal of so many columns.
#[cfg(target_os = "linux")]
fn on_terminal(place: &Place, columns: usize, args: &str) -> String {
    let line = format!("stty cols {columns} rows 50; exec {} {args}", env!("CARGO_BIN_EXE_duologue"));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(place.path("."));
    script.env("XDG_CONFIG_HOME", place.path("config")).stdin(Stdio::null());
    let output = script.output().expect("script (bsdutils)");
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

#[test]
#[cfg(target_os = "linux")]
fn lists_fit_the_terminal_and_are_whole_elsewhere() {
    let place = Place::new();
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    for args in ["blocks", "blocks float", "circuits --only block:add,block:mul"] {
        let whole = place.run(args).succeeded().stdout.clone();
        for columns in [80, 100] {
            let fitted = on_terminal(&place, columns, args);
            assert!(longest(&fitted) <= columns, "{args}, {columns}: {fitted}");
        }
        assert!(longest(&whole) > 80, "{whole}");
        assert_eq!(on_terminal(&place, 80, &format!("{args} --wide")), whole);
    }
}
