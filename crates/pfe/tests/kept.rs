//! Runs that are made into folders, and used in other sessions: right, once, with their own half, function and peer.

use duologue::channel::{Channel, Identity, PublicKey};
use duologue::circuit::Circuit;
use duologue::circuit::blocks::{Goal, registry};
use duologue::circuit::private::{Function, nands, thresholds};
use duologue::storage::{Counts, KeptRuns, NewRuns, SealKey};
use duologue::{Error, Party, Result};
use pfe::{Alice, Bob, Kept, KeptBob, Padding, Ready, Threads, Wired};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use tempfile::TempDir;

fn circuit() -> Circuit {
    registry::find("multiply").unwrap().circuit(&[8], Goal::Size).unwrap()
}

fn data(seed: u64) -> Vec<bool> {
    (0..circuit().input_width()).map(|bit| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (bit % 61) & 1 == 1).collect()
}

/// Both parties' folders, and keys that their channels proved.
struct Couple {
    place: TempDir,
    keys: Option<[PublicKey; 2]>,
}

fn key() -> PublicKey {
    Identity::generate().unwrap().public()
}

impl Couple {
    fn new() -> Couple {
        Couple { place: TempDir::new().unwrap(), keys: Some([key(), key()]) }
    }

    fn folder(&self, party: Party) -> PathBuf {
        self.place.path().join(party.to_string())
    }

    /// Channels of Alice and Bob.
    fn channels(&self) -> (Channel, Channel) {
        let (alice, bob) = Channel::pair();
        match self.keys {
            Some([a, b]) => (alice.authenticated(a, b), bob.authenticated(b, a)),
            None => (alice, bob),
        }
    }

    /// Prepares runs of a function, Alice's folder sealed.
    fn prepare(&self, function: Function, runs: u32) -> [Counts; 2] {
        let (to_bob, to_alice) = self.channels();
        let folder = |party| NewRuns::create(&self.folder(party), seal(party)).unwrap();
        let (hers, his) = (folder(Party::Alice), folder(Party::Bob));
        thread::scope(|scope| {
            let alice = scope.spawn(move || {
                let gates = Some(function.gates() as u64 + 700);
                let mut wired = Wired::new(function, Padding { gates, ..Padding::default() })?;
                let mut alice = Alice::connect(to_bob, &mut wired, runs)?;
                let counts = alice.prepare_to(hers)?;
                alice.close().map(|_| counts)
            });
            let mut bob = Bob::connect(to_alice, None).unwrap();
            let counts = bob.prepare_to(his).unwrap();
            assert!(matches!(bob.run(&data(0)), Err(Error::Usage(_))), "all that were offered are made");
            bob.close().unwrap();
            [alice.join().unwrap().unwrap(), counts]
        })
    }

    fn open(&self, party: Party) -> Result<Kept> {
        Kept::open(&self.folder(party), seal(party), party)
    }

    /// One session in which Bob asks for these runs.
    fn run(&self, function: Function, all: &[Vec<bool>]) -> [Result<Vec<Vec<bool>>>; 2] {
        let (to_bob, to_alice) = self.channels();
        thread::scope(|scope| {
            let alice = scope.spawn(|| {
                let mut kept = self.open(Party::Alice)?;
                let wired = kept.wired(function)?;
                let mut alice = Ready::new(kept, &wired, &Threads::default())?.connect(to_bob)?;
                while alice.serve()? {}
                alice.close().map(|_| Vec::new())
            });
            let bob = || {
                let mut bob = KeptBob::connect(to_alice, self.open(Party::Bob)?, &Threads::default())?;
                let results = all.iter().map(|x| bob.run(x)).collect::<Result<Vec<_>>>()?;
                bob.close().map(|_| results)
            };
            let bob = bob();
            [alice.join().unwrap(), bob]
        })
    }

    fn left(&self) -> [[u64; 2]; 2] {
        [Party::Alice, Party::Bob].map(|party| {
            let counts = self.open(party).unwrap().counts();
            [counts.used, counts.left]
        })
    }

    /// A run of one piece of data, which is refused at a party with these words.
    fn refused(&self, function: Function, at: Party, words: &str) {
        let before = self.left();
        let [alice, bob] = self.run(function, &[data(1)]);
        let why = if at == Party::Alice { alice } else { bob }.unwrap_err().to_string();
        assert!(why.contains(words), "no '{words}' in: {why}");
        assert_eq!(self.left(), before, "nothing is used up");
    }
}

