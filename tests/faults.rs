//! What goes wrong between two processes: every case has its exit code, its sentence, and no output file.

use crate::process::{Place, Running};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const OPEN: &str = "--insecure-plaintext --yes";

/// A run that takes long: tables of 450 MB over a slow line. Alice learns something into a file.
struct Long {
    place: Place,
    alice: Running,
    bob: Running,
}

impl Long {
    fn start(settings: &str) -> Long {
        // Nobody waits for so long: whoever ends in time was told.
        Long::with_silence(120, settings)
    }

    fn with_silence(silence: u64, settings: &str) -> Long {
        let place = Place::new();
        place.write("query.csv", "0".repeat(900));
        place.write("gallery.csv", format!("{}\n", "1".repeat(900)).repeat(20_000));
        place.write("limits.csv", "500\n".repeat(20_000));
        let common = format!("run app:scifi {OPEN} --link 100Mbit --silence {silence} {settings}");
        let (mut bob, address) =
            place.listen(&format!("{common} --as bob --input gallery=gallery.csv --input limits=limits.csv"));
        let alice = place.start(&format!(
            "{common} --as alice --connect {address} --size faces=20000 --input query=query.csv --output hit=hit.csv"
        ));
        bob.until("connected");
        std::thread::sleep(Duration::from_millis(500));
        Long { place, alice, bob }
    }

    /// Nothing is left of the output, under any name.
    fn left_nothing(&self) {
        assert_eq!(self.place.files(), ["gallery.csv", "limits.csv", "query.csv"]);
    }
}

#[test]
fn a_killed_peer_is_noticed_at_once() {
    for (settings, signal) in [("--protocol yao --timing streamed", "KILL"), ("--protocol gmw", "KILL")] {
        let Long { place, alice, mut bob } = Long::start(settings);
        bob.signal(signal);
        let done = alice.end();
        done.failed(5, &["the peer"]);
        bob.kill();
        assert_eq!(place.files(), ["gallery.csv", "limits.csv", "query.csv"], "no output under any name");
    }
}

#[test]
fn whoever_is_interrupted_tells_the_peer() {
    for (settings, signal) in [("--protocol yao --timing streamed", "INT"), ("--protocol gmw", "TERM")] {
        let Long { place, alice, bob } = Long::start(settings);
        bob.signal(signal);
        bob.end().failed(130, &["error: cancelled"]);
        alice.end().failed(5, &["the peer stopped: it was cancelled"]);
        assert_eq!(place.files(), ["gallery.csv", "limits.csv", "query.csv"], "no output under any name");
    }
}

#[test]
fn whoever_waits_can_be_interrupted() {
    let long = Long::start("--protocol yao --timing streamed");
    long.bob.signal("STOP");
    std::thread::sleep(Duration::from_millis(500));
    long.alice.signal("INT");
    long.alice.end().failed(130, &["error: cancelled"]);
    assert_eq!(long.place.files(), ["gallery.csv", "limits.csv", "query.csv"], "no output under any name");
}

#[test]
fn whoever_waits_for_a_peer_can_be_interrupted() {
    let place = Place::new();
    let [alice, _] = place.tls();
    for (security, signal) in [("--insecure-plaintext", "INT"), (&*alice, "TERM")] {
        let (waiting, _) = place.listen(&format!("run block:add:8 --as alice {security} --input a=3 --yes"));
        waiting.signal(signal);
        waiting.end().failed(130, &["error: cancelled"]);
    }
}

#[test]
fn a_killed_receiver_is_noticed_by_the_sender() {
    let mut long = Long::start("--protocol yao --timing streamed");
    long.alice.kill();
    long.left_nothing();
    long.bob.end().failed(5, &["the peer"]);
}

#[test]
fn a_stopped_peer_is_given_up() {
    let long = Long::with_silence(2, "--protocol yao --timing streamed");
    long.bob.signal("STOP");
    let done = long.alice.end();
    done.failed(6, &["from the peer for 2 s", "hint: "]);
    assert_eq!(long.place.files(), ["gallery.csv", "limits.csv", "query.csv"], "no output under any name");
}

#[test]
fn strangers_do_not_disturb_a_listener_with_keys() {
    let place = Place::new();
    let [alice, bob] = place.tls();
    let (listener, address) = place.listen(&format!("run block:add:8 --as bob {bob} --input b=3 --yes"));
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x16, 3, 1, 0xff, 0xff], &[0; 100]] {
        let mut stranger = TcpStream::connect(&address).unwrap();
        stranger.write_all(garbage).unwrap();
    }
    let thief = place.run("keys new --key thief.key").succeeded().stdout.clone();
    assert!(thief.starts_with("duo1"));
    let pinned = alice.split_whitespace().last().unwrap();
    let stolen = format!("run block:add:8 --as alice --key thief.key --peer-key {pinned} --connect {address}");
    place.run(&format!("{stolen} --input a=4 --yes")).failed(4, &["our key", "hint: each party gives the key"]);
    let done = place.run(&format!("run block:add:8 --as alice {alice} --connect {address} --input a=4 --yes"));
    assert_eq!(done.succeeded().stdout, "out = 7\n");
    let listened = listener.end();
    assert_eq!(listened.succeeded().stdout, "out = 7\n");
    assert!(listened.stderr.contains("turned a stranger away"), "{}", listened.stderr);
}

