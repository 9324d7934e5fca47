//! Processes that use a pool are killed at random moments: no number is given out twice, and what was made is whole.
//!
//! The child is this test program, started again with the name of a folder. It writes to a log what it was given,
//! before it uses it. Its twins do things in the wrong order, and must be caught.

use std::env;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

/// The folder, the party, and in which order the child works.
const VARIABLE: &str = "DUOLOGUE_POOL_CHILD";

/// The cursor moves first. Its twins use numbers before the cursor has moved, and say that lots are made before they are.
const ORDERS: [&str; 3] = ["right", "used-first", "said-first"];

/// Not a test: what the killed processes do. Lots are small, so that many are passed, erased and made.
#[test]
fn child() {
    let Ok(task) = env::var(VARIABLE) else {
        return;
    };
    let [order, party, folder] = task.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let party = if party == "alice" { Party::Alice } else { Party::Bob };
    let mut log = OpenOptions::new().append(true).create(true).open(log(Path::new(folder))).unwrap();
    let mut pool = open(Path::new(folder), party);
    for turn in 0u64.. {
        let counts = [turn % 3, turn % 4, 50 + turn % 30];
        let made = pool.made();
        let line = format!("made {:?}\n", zip(made, counts, |a, b| a + b));
        if order == "said-first" {
            log.write_all(line.as_bytes()).unwrap();
        }
        append(&mut pool, counts);
        log.write_all(if order == "said-first" { b"" } else { line.as_bytes() }).unwrap();
        let counts = each(&pool.left()).map(|left| left - left / 3);
        if order == "used-first" {
            let used = pool.used;
            log.write_all(used_line(&std::array::from_fn(|i| used[i]..used[i] + counts[i])).as_bytes()).unwrap();
            take(&mut pool, counts);
        } else {
            let mut stock = Stock::new(party);
            let taken = pool.take(demand(counts), &mut stock).unwrap();
            log.write_all(used_line(&taken.numbers).as_bytes()).unwrap();
            holds(&mut stock, &taken.numbers);
        }
    }
}

fn used_line(numbers: &[Range<u64>; 3]) -> String {
    format!("used {:?}\n", numbers.each_ref().map(|numbers| [numbers.start, numbers.end]).concat())
}

fn log(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}

/// Opens or makes a pool whose peer has all that it has itself.
fn open(folder: &Path, party: Party) -> Pool {
    let mut pool = match folder.join("header").exists() {
        true => Pool::open(folder, None).unwrap(),
        false => Pool::create(folder, &origin(party), delta(party), None).unwrap(),
    };
    pool.agree(&Summary { party: party.peer(), ..pool.summary() }).unwrap();
    pool
}

fn spawn(order: &str, party: Party, folder: &Path) -> std::process::Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "correlation::pool::tests::crash::child", "--nocapture"]);
    command.env(VARIABLE, format!("{order} {party} {}", folder.display()));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // The first byte that the test program prints: it has started, however busy the machine is.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

/// Kills a child some time after its start; one that works in the wrong order some time after it has said something, so
/// that it is caught on a busy machine too.
fn kill_after(order: &str, party: Party, folder: &Path, time: Duration) {
    let said = || fs::metadata(log(folder)).map_or(0, |log| log.len());
    let before = said();
    let mut child = spawn(order, party, folder);
    while order != ORDERS[0] && said() == before && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_micros(100));
    }
    thread::sleep(time);
    assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What children said that they made and used.
#[derive(Default)]
struct Said {
    made: [u64; 3],
    used: [Vec<Range<u64>>; 3],
}

impl Said {
    fn read(folder: &Path) -> Said {
        let mut said = Said::default();
        // A child that was killed early wrote nothing.
        let text = fs::read_to_string(log(folder)).unwrap_or_default();
        for line in text.lines() {
            let (what, numbers) = line.split_once(' ').unwrap();
            let numbers: Vec<u64> =
                numbers.trim_matches(['[', ']']).split(", ").map(|number| number.parse().unwrap()).collect();
            match what {
                "made" => said.made = zip(said.made, numbers.try_into().unwrap(), u64::max),
                _ => (0..3).for_each(|i| said.used[i].push(numbers[2 * i]..numbers[2 * i + 1])),
            }
        }
        said
    }

    /// What is wrong with a pool, if this was said of it.
    fn wrong_with(&self, pool: &Pool) -> Option<String> {
        for kind in Kind::ALL {
            let (mut end, used) = (0, &self.used[kind as usize]);
            for range in used {
                if range.start < end {
                    return Some(format!("{kind:?} {} was given out twice", range.start));
                }
                end = range.end;
            }
            if pool.used[kind as usize] < end {
                return Some(format!("{kind:?}: the cursor is behind {end}"));
            }
            if pool.made()[kind as usize] < self.made[kind as usize] {
                return Some(format!("{kind:?}: lots are missing that were made"));
            }
        }
        None
    }
}