fn seal(party: Party) -> Option<SealKey> {
    (party == Party::Alice).then(|| SealKey::from_bytes(&[7; 32]).unwrap())
}

fn function() -> Function {
    thresholds(&circuit()).unwrap()
}

#[test]
fn runs_are_made_once_and_used_in_other_sessions() {
    let couple = Couple::new();
    let counts = couple.prepare(function(), 3);
    assert_eq!(counts.map(|counts| (counts.made, counts.used, counts.left)), [(3, 0, 3); 2]);
    for (session, used) in [(vec![data(1)], 1), (vec![data(2), data(3)], 3)] {
        let [alice, bob] = couple.run(function(), &session);
        alice.unwrap();
        let expected: Vec<_> = session.iter().map(|x| circuit().evaluate(x)).collect();
        assert_eq!(bob.unwrap(), expected);
        assert_eq!(couple.left(), [[used, 3 - used]; 2]);
    }
    let [alice, bob] = couple.run(function(), &[data(4)]);
    for why in [alice.unwrap_err(), bob.unwrap_err()] {
        assert!(matches!(why, Error::Usage(_) | Error::Aborted(_) | Error::Closed { .. }), "{why}");
    }
    // No run, no table and no key of one is left.
    for party in [Party::Alice, Party::Bob] {
        let names = fs::read_dir(couple.folder(party)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["cursor", "header", "lock"]);
    }
}

/// What travels online is labels alone, 41 + 32 bytes by which the parties find the run, and a byte of the end.
#[test]
fn online_there_are_labels_alone() {
    let couple = Couple::new();
    couple.prepare(function(), 1);
    let (to_bob, to_alice) = couple.channels();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut kept = couple.open(Party::Alice).unwrap();
            let wired = kept.wired(function()).unwrap();
            let mut alice = Ready::new(kept, &wired, &Threads::new(2).unwrap()).unwrap().connect(to_bob).unwrap();
            while alice.serve().unwrap() {}
            alice.close().unwrap();
        });
        let mut bob = KeptBob::connect(to_alice, couple.open(Party::Bob).unwrap(), &Threads::default()).unwrap();
        bob.run(&data(5)).unwrap();
        let counters = bob.close().unwrap();
        let [inputs, outputs] = [circuit().input_width(), circuit().output_width()].map(|bits| 32 * bits as u64);
        assert_eq!((counters.bytes_sent, counters.bytes_received), (1 + 40 + 32 + inputs + 1, 40 + 32 + outputs));
    });
}

#[test]
fn what_does_not_belong_together_is_refused_and_uses_nothing_up() {
    let couple = Couple::new();
    couple.prepare(function(), 2);
    // Another function, and the same in another form.
    let other = registry::find("multiply").unwrap().circuit(&[8], Goal::Depth).unwrap();
    let same = thresholds(&other).unwrap() == function();
    if !same {
        couple.refused(thresholds(&other).unwrap(), Party::Alice, "another function");
    }
    couple.refused(nands(&circuit()).unwrap(), Party::Alice, "another function");
    // The halves exchanged.
    let why = Kept::open(&couple.folder(Party::Bob), None, Party::Alice).err().unwrap().to_string();
    assert!(why.contains("bob's half") && why.contains("not alice's"), "{why}");
    // Another peer, or none.
    let keys = couple.keys;
    for others in [keys.map(|[alice, _]| [alice, key()]), None] {
        let couple = Couple { keys: others, ..Couple::at(&couple) };
        couple.refused(function(), Party::Alice, "another peer or key");
        couple.refused(function(), Party::Bob, "another peer or key");
    }
    // Bob's half of other runs with the same Alice: both have a run 0, and not the same.
    let others = Couple { keys, ..Couple::new() };
    others.prepare(function(), 2);
    let mixed = Couple::at(&couple);
    fs::remove_dir_all(mixed.folder(Party::Bob)).unwrap();
    copy(&others.folder(Party::Bob), &mixed.folder(Party::Bob));
    mixed.refused(function(), Party::Bob, "the prepared run, which was made in one session");
    mixed.refused(function(), Party::Alice, "the prepared run, which was made in one session");
    let [_, bob] = couple.run(function(), &[data(1), data(2)]);
    assert_eq!(bob.unwrap().len(), 2, "the halves that belong together still do");
}

