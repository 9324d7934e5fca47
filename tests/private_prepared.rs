//! Runs of a private function that two processes prepare, and two others use: right, once, also if they are killed.

use crate::couple::{Couple, PARTIES, Process, Roll};
use crate::process::{Done, Place};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// A full adder in Bristol Fashion, and one whose carry is another.
const ADDER: &str = "5 8\n1 3\n1 2\n\n2 1 0 1 3 XOR\n2 1 1 2 4 XOR\n2 1 3 4 5 AND\n2 1 3 2 6 XOR\n2 1 5 1 7 XOR\n";

/// Both parties' commands, Alice listening.
fn both(place: &Place, [alice, bob]: [&str; 2]) -> [Done; 2] {
    let (alice, address) = place.listen(alice);
    let bob = place.run(&format!("{bob} --connect {address}"));
    [alice.end(), bob]
}

fn prepare(place: &Place, peers: &[String; 2], to: [&str; 2], times: u32) -> [Done; 2] {
    let alice = format!("--as alice --function adder.txt --gates 100 --times {times} --prepared-key seal.key");
    both(
        place,
        [
            &format!("private prepare {alice} --method dh --to {} --json {}", to[0], peers[0]),
            &format!("private prepare --as bob --method dh --to {} --yes --json {}", to[1], peers[1]),
        ],
    )
}

fn use_run(place: &Place, peers: &[String; 2], folders: [&str; 2], x: &str) -> [Done; 2] {
    let alice = format!("--as alice --function adder.txt --prepared {} --prepared-key seal.key", folders[0]);
    let bob = format!("--as bob --prepared {} --input x={x} --yes", folders[1]);
    both(place, [&format!("private {alice} --json {}", peers[0]), &format!("private {bob} --json {}", peers[1])])
}

