//! A machine that lost its power: of the log there is any part, from its first byte on.

use super::tests::plan;
use super::*;

/// What a driver does with a folder that may have a job.
fn open_or_create(folder: &Path, whose: &Whose<'_>) -> Result<State, Failure> {
    if found(folder) != Found::Nothing { State::open(folder, whose) } else { State::create(folder, whose) }
}

/// A folder with the log of a job of three shards and a last program, whose second shard took two attempts; its inputs have names that
/// are not all ASCII. No outputs are there: whatever counts as finished is none.
fn logged(folder: &Path, whose: &Whose<'_>) -> String {
    let mut state = State::create(folder, whose).unwrap();
    state.keep(&Agreed { job: [0xab; 32], shards: state.progress(whose.plan) }).unwrap();
    for (shard, number, is_done) in [(0, 1, true), (1, 1, false), (1, 2, true), (2, 1, true)] {
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

/// How many attempts at a shard the whole lines of a log have begun, told from its text alone.
fn begun(log: &[u8], name: &str) -> u32 {
    let text = String::from_utf8_lossy(log).into_owned();
    let is_whole = text.rfind('\n').map_or("", |end| &text[..end]);
    is_whole.lines().filter(|line| line.starts_with(&format!("begun {name} "))).count() as u32
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
    assert!(log.contains("größe") && log.ends_with("finished last 1\n"));
    for cut in 0..=log.len() {
        fs::write(folder.join("log"), &log.as_bytes()[..cut]).unwrap();
        let mut state = open_or_create(&folder, &whose).unwrap_or_else(|why| panic!("{cut}: {}", why.message));
        let job_is_there = log.as_bytes()[..cut].ends_with(b"\n") && cut >= log.find("begun 0 1").unwrap();
        assert!(!job_is_there || state.kept.job == Some([0xab; 32]), "{cut}");
        for (shard, kept) in state.kept.shards.clone().iter().enumerate() {
            assert_eq!(
                *kept,
                Progress { begun: begun(&log.as_bytes()[..cut], &shard.to_string()), ..Progress::default() }
            );
        }
        // What follows is no part of the line that was cut.
        state.keep(&Agreed { job: [0xab; 32], shards: state.progress(&plan) }).unwrap();
        let next = Attempt { shard: 1, number: state.kept.shards[1].begun + 1 };
        state.begun(next).unwrap();
        drop(state);
        let kept = look(&folder, &plan).unwrap_or_else(|why| panic!("{cut}: {}", why.message));
        assert_eq!((kept.job, kept.shards[1].begun), (Some([0xab; 32]), next.number), "{cut}");
        assert_eq!(
            kept.last,
            Progress { begun: begun(&log.as_bytes()[..cut], "last"), ..Progress::default() },
            "{cut}"
        );
    }
}
