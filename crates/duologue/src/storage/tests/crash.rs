//! Processes that use a folder are killed at random moments: no number is given out twice, and what was made is whole.
//!
//! The child is this test program, started again with the name of a folder. It writes to a log what it was given,
//! before it uses it, as a session would send the first byte that depends on an input. Its twins do things in the wrong
//! order, and must be caught.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

/// The content, in which order the child works, the party, and the folder.
const VARIABLE: &str = "DUOLOGUE_STORAGE_CHILD";

/// The cursor moves first. Its twins use numbers before the cursor has moved, and say that they are made before they are.
const ORDERS: [&str; 3] = ["right", "used-first", "said-first"];

/// Not a test: what the killed processes do.
#[test]
fn child() {
    let Ok(task) = env::var(VARIABLE) else {
        return;
    };
    let [content, order, party, folder] = task.splitn(4, ' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let party = if party == "alice" { Party::Alice } else { Party::Bob };
    match content {
        Pool::NAME => work::<Pool>(order, party, Path::new(folder)),
        _ => work::<PreparedRuns>(order, party, Path::new(folder)),
    }
}

/// Entries are small, so that many are passed, erased and made.
fn work<S: Store>(order: &str, party: Party, folder: &Path) {
    let mut log = OpenOptions::new().append(true).create(true).open(log(folder)).unwrap();
    let mut store: S = open_or_create(folder, party);
    for turn in 0.. {
        let end: Vec<u64> = store.made().iter().zip(S::portion(turn)).map(|(made, more)| made + more).collect();
        in_order(&mut log, format!("made {end:?}\n"), order == "said-first", || store.add(turn));
        for round in 0.. {
            let Some(counts) = store.due(turn, round) else { break };
            let numbers: Vec<u64> = store.used().iter().zip(&counts).flat_map(|(from, n)| [*from, from + n]).collect();
            let line = format!("used {numbers:?}\n");
            let mut taken = None;
            in_order(&mut log, line, order == "used-first", || taken = Some(store.take(&counts)));
            store.check_taken(taken.unwrap());
        }
    }
}

/// Does something, and says so afterwards, or too early.
fn in_order(log: &mut File, line: String, early: bool, act: impl FnOnce()) {
    log.write_all(if early { line.as_bytes() } else { b"" }).unwrap();
    act();
    log.write_all(if early { b"" } else { line.as_bytes() }).unwrap();
}

fn log(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}

fn open_or_create<S: Store>(folder: &Path, party: Party) -> S {
    match folder.join("header").exists() {
        true => S::open(folder).unwrap_or_else(|error| panic!("{error}")),
        false => S::create(folder, party, IDENTITY, None),
    }
}

/// Starts a test of this program anew, with a task.
fn spawn(mut command: Command, test: &str, task: &str) -> Child {
    command.args(["--exact", &format!("storage::tests::crash::{test}"), "--nocapture"]).env(VARIABLE, task);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // The first byte that the test program prints: it has started, however busy the machine is.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

/// Kills a child some time after its start.
fn kill_after(task: &str, time: Duration) {
    let mut child = spawn(Command::new(env::current_exe().unwrap()), "child", task);
    thread::sleep(time);
    assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What children said that they made, at most, and used, of each kind.
#[derive(Default)]
struct Said {
    made: Vec<u64>,
    used: Vec<Vec<Range<u64>>>,
}

impl Said {
    fn read(folder: &Path) -> Said {
        let mut said = Said::default();
        // A child that was killed early wrote nothing.
        let text = fs::read_to_string(log(folder)).unwrap_or_default();
        for line in text.lines() {
            let (what, numbers) = line.split_once(' ').unwrap();
            let numbers = numbers.trim_matches(['[', ']']).split(", ").map(|number| number.parse().unwrap());
            let numbers: Vec<u64> = numbers.collect();
            match what {
                "made" => {
                    said.made.resize(numbers.len(), 0);
                    said.made.iter_mut().zip(numbers).for_each(|(made, more)| *made = more.max(*made));
                }
                _ => {
                    said.used.resize(numbers.len() / 2, Vec::new());
                    let ranges = numbers.chunks(2).map(|range| range[0]..range[1]);
                    said.used.iter_mut().zip(ranges).for_each(|(used, range)| used.push(range));
                }
            }
        }
        said
    }

    /// What is wrong with a folder, if this was said of it.
    fn wrong_with<S: Store>(&self, store: &S) -> Option<String> {
        for (kind, (used, cursor)) in self.used.iter().zip(store.used()).enumerate() {
            let mut end = 0;
            for range in used {
                if range.start < end {
                    return Some(format!("{} of kind {kind} was given out twice", range.start));
                }
                end = range.end;
            }
            if cursor < end {
                return Some(format!("the cursor of kind {kind} is behind {end}"));
            }
        }
        let lost = self.made.iter().zip(store.made()).any(|(said, made)| made < *said);
        lost.then(|| "what was made is missing".into())
    }
}

/// Kills children until something is wrong, in two folders in turn, the halves of one. Returns how many were killed.
fn kill<S: Store>(order: &str, folders: &[PathBuf; 2], most: u64, mut dice: u64) -> (u64, Option<String>) {
    let mut counted = [vec![], vec![]];
    for round in 0..most {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let party = if round % 2 == 0 { Party::Alice } else { Party::Bob };
        let folder = &folders[party as usize];
        // Up to a few turns of the child.
        let time = Duration::from_micros((dice >> 33) % 60_000);
        kill_after(&format!("{} {order} {party} {}", S::NAME, folder.display()), time);
        if folder.join("header").exists() {
            let store = S::open(folder).unwrap_or_else(|error| panic!("{error}"));
            store.verify().unwrap();
            let wrong = Said::read(folder).wrong_with(&store);
            if wrong.is_some() {
                return (round + 1, wrong);
            }
            let before = std::mem::replace(&mut counted[party as usize], store.made());
            assert!(before.iter().zip(store.made()).all(|(before, made)| *before <= made), "numbers went back");
            nothing_is_left_over(folder);
        }
    }
    (most, None)
}

/// Every key is that of an entry, and no file is half a one.
fn nothing_is_left_over(folder: &Path) {
    let names = super::folder::names(folder).unwrap();
    assert!(names.iter().all(|name| !name.ends_with(files::PART)), "{names:?}");
    let of = |beginning: &str| names.iter().filter(|name| name.starts_with(beginning)).count();
    assert_eq!(of("key-"), of("cots-") + of("triples-") + of("labels-"), "{names:?}");
}

fn folders(place: &TempDir, name: &str) -> [PathBuf; 2] {
    ["alice", "bob"].map(|party| place.path().join(format!("{name}-{party}")))
}

for_both! {
    /// Of entries whose names were given together a power cut left the last and took the middle one back, which is
    /// unfinished again: both are dropped, and others take their numbers.
    fn a_power_cut_between_names_drops_what_does_not_follow<S: Store>() {
        let stored = Stored::<S>::new();
        let middle: Vec<String> = stored.secrets().into_iter().filter(|name| stored.is_middle(name)).collect();
        assert!(!middle.is_empty());
        for name in &middle {
            fs::rename(stored.file(name), stored.file(&format!("{name}{}", files::PART))).unwrap();
        }
        let mut store = stored.read().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((store.used(), store.made()), (stored.used.clone(), stored.used.clone()));
        nothing_is_left_over(&stored.path);
        store.add(1);
        let taken = store.take(&S::portion(1));
        store.check_taken(taken);
        store.verify().unwrap();
    }
}

/// In several folders at once.
fn kill_many<S: Store>(pairs: u64, kills: u64) {
    let place = TempDir::new().unwrap();
    thread::scope(|scope| {
        for pair in 0..pairs {
            let folders = folders(&place, &pair.to_string());
            scope.spawn(move || {
                assert_eq!(kill::<S>(ORDERS[0], &folders, kills, pair), (kills, None));
                S::go_on(&folders);
            });
        }
    });
}

#[test]
fn pools_killed_220_times_use_nothing_twice_and_lose_nothing_that_was_made() {
    kill_many::<Pool>(4, 55);
}

#[test]
fn prepared_runs_killed_120_times_are_not_used_twice_and_none_is_lost_that_was_made() {
    kill_many::<PreparedRuns>(3, 40);
}

#[test]
fn children_that_work_in_the_wrong_order_are_caught() {
    in_the_wrong_order::<Pool>();
    in_the_wrong_order::<PreparedRuns>();
}

fn in_the_wrong_order<S: Store>() {
    let place = TempDir::new().unwrap();
    for (order, words) in [(ORDERS[1], ["twice", "behind"]), (ORDERS[2], ["missing", "missing"])] {
        let (kills, wrong) = kill::<S>(order, &folders(&place, order), 200, 3);
        let wrong = wrong.unwrap_or_else(|| panic!("{order} was not caught by {kills} kills"));
        assert!(words.iter().any(|word| wrong.contains(word)), "{order}: {wrong}");
    }
}

/// A process whose files may not grow beyond some size, as on a full disk. What it added before and afterwards is whole.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_the_folder_goes_on() {
    full_disk_of::<Pool>();
    full_disk_of::<PreparedRuns>();
}

#[cfg(unix)]
fn full_disk_of<S: Store>() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("alice");
    S::create(&folder, Party::Alice, IDENTITY, None).add(1);
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec '{}' --exact storage::tests::crash::full_disk --nocapture",
        env::current_exe().unwrap().display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env(VARIABLE, format!("{} {}", S::NAME, folder.display())).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    let mut store = S::open(&folder).unwrap();
    let twice: Vec<u64> = S::portion(1).iter().map(|count| 2 * count).collect();
    assert_eq!(store.made(), twice);
    store.verify().unwrap();
    nothing_is_left_over(&folder);
    let taken = store.take(&S::portion(1));
    store.check_taken(taken);
}

/// Not a test: what the process does that cannot write large files.
#[cfg(unix)]
#[test]
fn full_disk() {
    let Ok(task) = env::var(VARIABLE) else {
        return;
    };
    match task.split_once(' ').unwrap() {
        (Pool::NAME, folder) => fill_disk::<Pool>(Path::new(folder)),
        (_, folder) => fill_disk::<PreparedRuns>(Path::new(folder)),
    }
}

#[cfg(unix)]
fn fill_disk<S: Store>(folder: &Path) {
    let mut store = S::open(folder).unwrap();
    let before = store.made();
    let full = store.add_too_much();
    assert!(matches!(full, Err(Error::Io { ref what, .. }) if what.contains("writing")), "{full:?}");
    assert_eq!(store.made(), before);
    nothing_is_left_over(folder);
    store.add(1);
}
