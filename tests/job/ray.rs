//! `--launch ray` with something else in place of Python: what a driver tells the process that starts its workers, and what becomes of the
//! job when that fails. `crates/python/tests/test_ray.py` has clusters.

use super::{COMMON, Couple, lines, values};
use crate::process::Running;
use std::os::unix::fs::PermissionsExt;

const ADD: &str = "block:add:8 --shards 3";
const RAY: &str = "--launch ray --workers 2 --ray-address here:1 --ray-options {\"num_cpus\":2}";
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn couple() -> Couple {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    couple
}

/// Bob's driver, whose `python3` is a script.
fn bob(couple: &Couple, script: &str, words: &str) -> Running {
    let file = couple.place.path("python");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
    let words =
        format!("job drive {ADD} --input b=n.csv {COMMON} --as bob --state bob.state {} {words}", couple.keys[1]);
    let mut command = couple.place.command(&words);
    Running::piped(command.env("DUOLOGUE_PYTHON", file))
}

fn connected(listen: &str) -> String {
    format!(r#"echo '{{"listen":"{listen}","version":"{VERSION}"}}'"#)
}

#[test]
fn a_cluster_gets_the_words_of_workers_and_the_end() {
    let couple = couple();
    let duologue = env!("CARGO_BIN_EXE_duologue");
    let script = format!(
        r#"echo "$@" > words
{}
read order
echo "$order" > order
words=$(echo "$order" | sed 's/.*"words":\[//; s/].*//; s/[",]/ /g')
listening=$(echo "$order" | sed 's/.*"listening":"//; s/".*//')
{duologue} job worker --driver $listening $words < /dev/null 2> /dev/null
read end || touch ended"#,
        connected("127.0.0.1:0")
    );
    let mut bob = bob(&couple, &script, &format!("{RAY} --threads 2 --ports 7500-7999"));
    let address = bob.until("listening on ");
    let alice = couple.alice(&format!("{ADD} --input a=n.csv"), &address);
    for done in [alice.end(), bob.end()] {
        assert_eq!(values(&done, "out"), [2; 10]);
    }
    let said = |name: &str| std::fs::read_to_string(couple.place.path(name)).unwrap();
    let words = "-m duologue.cluster --workers 2 --threads 2 --address=here:1 --options={\"num_cpus\":2}\n";
    assert_eq!(said("words"), words);
    let order = said("order");
    let key = couple.place.path("bob.state/worker.key");
    for word in [&format!(r#""--key","{}""#, key.display()), r#""--ports","7500-7999""#, r#""--driver-key","duo1"#] {
        assert!(order.contains(word), "no {word} in {order}");
    }
    assert!(couple.place.path("ended").exists(), "whoever starts workers hears of the end");
}

#[test]
fn what_keeps_a_cluster_away_is_said_before_the_other_driver_is_met() {
    let couple = couple();
    let version = r#"echo '{"listen":"127.0.0.1:0","version":"0.0.0"}'; read end"#;
    for (script, code, words) in [
        (
            "echo no module named duologue >&2; exit 1",
            8,
            &["ended with exit status: 1: no module named", "hint: ", "pip install"][..],
        ),
        (
            "printf '\\033[36mstar\\tting\\033[0m\\n' >&2; echo 'error: no cluster' >&2; exit 64",
            1,
            &["star ting\n", "error: no cluster\n"],
        ),
        (version, 4, &["this is duologue ", "Python is 0.0.0"]),
        ("echo hello; read end", 7, &["what Ray's side of the driver says"]),
    ] {
        bob(&couple, script, RAY).end().failed(code, words);
        couple.forget();
    }
    let says_nothing = bob(&couple, "read end", &format!("{RAY} --wait 1")).end();
    says_nothing.failed(6, &["does not answer within 1 s", "hint: `ray status`"]);
    couple.forget();
    let words = format!("job drive {ADD} --input b=n.csv --yes --as bob --state bob.state {}", couple.keys[1]);
    let mut command = couple.place.command(&format!("{words} --launch ray"));
    let done = Running::piped(command.env("DUOLOGUE_PYTHON", "/no/python")).end();
    done.failed(8, &["starting Ray's side, /no/python", "DUOLOGUE_PYTHON names another"]);
    for (words_of_ray, hint) in
        [("--ray-address a:1", "are for --launch ray"), ("--launch ray --host a", "DUOLOGUE_WORKER_HOST")]
    {
        couple.place.run(&format!("{words} {words_of_ray}")).failed(2, &[hint]);
    }
}

/// The job of both ends when whoever starts the workers of one does, with its reason.
#[test]
fn a_cluster_that_is_lost_ends_the_job() {
    let couple = couple();
    let script = format!("{}; read order; echo 'error: all workers are gone' >&2; exit 8", connected("127.0.0.1:0"));
    let mut bob = bob(&couple, &script, RAY);
    let address = bob.until("listening on ");
    let alice = couple.alice(&format!("{ADD} --input a=n.csv"), &address);
    alice.end().failed(5, &["the peer stopped"]);
    bob.end().failed(8, &["error: all workers are gone"]);
}