fn place() -> Place {
    let place = Place::new();
    place.write("adder.txt", ADDER);
    place.write("seal.key", [7; 32]);
    #[cfg(unix)]
    fs::set_permissions(place.path("seal.key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    place
}

#[test]
fn prepared_today_and_used_later() {
    let place = place();
    let peers = place.tls();
    for done in prepare(&place, &peers, PARTIES, 3) {
        let report = done.json();
        assert_eq!([&report["left"], &report["used"], &report["made"], &report["gates"]], [3, 0, 3, 100]);
    }
    for (x, y, left) in [("011", &["01"][..], 2), ("111,100", &["11", "10"], 0)] {
        let [alice, bob] = use_run(&place, &peers, PARTIES, x);
        assert!(alice.stderr.contains("an Alice who does not learns all data"), "{}", alice.stderr);
        assert_eq!(bob.values("y"), y);
        assert_eq!(alice.json()["runs"], y.len());
        let shown = place.run("pool alice --pool-key seal.key --verify --json").json();
        assert_eq!([&shown["left"], &shown["used"]], [left, 3 - left]);
        assert_eq!(shown["party"], "alice");
    }
    let shown = place.run("pool bob").succeeded().stdout.clone();
    for words in ["bob's half of runs of a private function", "3 input bits", "0 left, 3 used", "not sealed"] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    // Nobody is looked for: there is none.
    let none = "--insecure-plaintext --connect 127.0.0.1:1 --wait 1";
    place
        .run(&format!("private --as bob --prepared bob --input x=000 --yes {none}"))
        .failed(1, &["no run is left in bob"]);
}

#[test]
fn folders_that_do_not_belong_together_are_refused() {
    let place = place();
    let (peers, open) = (place.tls(), [(); 2].map(|()| "--insecure-plaintext".to_owned()));
    for to in [PARTIES, ["alice2", "bob2"]] {
        for done in prepare(&place, &peers, to, 1) {
            done.succeeded();
        }
    }
    for done in use_run(&place, &peers, ["alice", "bob2"], "011") {
        done.failed(4, &["the runs", "prepared, those of"]);
    }
    for done in use_run(&place, &open, PARTIES, "011") {
        // Whoever is first says why; the other hears at least that it is over.
        assert!(done.stderr.contains("another peer or key") || done.code == Some(5), "{}", done.stderr);
    }
    let now = [
        format!("private --as alice --function adder.txt --method dh {}", peers[0]),
        format!("private --as bob --prepared bob --input x=011 --yes {}", peers[1]),
    ];
    for done in both(&place, [&now[0], &now[1]]) {
        done.failed(4, &["the runs", "for data that is there"]);
    }
    // Each by itself, before the parties meet.
    let none = "--connect 127.0.0.1:1 --wait 1";
    let alice = format!("private --as alice --prepared-key seal.key {none} {}", peers[0]);
    place.write("other.txt", ADDER.replace("2 1 3 4 5 AND", "2 1 3 2 5 AND"));
    place.run(&format!("{alice} --function other.txt --prepared alice")).failed(1, &["another function"]);
    place
        .run(&format!("{alice} --function adder.txt --prepared none"))
        .failed(1, &["no runs of a private function", "none"]);
    let bob = format!("private --as bob --input x=011 --yes {none} {}", peers[1]);
    place.run(&format!("{bob} --prepared alice --prepared-key seal.key")).failed(1, &["alice's half", "not bob's"]);
    place
        .run(&format!("run block:add:8 --as bob --input b=1 --yes --prepared bob {none} {}", peers[1]))
        .failed(1, &["runs of a private function, not prepared runs"]);
    let again = format!("private prepare --as bob --method dh --yes {none} {}", peers[1]);
    place.run(&format!("{again} --to bob")).failed(1, &["bob is not empty"]);
    for (args, words) in [
        (format!("private prepare --as bob --yes --to new {none} {}", peers[1]), "--method dh alone"),
        (format!("{bob} --prepared bob --method universal"), "prepared runs are by dh"),
        (format!("{alice} --function adder.txt --prepared alice --gates 5"), "cannot be used with"),
        (format!("{again} --to new --times 3"), "are alice's"),
    ] {
        place.run(&args).failed(2, &[words]);
    }
    // What was cut off is named; with what is whole there is a result.
    let file = place.path("bob").join("secrets-000000000000");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    place.run(&format!("{bob} --prepared bob")).failed(7, &["secrets-000000000000"]);
    fs::write(&file, whole).unwrap();
    let [alice, bob] = use_run(&place, &peers, PARTIES, "011");
    alice.succeeded();
    assert_eq!(bob.values("y"), ["01"]);
}

fn meet(couple: &mut Couple, prepares: bool, folders: u32) -> [Process; 2] {
    let common = "--insecure-plaintext --silence 5 --json";
    let [alice, bob] = PARTIES.map(|party| format!("{party}{folders}"));
    let args = match prepares {
        true => [
            format!("private prepare --as alice --method dh --function adder.txt --times 8 --to {alice} {common}"),
            format!("private prepare --as bob --method dh --yes --to {bob} {common}"),
        ],
        false => [
            format!("private --as alice --function adder.txt --prepared {alice} {common}"),
            format!("private --as bob --prepared {bob} --input x=011,111 --yes {common}"),
        ],
    };
    couple.meet(args)
}

fn runs(couple: &Couple, folder: &str) -> Option<[u64; 2]> {
    couple.place.path(folder).join("header").exists().then(|| {
        let report = couple.place.run(&format!("pool {folder} --verify --json")).json();
        ["used", "left"].map(|field| report[field].as_u64().unwrap())
    })
}

/// Of one folder nothing was used twice, and its cursor has passed all that was used.
fn check(couple: &Couple, party: usize, started: usize, used: u64) {
    let mut end = 0;
    for number in couple.lines_since(party, started, "a run that was made ahead is used up number=") {
        let number: u64 = number.trim().parse().unwrap();
        assert!(number >= end, "{number} was used before");
        end = number + 1;
    }
    assert!(end <= used, "the cursor is behind {end}");
}

fn kill_for_a_while(kills: u64, seed: u64) {
    let (mut couple, mut roll) = (Couple::new(), Roll(seed));
    couple.place.write("adder.txt", ADDER);
    let (mut folders, mut since, mut longest) = (0, 0, [1, 1]);
    for round in 0..kills {
        let names = PARTIES.map(|party| format!("{party}{folders}"));
        let states = [0, 1].map(|party| runs(&couple, &names[party]));
        let ready = states.iter().all(|state| state.is_some_and(|[_, left]| left > 1));
        if !ready {
            (folders, since) = (folders + 1, couple.started);
        }
        let begin = Instant::now();
        let mut processes = meet(&mut couple, !ready, folders);
        let victims = if round < 2 { [false; 2] } else { roll.victims() };
        let longest = &mut longest[usize::from(ready)];
        thread::sleep(Duration::from_micros(if round < 2 { 0 } else { roll.below(1 + 5 * *longest / 4) }));
        for (process, victim) in processes.iter_mut().zip(victims) {
            if victim {
                process.child.kill().unwrap();
            }
        }
        for (process, victim) in processes.into_iter().zip(victims) {
            let done = couple.end(process);
            match done.code {
                _ if victim => {}
                Some(0) if ready && done.stdout.contains("outputs") => assert_eq!(done.values("y"), ["01", "11"]),
                Some(0 | 1 | 5) => {}
                // One run is left here, and more there.
                Some(10) if ready => assert!(done.stderr.contains("x has 2 lanes"), "{}", done.stderr),
                _ => panic!("{:?}: {}{}", done.code, done.stdout, done.stderr),
            }
        }
        if round < 2 {
            *longest = begin.elapsed().as_micros() as u64;
        }
        for party in [0, 1] {
            if let Some([used, _]) = runs(&couple, &format!("{}{folders}", PARTIES[party])) {
                check(&couple, party, since, used);
            }
        }
    }
}

#[test]
fn killed_at_any_moment_no_run_is_used_twice() {
    thread::scope(|scope| {
        for seed in 1..=2 {
            scope.spawn(move || kill_for_a_while(24, seed));
        }
    });
}
