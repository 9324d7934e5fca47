//! Whoever is not whom it says, or says what is not true: it is turned away, passed over or told so, and counts for nothing.

use super::between::{ALICE, BOB, Between, Said};
use super::failures::{FIRST, Job, SILENCE};
use super::impostor::Impostor;
use crate::process::Running;
use duologue::channel::{Channel, Identity, Limits, Listener, Security};
use duologue::job::control::{Attempt, Message, Offer};
use serde_json::json;
use std::io::Write;
use std::mem;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A message about an attempt that comes once more when the next shard is at the same point.
#[test]
fn an_attempt_that_is_replayed_ends_the_job() {
    type Kind = fn(&Message) -> Option<Attempt>;
    let begin: Kind = |message| if let Message::Begin(attempt) = message { Some(*attempt) } else { None };
    let ready: Kind = |message| if let Message::Ready(attempt, _) = message { Some(*attempt) } else { None };
    let ended: Kind = |message| if let Message::Ended(attempt, _) = message { Some(*attempt) } else { None };
    for (who, kind) in [(ALICE, begin), (ALICE, ready), (BOB, ready), (ALICE, ended), (BOB, ended)] {
        let job = Job::new(2);
        let (bob, address) = job.bob("");
        let mut old = None;
        let between = Between::new(&job.couple, &address, false, move |from, said| {
            let Said::Message(message) = &said else { return vec![said] };
            match kind(message).filter(|_| from == who) {
                Some(FIRST) => old = Some(said.clone()),
                Some(_) => return old.take().into_iter().chain([said]).collect(),
                None => {}
            }
            vec![said]
        });
        let mut drivers = [job.alice("", &between.address), bob];
        drivers.rotate_left(1 - who);
        let [misled, other] = drivers.map(Running::end);
        misled.failed(3, &["its driver spoke of shard 0, attempt 1, which is not under way"]);
        other.failed(5, &["the peer stopped"]);
        assert!(between.end().to_string().contains("it says that we misbehave"));
    }
}

/// Two pairs of workers are led to each other's counterparts, with their keys, by somebody who has the keys of both parties. They notice.
#[test]
fn workers_that_are_led_astray_say_which_part_they_have() {
    let job = Job::new(2);
    let (bob, address) = job.bob("--workers 2");
    let mut waiting = [None, None];
    let between = Between::new(&job.couple, &address, false, move |from, said| {
        let Said::Message(Message::Ready(attempt, offer)) = said else { return vec![said] };
        let Some((first, its_offer)) = waiting[from].take() else {
            waiting[from] = Some((attempt, offer));
            return Vec::new();
        };
        vec![Said::Message(Message::Ready(first, offer)), Said::Message(Message::Ready(attempt, its_offer))]
    });
    let alice = job.alice("--workers 2", &between.address);
    for done in [alice.end(), bob.end()] {
        done.failed(4, &["attempt 1"]);
        assert!(done.stderr.contains("which part of which job") || done.stderr.contains("does not agree"));
    }
}

/// A worker of this party that speaks of shards and attempts that are not its own, or is done before it could be: it is not believed.
#[test]
fn a_worker_that_says_it_is_another_shard_counts_for_nothing() {
    let job = Job::new(3);
    let place = &job.couple.place;
    place.run("keys new --key w.key").succeeded();
    let (mut bob, address) = job.bob("--launch wait --worker-key w.key");
    let said = bob.until("workers: duologue ");
    let alice = job.alice("", &address);
    let mut worker = Impostor::employed(place, &said);
    assert_eq!(worker.hear(), json!({ "is": "prepare", "shard": 0, "attempt": 1, "pool": "without" }));
    let key = Identity::generate().unwrap().public().to_string();
    for (shard, attempt) in [(1, 1), (0, 2), (0, 0), (7, 1), (u32::MAX, u32::MAX)] {
        worker.say(json!({ "is": "ready", "shard": shard, "attempt": attempt, "key": key, "address": "127.0.0.1:9" }));
        worker.say(json!({ "is": "failed", "shard": shard, "attempt": attempt, "reason": 6, "why": "a lie" }));
        worker.say(json!({ "is": "done", "shard": shard, "attempt": attempt, "micros": 1, "sent": 1, "received": 1 }));
    }
    worker.say(json!({ "is": "done", "shard": 0, "attempt": 1, "micros": 1, "sent": 1, "received": 1 }));
    bob.until("shard 0, attempt 1 failed on the side of bob: ");
    // What is no message at all costs the worker that sends it its place.
    assert_eq!(worker.hear(), json!({ "is": "prepare", "shard": 0, "attempt": 2, "pool": "without" }));
    worker.say(json!({ "is": "king" }));
    bob.until("worker 1 (process 1) is gone: ");
    let real = place.start(&said);
    let attempts = job.check(&[alice.end(), bob.end()]);
    assert_eq!(attempts, [3, 1, 1]);
    real.end().succeeded();
}