/// Kills children until something is wrong, in two folders in turn, the halves of one pool. Returns how many were killed.
fn kill(order: &str, folders: &[PathBuf; 2], most: u64, mut dice: u64) -> (u64, Option<String>) {
    let mut counted = [[0; 3]; 2];
    for round in 0..most {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let party = if round % 2 == 0 { Party::Alice } else { Party::Bob };
        let folder = &folders[party as usize];
        // Up to a few turns of the child.
        kill_after(order, party, folder, Duration::from_micros((dice >> 33) % 60_000));
        if folder.join("header").exists() {
            let pool = Pool::open(folder, None).unwrap();
            pool.verify().unwrap();
            let wrong = Said::read(folder).wrong_with(&pool);
            if wrong.is_some() {
                return (round + 1, wrong);
            }
            assert!(zip(counted[party as usize], pool.made(), u64::max) == pool.made(), "numbers went back");
            counted[party as usize] = pool.made();
        }
    }
    (most, None)
}

fn folders(place: &TempDir, name: &str) -> [PathBuf; 2] {
    ["alice", "bob"].map(|party| place.path().join(format!("{name}-{party}")))
}

/// Afterwards the halves agree, and what is left belongs together.
fn agree_afterwards(folders: &[PathBuf; 2]) {
    let open = |party: Party| match folders[party as usize].join("header").exists() {
        true => Pool::open(&folders[party as usize], None).unwrap(),
        false => super::crash::open(&folders[party as usize], party),
    };
    let (mut alice, mut bob) = (open(Party::Alice), open(Party::Bob));
    let [ours, theirs] = [alice.summary(), bob.summary()];
    alice.agree(&theirs).unwrap();
    bob.agree(&ours).unwrap();
    for pool in [&mut alice, &mut bob] {
        pool.trim().unwrap();
        append(pool, [5, 5, 50]);
    }
    assert_eq!((alice.left(), alice.used()), (bob.left(), bob.used()));
    let left = each(&alice.left());
    assert_eq!(take(&mut alice, left), take(&mut bob, left));
    for folder in folders {
        // What one of them made and the other did not is gone, but nothing was used twice.
        let said = Said { made: [0; 3], ..Said::read(folder) };
        assert_eq!(said.wrong_with(&alice), None);
    }
}

#[test]
fn killed_220_times_nothing_is_used_twice_and_nothing_is_lost_that_was_made() {
    let place = TempDir::new().unwrap();
    thread::scope(|scope| {
        for pool in 0..4 {
            let folders = folders(&place, &pool.to_string());
            scope.spawn(move || {
                assert_eq!(kill(ORDERS[0], &folders, 55, pool), (55, None));
                agree_afterwards(&folders);
            });
        }
    });
}

#[test]
fn children_that_work_in_the_wrong_order_are_caught() {
    let place = TempDir::new().unwrap();
    for (order, words) in [(ORDERS[1], ["twice", "behind"]), (ORDERS[2], ["missing", "missing"])] {
        let (kills, wrong) = kill(order, &folders(&place, order), 100, 3);
        let wrong = wrong.unwrap_or_else(|| panic!("{order} was not caught by {kills} kills"));
        assert!(words.iter().any(|word| wrong.contains(word)), "{order}: {wrong}");
    }
}

/// A process whose files may not grow beyond some size, as on a full disk. What it added before is whole.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_the_pool_goes_on() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("alice");
    drop(open(&folder, Party::Alice));
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec '{}' --exact correlation::pool::tests::crash::full_disk --nocapture",
        env::current_exe().unwrap().display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env(VARIABLE, folder.display().to_string()).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    let mut pool = open(&folder, Party::Alice);
    assert_eq!(pool.made(), [22, 0, 220]);
    pool.verify().unwrap();
    take(&mut pool, [22, 0, 220]);
}

/// Not a test: what the process does that cannot write large files.
#[cfg(unix)]
#[test]
fn full_disk() {
    let Ok(folder) = env::var(VARIABLE) else {
        return;
    };
    let mut pool = open(Path::new(&folder), Party::Alice);
    append(&mut pool, [11, 0, 110]);
    let too_many = pool.append(BATCH, &mut stock(Party::Alice, [11..100_000, 0..0, 110..111]));
    assert!(matches!(too_many, Err(Error::Io { ref what, .. }) if what.contains("writing")), "{too_many:?}");
    assert_eq!(pool.made(), [11, 0, 110]);
    append(&mut pool, [11, 0, 110]);
}
