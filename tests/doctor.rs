//! `duologue doctor`: what it finds on this machine, with a doctor at the other side, and with others there.

use crate::process::{Done, Place, Running};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// Two places, each with its key and the other's by name.
fn couple() -> ([Place; 2], [String; 2]) {
    let places = [Place::new(), Place::new()];
    let keys = [0, 1].map(|own: usize| places[own].run("keys new").succeeded().stdout.trim().to_string());
    places[0].run(&format!("peers add bob {}", keys[1])).succeeded();
    places[1].run(&format!("peers add alice {}", keys[0])).succeeded();
    (places, keys)
}

fn listening(place: &Place, args: &str) -> (Running, String) {
    place.listen(args)
}

trait Lines {
    /// A line that begins so and holds these words.
    fn has(&self, start: &str, words: &[&str]) -> &Self;
}

impl Lines for Done {
    fn has(&self, start: &str, words: &[&str]) -> &Self {
        let fits = |line: &str| line.starts_with(start) && words.iter().all(|word| line.contains(word));
        assert!(self.stdout.lines().any(fits), "no line '{start} … {words:?}' in:\n{}{}", self.stdout, self.stderr);
        self
    }
}

#[test]
fn two_doctors_compare_keys_versions_and_clocks() {
    let ([alice, bob], keys) = couple();
    let (listener, address) = listening(&bob, "doctor alice");
    let done = alice.run(&format!("doctor bob --connect {address}"));
    for done in [&done, &listener.end()] {
        done.succeeded().has("ok   the peer answers over TLS", &[]);
        done.has("ok   it has duologue ", &[env!("CARGO_PKG_VERSION"), "protocol version"]);
        // Both run here: one clock, compared over the loopback.
        done.has("ok   its clock ", &["ours, a round trip takes"]);
        assert!(!done.stdout.contains("FIX"), "{}", done.stdout);
    }
    done.has("ok   own key ", &[&keys[0]]).has("ok   peer bob stands for the key ", &[&keys[1]]);
    // By the address of the name, and as JSON.
    let (listener, address) = listening(&bob, "doctor --peer-key alice");
    alice.run(&format!("peers add bob {} {address}", keys[1])).succeeded();
    let report = alice.run("doctor bob --json").json();
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.len() >= 7 && findings.iter().all(|one| one["ok"] == true), "{report}");
    listener.end().succeeded();
}

#[test]
fn what_is_wrong_here_is_found_without_a_peer() {
    let place = Place::new();
    let done = place.run("doctor");
    done.failed(8, &["1 thing to fix"]).has("FIX  ", &["config/duologue/key", "→ `duologue keys new` makes one"]);
    place.run("keys new").succeeded();
    let done = place.run("doctor");
    done.succeeded().has("ok   own key duo1", &[]).has("ok   no configuration file", &[]);
    place.run("doctor bob").failed(1, &[]).has("FIX  no peer is called 'bob'", &["peers add NAME KEY"]);
    let own = place.run("keys").stdout.trim().to_string();
    place.run(&format!("doctor {own}")).failed(1, &[]).has("FIX  the key of the peer is your own", &[]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let (key, config) = (place.path("config/duologue/key"), place.path("config/duologue/config.toml"));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        place.run("doctor").failed(1, &[]).has("FIX  others may read", &["chmod 600"]);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&config, "").unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
        place.run("doctor").failed(1, &[]).has("FIX  others may write", &["chmod go-w"]);
    }
    place.write("config/duologue/config.toml", "[peers.bob]\nkee = 1\n");
    place.run("doctor").failed(7, &[]).has("FIX  ", &["config.toml, line 2: unknown field 'kee'"]);
}

#[test]
fn ports_and_addresses_are_tried() {
    let place = Place::new();
    place.run("keys new").succeeded();
    place.run("doctor --listen 127.0.0.1:0").succeeded().has("ok   one can listen at 127.0.0.1:0", &[]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    place.run(&format!("doctor --listen {address}")).failed(8, &[]).has("FIX  listening on ", &["in use"]);
    place.run(&format!("doctor --connect {address}")).succeeded().has("ok   somebody listens at ", &[]);
    drop(taken);
    let nobody = place.run(&format!("doctor --connect {address} --wait 1"));
    nobody.failed(8, &[]).has("FIX  no connection to ", &["is the peer listening there?"]);
    place.run("doctor --connect 127.0.0.1:99999").failed(8, &[]).has("FIX  the address 127.0.0.1:99999 is none", &[]);
    place.run("doctor --connect name.invalid:7").failed(8, &[]).has("FIX  the address name.invalid:7 is none", &[]);
    place.run("doctor --connect carol").failed(1, &[]).has("FIX  'carol' has no port", &[]);
}

#[test]
fn a_key_that_is_not_the_expected_one_is_shown_at_both_sides() {
    let ([alice, bob], keys) = couple();
    let wrong = alice.run("keys new --key wrong").succeeded().stdout.trim().to_string();
    // Alice connects with another key than the one that Bob knows.
    let (listener, address) = listening(&bob, "doctor alice --wait 2");
    let done = alice.run(&format!("doctor bob --key wrong --connect {address}"));
    done.failed(4, &[]).has("FIX  the parties do not agree on our key", &[]);
    listener.end().failed(4, &[]).has("FIX  somebody from 127.0.0.1 was turned away", &[&wrong, &keys[0]]);
    // Bob listens with another key than the one that Alice knows.
    bob.run("keys new --key wrong").succeeded();
    let (listener, address) = listening(&bob, "doctor alice --key wrong --wait 2");
    let done = alice.run(&format!("doctor bob --connect {address}"));
    done.failed(4, &[]).has("FIX  the parties do not agree on the peer's key", &[&keys[1]]);
    listener.end().failed(4, &[]);
    let (listener, _) = listening(&bob, "doctor alice --wait 1");
    listener.end().failed(6, &[]).has("FIX  no connection from the peer for 1 s", &[]);
}

#[test]
fn a_peer_that_runs_a_program_is_seen() {
    let ([alice, bob], _) = couple();
    let (listener, address) = bob.listen("run block:add:8 --as bob --peer-key alice --input b=2 --yes");
    let done = alice.run(&format!("doctor bob --connect {address}"));
    done.succeeded().has("ok   it runs a program, protocol version ", &["that run has ended now"]);
    listener.end().failed(4, &["what to do", "`duologue doctor`"]);
    // The other way round.
    let (listener, address) = listening(&bob, "doctor alice");
    let run = alice.run(&format!("run block:add:8 --as alice --peer-key bob --connect {address} --input a=1 --yes"));
    run.failed(4, &["what to do", "`duologue doctor`"]);
    listener.end().succeeded().has("ok   it runs a program", &[]);
}

/// What speaks no TLS, or TLS and not our protocol, is not the peer.
#[test]
fn others_at_that_address_are_not_the_peer() {
    let ([alice, _], _) = couple();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let greets = thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n").unwrap();
        let _ = stream.read(&mut [0; 1000]);
    });
    let done = alice.run(&format!("doctor bob --connect {address} --wait 5"));
    done.failed(3, &[]).has("FIX  the peer misbehaved: the TLS handshake failed", &[]);
    greets.join().unwrap();
}