impl Couple {
    /// Copies of a couple's folders.
    fn at(other: &Couple) -> Couple {
        let couple = Couple { keys: other.keys, ..Couple::new() };
        for party in [Party::Alice, Party::Bob] {
            copy(&other.folder(party), &couple.folder(party));
        }
        couple
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    #[cfg(unix)]
    fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Every file of a run, cut or changed, is named, and nothing is used up.
#[test]
fn damage_is_named() {
    let couple = Couple::new();
    couple.prepare(function(), 1);
    let files = [(Party::Alice, "secrets"), (Party::Alice, "tables"), (Party::Bob, "secrets")];
    for (party, kind) in files {
        for cut in [true, false] {
            let damaged = Couple::at(&couple);
            let (file, name) = (format!("{kind}-000000000000"), damaged.folder(party));
            let path = name.join(&file);
            let mut bytes = fs::read(&path).unwrap();
            let last = bytes.len() - 20;
            if cut {
                bytes.truncate(last)
            } else {
                bytes[last] ^= 1
            };
            fs::write(&path, bytes).unwrap();
            let found = damaged.open(party).and_then(|mut kept| kept.verify_next());
            let why = found.unwrap_err();
            assert!(matches!(why, Error::Malformed { .. }) && why.to_string().contains(&file), "{why}");
            if !cut {
                // The peer has marked nothing either.
                damaged.refused(function(), party, &file);
            }
        }
    }
}

/// Killed at the worst moment: after both have marked the run, before the labels. It is lost, and the next one is another.
#[test]
fn a_run_that_was_marked_is_spent() {
    let couple = Couple::new();
    couple.prepare(function(), 3);
    let (mut to_bob, mut to_alice) = couple.channels();
    thread::scope(|scope| {
        let alice = scope.spawn(|| {
            let mut runs = KeptRuns::open(&couple.folder(Party::Alice), seal(Party::Alice)).unwrap();
            runs.take(&mut to_bob).unwrap().number
        });
        let mut runs = KeptRuns::open(&couple.folder(Party::Bob), None).unwrap();
        assert_eq!([runs.take(&mut to_alice).unwrap().number, alice.join().unwrap()], [0, 0]);
    });
    assert_eq!(couple.left(), [[1, 2]; 2]);
    // Bob marks the next one, and Alice is killed before she does.
    let (mut to_bob, mut to_alice) = couple.channels();
    thread::scope(|scope| {
        scope.spawn(move || {
            let hers = to_bob.recv(40).unwrap();
            to_bob.send(&hers).unwrap();
            to_bob.flush().unwrap();
        });
        let mut runs = KeptRuns::open(&couple.folder(Party::Bob), None).unwrap();
        assert!(runs.take(&mut to_alice).is_err());
    });
    assert_eq!(couple.left(), [[1, 2], [2, 1]]);
    let [alice, bob] = couple.run(function(), &[data(9)]);
    alice.unwrap();
    assert_eq!(bob.unwrap(), [circuit().evaluate(&data(9))]);
    assert_eq!(couple.left(), [[3, 0]; 2]);
}

/// A twin that takes the cursor back uses a second time what it used: labels of two data under one a. This is what the cursor,
/// which is written first and never back, is there for.
#[test]
fn both_folders_from_a_backup_are_what_nobody_can_tell() {
    let couple = Couple::new();
    couple.prepare(function(), 1);
    let backup = Couple::at(&couple);
    assert!(couple.run(function(), &[data(1)]).iter().all(Result::is_ok));
    assert!(couple.run(function(), &[data(2)]).iter().all(Result::is_err));
    // One folder from the backup does not help.
    let one = Couple::at(&backup);
    fs::remove_dir_all(one.folder(Party::Bob)).unwrap();
    copy(&couple.folder(Party::Bob), &one.folder(Party::Bob));
    assert!(one.run(function(), &[data(2)]).iter().all(Result::is_err));
    assert!(backup.run(function(), &[data(2)]).iter().all(Result::is_ok), "as the book warns");
}
