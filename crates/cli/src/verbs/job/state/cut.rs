//! A machine that lost its power: of the log there is any part, from its first byte on.

use super::tests::{make_pool, plan};
use super::*;

/// What a driver does with a folder that may have a job.
fn open_or_create(folder: &Path, whose: &Whose<'_>) -> Result<State, Failure> {
    if found(folder) != Found::Nothing { State::open(folder, whose) } else { State::create(folder, whose) }
}

const JOB: [u8; 32] = [0xab; 32];

/// The attempts whose pools no attempt has used: one is there, the other is lost before the job begins.
const POOL: Attempt = Attempt { shard: 2, number: 1 };
const LOST: Attempt = Attempt { shard: 0, number: 1 };

/// A folder with the log of a job of three shards and a last program. For two shards pools were made before there were inputs. Of those that
/// were computed the second one took two attempts. The inputs have names that are not all ASCII. No outputs are there: whatever counts as
/// finished is none.
fn logged(folder: &Path, whose: &Whose<'_>) -> String {
    prepare(folder, whose);
    let mut state = State::open(folder, whose).unwrap();
    agree(&mut state, whose);
    for (shard, number, is_done) in [(0, 2, true), (1, 1, false), (1, 2, true)] {
        let attempt = Attempt { shard, number };
        state.begun(attempt).unwrap();
        if is_done {
            state.finished(attempt, Costs { micros: 1234, sent: 56, received: 78, predicted: None }).unwrap();
        }
    }
    state.begin_last().unwrap();
    state.finish_last().unwrap();
    fs::read_to_string(folder.join("log")).unwrap()
}

fn prepare(folder: &Path, whose: &Whose<'_>) {
    let whose = Whose { inputs: None, ..*whose };
    let mut state = State::create(folder, &whose).unwrap();
    agree(&mut state, &whose);
    for attempt in [LOST, POOL] {
        state.begun(attempt).unwrap();
        make_pool(&state, attempt);
        state.made_pool(attempt, Costs { micros: 1234, sent: 56, received: 78, predicted: None }).unwrap();
    }
    state.pools().unwrap().erase(LOST).unwrap();
}

/// The other party agrees to all that this one has.
fn agree(state: &mut State, whose: &Whose<'_>) {
    state.keep(&Agreed { job: JOB, shards: state.progress(whose.plan) }).unwrap();
}

/// The whole lines of a log.
fn whole_lines(log: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(log).into_owned();
    let is_whole = text.rfind('\n').map_or("", |end| &text[..end]);
    is_whole.lines().map(String::from).collect()
}

/// How far a shard is in the folder, told from the log's text alone. Nothing that is finished is there, and of the pools one.
fn progress(lines: &[String], name: &str) -> Progress {
    let about = |word: &str| lines.iter().filter(|line| line.starts_with(&format!("{word} {name} "))).count() as u32;
    let pool = (name == POOL.shard.to_string() && about("pool") > 0).then_some(POOL.number);
    Progress { begun: about("begun"), finished: None, pool }
}

/// What a folder has of a job, told from the log's text alone.
fn what_is_found(lines: &[String]) -> Found {
    let has = |word: &str| lines.iter().any(|line| line.starts_with(word));
    match (has("job "), has("inputs ")) {
        (false, _) => Found::Nothing,
        (true, false) => Found::Prepared,
        (true, true) => Found::Begun,
    }
}

#[test]
fn a_log_that_is_cut_anywhere_goes_on_and_no_number_comes_twice() {
    let (place, plan) = (tempfile::tempdir().unwrap(), plan());
    let input = place.path().join("größen-é.csv");
    fs::write(&input, "1\n").unwrap();
    let inputs = serde_json::json!([{
        "name": "größe", "what": "", "file": { "path": input, "length": 2, "changed": [1, 2] }
    }]);
    let inputs: Vec<Stamp> = serde_json::from_value(inputs).unwrap();
    let whose = Whose { party: Party::Alice, plan: &plan, inputs: Some(&inputs) };
    let folder = place.path().join("state");
    let log = logged(&folder, &whose);
    for line in ["größe", "\njob ", "\npool 0 1", "\npool 2 1", "\nundone 0\n"] {
        assert!(log.contains(line) && log.ends_with("finished last 1\n"), "{line}");
    }
    // The pool is there from before the line that says so.
    let (pool, aside) = (Pools::new(&folder, &JOB).path(POOL), place.path().join("aside"));
    fs::rename(&pool, &aside).unwrap();
    for cut in 0..=log.len() {
        if cut == log.find("pool 2 1").unwrap() {
            fs::rename(&aside, &pool).unwrap();
        }
        let lines = whole_lines(&log.as_bytes()[..cut]);
        fs::write(folder.join("log"), &log.as_bytes()[..cut]).unwrap();
        assert_eq!(found(&folder), what_is_found(&lines), "{cut}");
        let mut state = open_or_create(&folder, &whose).unwrap_or_else(|why| panic!("{cut}: {}", why.message));
        assert_eq!(state.kept.job, (what_is_found(&lines) != Found::Nothing).then_some(JOB), "{cut}");
        let shards: Vec<_> = ["0", "1", "2"].iter().map(|name| progress(&lines, name)).collect();
        assert_eq!(state.kept.shards, shards, "{cut}");
        // What follows is no part of the line that was cut.
        agree(&mut state, &whose);
        let next = Attempt { shard: 1, number: state.kept.shards[1].begun + 1 };
        state.begun(next).unwrap();
        drop(state);
        let kept = look(&folder, &plan).unwrap_or_else(|why| panic!("{cut}: {}", why.message));
        let second = Progress { begun: next.number, ..Progress::default() };
        assert_eq!((kept.job, &kept.shards[..]), (Some(JOB), &[shards[0], second, shards[2]][..]), "{cut}");
        assert_eq!((kept.last, found(&folder)), (progress(&lines, "last"), Found::Begun), "{cut}");
        assert!(kept.inputs.is_some(), "{cut}");
    }
}