/// Somebody at the port of a worker, before the worker that it waits for: with another key, with no TLS, with nothing to say, or gone.
#[test]
fn strangers_at_a_workers_port_do_not_keep_its_counterpart_out() {
    let job = Job::new(1);
    let (bob, address) = job.bob("");
    let (tell, told) = mpsc::channel();
    let between = Between::new(&job.couple, &address, false, move |_, said| {
        if let Said::Message(Message::Ready(_, Offer { key, address })) = &said
            && !address.is_empty()
        {
            // They are there when the worker begins to accept.
            let mut there: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
            there[0].write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            there[1].write_all(&[0x16, 3, 1, 0xff, 0xff]).unwrap();
            drop(TcpStream::connect(address));
            let thief = Security::Tls { identity: Arc::new(Identity::generate().unwrap()), peer: *key };
            let address = address.clone();
            let thief =
                thread::spawn(move || Channel::connect(&address, &thief, &Limits::default().meet(WAIT)).map(drop));
            tell.send((there, thief)).unwrap();
        }
        vec![said]
    });
    let alice = job.alice("", &between.address);
    let (there, thief) = told.recv().unwrap();
    assert_eq!(job.check(&[alice.end(), bob.end()]), [1]);
    drop(there);
    assert!(thief.join().unwrap().is_err());
}

/// How long somebody tries who comes too late, when nobody listens any more.
const WAIT: Duration = Duration::from_secs(10);

/// Somebody else where a worker expects its counterpart: the attempt fails, and the next one is made with the right one.
#[test]
fn a_worker_that_finds_a_stranger_tries_again() {
    let job = Job::new(4);
    let words = format!("--workers 4 --silence {SILENCE}");
    let (bob, address) = job.bob(&words);
    let held = Mutex::new(Vec::new());
    let between = Between::new(&job.couple, &address, false, move |_, mut said| {
        if let Said::Message(Message::Ready(Attempt { shard, number: 1 }, Offer { address, .. })) = &mut said
            && !address.is_empty()
        {
            *address = stranger(*shard, &mut held.lock().unwrap());
        }
        vec![said]
    });
    let alice = job.alice(&words, &between.address);
    let attempts = job.check(&[alice.end(), bob.end()]);
    assert!(attempts.iter().all(|attempts| *attempts > 1), "{attempts:?}");
}

/// Where somebody listens who is not the worker: who shows another key, hangs up, says what is no TLS, or says nothing.
fn stranger(kind: u32, held: &mut Vec<TcpListener>) -> String {
    if kind == 0 {
        let mut listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let other = || Arc::new(Identity::generate().unwrap());
        let security = Security::Tls { identity: other(), peer: other().public() };
        thread::spawn(move || listener.accept(&security, &Limits::default()).map(drop));
        return address;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    if kind == 3 {
        held.push(listener);
        return address;
    }
    thread::spawn(move || {
        for came in listener.incoming() {
            let mut came = came.unwrap();
            if kind == 2 {
                // It may be gone.
                let _ = came.write_all(b"SSH-2.0-OpenSSH_9.9\r\n");
                mem::forget(came);
            }
        }
    });
    address
}
