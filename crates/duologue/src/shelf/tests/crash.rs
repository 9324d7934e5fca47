//! Processes that use a shelf are killed at random moments: no run is used twice, and what was made is whole.
//!
//! The child is this test program, started again with the name of a folder. It writes to a log which run it uses, as a
//! session would send the first byte that depends on an input. Its twins do things in the wrong order, and must be
//! caught.

use std::env;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

/// The folder, and in which order the child works.
const VARIABLE: &str = "DUOLOGUE_SHELF_CHILD";

/// The cursor moves first. Its twins use a run before the cursor has moved, and say that it is made before it is.
const ORDERS: [&str; 3] = ["right", "cursor-moved-late", "said-first"];

/// Not a test: what the killed processes do.
#[test]
fn child() {
    let Ok(task) = env::var(VARIABLE) else {
        return;
    };
    let (order, folder) = task.split_once(' ').unwrap();
    let folder = Path::new(folder);
    let mut log = OpenOptions::new().append(true).create(true).open(log(folder)).unwrap();
    let mut shelf = open_or_create(folder);
    for turn in 0u64.. {
        for _ in 0..1 + turn % 3 {
            let line = format!("made {}\n", shelf.counts().unwrap()[1]);
            if order == "said-first" {
                log.write_all(line.as_bytes()).unwrap();
            }
            make(&mut shelf, BATCH);
            log.write_all(if order == "said-first" { b"" } else { line.as_bytes() }).unwrap();
        }
        while shelf.counts().unwrap()[2] > turn % 2 {
            let number = shelf.first_from(0).unwrap();
            let line = format!("used {number}\n");
            let taken = Arc::new(shelf.checked(number).unwrap());
            if order == "cursor-moved-late" {
                log.write_all(line.as_bytes()).unwrap();
                holds(&taken, number, true);
                shelf.advance(number + 1).unwrap();
            } else {
                shelf.advance(number + 1).unwrap();
                log.write_all(line.as_bytes()).unwrap();
                holds(&taken, number, true);
            }
            shelf.erase_used().unwrap();
        }
    }
}

fn log(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}

fn open_or_create(folder: &Path) -> Shelf {
    if Shelf::is_in(folder) { open(folder) } else { create(folder, Party::Bob, None) }
}

fn spawn(task: &str) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "shelf::tests::crash::child", "--nocapture"]).env(VARIABLE, task);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // The first byte that the test program prints: it has started, however busy the machine is.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

/// What is wrong with a shelf, if this was said of it.
fn wrong_with(folder: &Path, shelf: &Shelf) -> Option<String> {
    // A child that was killed early wrote nothing.
    let text = fs::read_to_string(log(folder)).unwrap_or_default();
    let [used, end, _] = shelf.counts().unwrap();
    let mut next = 0;
    for line in text.lines() {
        let (what, number) = line.split_once(' ').unwrap();
        let number: u64 = number.parse().unwrap();
        match what {
            "used" if number < next => return Some(format!("{number} was used twice")),
            "used" if number >= used => return Some(format!("the cursor is behind {number}")),
            "used" => next = number + 1,
            _ if number >= end => return Some(format!("{number} is missing, which was made")),
            _ => {}
        }
    }
    None
}

/// Kills children until something is wrong: how many were killed, and what it is.
fn kill(order: &str, folder: &Path, most: u64, mut dice: u64) -> (u64, Option<String>) {
    for round in 0..most {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let said = || fs::metadata(log(folder)).map_or(0, |log| log.len());
        let before = said();
        let mut child = spawn(&format!("{order} {}", folder.display()));
        // A child that works in the wrong order has said something, so that it is caught on a busy machine too.
        while order != ORDERS[0] && said() == before && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(100));
        }
        thread::sleep(Duration::from_micros((dice >> 33) % 50_000));
        assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        if Shelf::is_in(folder) {
            let shelf = open(folder);
            shelf.verify().unwrap();
            let wrong = wrong_with(folder, &shelf);
            if wrong.is_some() {
                return (round + 1, wrong);
            }
        }
    }
    (most, None)
}

#[test]
fn killed_120_times_no_run_is_used_twice_and_none_is_lost_that_was_made() {
    let place = TempDir::new().unwrap();
    thread::scope(|scope| {
        for seed in 0..3 {
            let folder = place.path().join(seed.to_string());
            scope.spawn(move || assert_eq!(kill(ORDERS[0], &folder, 40, seed), (40, None)));
        }
    });
}

#[test]
fn children_that_work_in_the_wrong_order_are_caught() {
    let place = TempDir::new().unwrap();
    for (order, words) in [(ORDERS[1], ["twice", "behind"]), (ORDERS[2], ["missing", "missing"])] {
        let (kills, wrong) = kill(order, &place.path().join(order), 200, 3);
        let wrong = wrong.unwrap_or_else(|| panic!("{order} was not caught by {kills} kills"));
        assert!(words.iter().any(|word| wrong.contains(word)), "{order}: {wrong}");
    }
}

/// A process whose files may not grow beyond some size, as on a full disk. What was complete before is whole.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_the_shelf_goes_on() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    make(&mut create(&folder, Party::Bob, None), BATCH);
    let script = format!(
        "trap '' XFSZ; ulimit -f 20; exec '{}' --exact shelf::tests::crash::full_disk --nocapture",
        env::current_exe().unwrap().display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env(VARIABLE, folder.display().to_string()).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    let mut shelf = open(&folder);
    assert_eq!(shelf.counts().unwrap(), [0, 1, 1]);
    assert!(fs::read_dir(&folder).unwrap().all(|entry| entry.unwrap().path().extension().is_none()));
    assert_eq!(take(&mut shelf), 0);
}

/// Not a test: what the process does that cannot write large files.
#[cfg(unix)]
#[test]
fn full_disk() {
    let Ok(folder) = env::var(VARIABLE) else {
        return;
    };
    let shelf = open(Path::new(&folder));
    let mut making = shelf.begin((1, BATCH), true, &secrets(1), ROOM).unwrap();
    let full = making.tables(&content(1)[1]);
    assert!(matches!(full, Err(Error::Io { ref what, .. }) if what.contains("writing")), "{full:?}");
}