#[test]
fn the_wrong_key_of_a_listener_is_refused() {
    let place = Place::new();
    let [alice, bob] = place.tls();
    let own = place.run("keys show --key alice.key").succeeded().stdout.trim().to_string();
    let (_listener, address) = place.listen(&format!("run block:add:8 --as bob {bob} --input b=3 --yes"));
    let key = alice.split_whitespace().nth(1).unwrap();
    let wrong =
        format!("run block:add:8 --as alice --key {key} --peer-key {own} --connect {address} --input a=4 --yes");
    place.run(&wrong).failed(4, &["the peer's key"]);
}

#[test]
fn garbage_without_keys_is_misbehaviour() {
    let place = Place::new();
    let (listener, address) =
        place.listen(&format!("run block:add:8 --as bob {OPEN} --input b=3 --output out=out.csv"));
    let mut stranger = TcpStream::connect(&address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let _ = stranger.read_to_end(&mut Vec::new());
    listener.end().failed(3, &["the peer misbehaved"]);
    assert!(place.files().is_empty());
}

#[test]
fn what_differs_is_named_on_both_sides() {
    let place = Place::new();
    let bob = format!("{OPEN} --protocol yao --input b=3 --as bob");
    for (alice, what) in [
        ("block:add:8 --as bob --input b=4 --protocol yao", "who is who"),
        ("block:subtract:8 --as alice --input a=4 --protocol yao", "the program"),
        ("block:add:8 --as alice --input a=4,5 --protocol yao", "its sizes"),
        ("block:add:8 --as alice --input a=4 --protocol gmw", "the protocol"),
        ("block:add:8 --as alice --input a=4 --protocol yao --garbler alice", "who garbles"),
        ("block:add:8 --as alice --input a=4 --protocol yao --tile 16", "the lanes of a tile"),
    ] {
        let (listener, address) = place.listen(&format!("run block:add:8 {bob}"));
        let here = place.run(&format!("run {alice} {OPEN} --connect {address}"));
        here.failed(4, &["the parties do not agree on", what]);
        listener.end().failed(4, &["the parties do not agree on", what]);
    }
}

#[test]
fn nobody_there() {
    let place = Place::new();
    let (_running, address) = place.listen(&format!("run block:add:8 --as bob {OPEN} --input b=3 --wait 60"));
    let port: u16 = address.rsplit(':').next().unwrap().parse().unwrap();
    // The listener's own port is taken.
    let taken = format!("run block:add:8 --as alice {OPEN} --input a=3 --listen {address}");
    place.run(&taken).failed(8, &["listening on", &port.to_string()]);
    let waiting = format!("run block:add:8 --as alice {OPEN} --input a=3 --wait 1 --listen 127.0.0.1:0");
    place.run(&waiting).failed(6, &["no connection from the peer for 1 s", "hint: "]);
    let dialling = format!("run block:add:8 --as alice {OPEN} --input a=3 --wait 1 --connect 127.0.0.1:1");
    place.run(&dialling).failed(8, &["no connection to 127.0.0.1:1", "hint: "]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_said_and_the_peer_is_done() {
    let place = Place::new();
    for (output, code) in [("--output out=/dev/full", 8), ("--output out=/dev/null", 0), ("--output out=-", 0)] {
        let (alice, bob) = place.both(&format!("block:add:8 {OPEN}"), &format!("--input a=1 {output}"), "--input b=2");
        assert_eq!(alice.code, Some(code), "{output}: {}", alice.stderr);
        assert_eq!(alice.stderr.contains("writing /dev/full: No space left on device"), code == 8);
        assert_eq!(bob.succeeded().stdout, "out = 3\n");
    }
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in ["blocks", "demo --faces 2 --protocol gmw"] {
        let done = place.command(args).stdout(full()).output().unwrap();
        assert_eq!(done.status.code(), Some(8), "{args}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("writing to standard output"));
    }
}

#[test]
fn files_that_cannot_be_written_are_noticed_before_the_run() {
    let place = Place::new();
    let run = format!("run block:add:8 --as alice {OPEN} --connect 127.0.0.1:1 --wait 60 --input a=1");
    place.run(&format!("{run} --output out=nowhere/sum.csv")).failed(8, &["writing nowhere/sum.csv"]);
    place.run(&format!("{run} --output out=.")).failed(1, &["is a folder"]);
    assert!(place.files().is_empty());
}

#[test]
fn an_old_output_stays_until_a_new_one_is_complete() {
    let place = Place::new();
    place.write("sum.csv", "old");
    let run = format!("run block:add:8 {OPEN} --as alice --input a=1 --output out=sum.csv");
    place.run(&format!("{run} --connect 127.0.0.1:1 --wait 1")).failed(8, &[]);
    assert_eq!(std::fs::read_to_string(place.path("sum.csv")).unwrap(), "old");
    let (alice, bob) = place.both(&format!("block:add:8 {OPEN}"), "--input a=1 --output out=sum.csv", "--input b=2");
    alice.succeeded();
    bob.succeeded();
    assert_eq!(std::fs::read_to_string(place.path("sum.csv")).unwrap(), "3\n");
    assert_eq!(place.files(), ["sum.csv"]);
}
