//! Logs and folders of jobs.

use super::log::read_log;
use super::*;
use proptest::prelude::*;

#[test]
fn a_log_is_read_up_to_its_last_whole_line() {
    let job = "ab".repeat(32);
    let text = format!("{TITLE}bob\njob {job}\nbegun 1 1\nbegun 1 2\nfinished 1 2 70 8 9\nbegun 0 1\nfinished 0 1 1");
    let kept = read_log(&text, 2).unwrap();
    assert_eq!((kept.party, kept.job), (Party::Bob, Some([0xab; 32])));
    let of = |begun, finished| Progress { begun, finished, pool: None };
    assert_eq!(kept.shards, [of(1, None), of(2, Some(2))]);
    assert_eq!(kept.costs[1], Costs { micros: 70, sent: 8, received: 9, predicted: None });
    let predicted = read_log(&text.replace("70 8 9", "70 8 9 60"), 2).unwrap();
    assert_eq!(predicted.costs[1].predicted, Some(60));
    let kept = read_log(&format!("{text}\nbegun last 3\nfinished last 3\nundone 1\nmerged\n"), 2).err().unwrap();
    assert!(kept.contains("line 7"), "a line that was cut is none: {kept}");
    let text = text.replace("\nfinished 0 1 1", "\nbegun last 3\nfinished last 3\nundone 1\nmerged\n");
    let kept = read_log(&text, 2).unwrap();
    assert_eq!((kept.last, kept.shards[1], kept.merged), (of(3, Some(3)), of(2, None), true));
}

#[test]
fn a_line_that_no_driver_writes_is_refused() {
    for line in [
        "begun 2 1",
        "begun 0 0",
        "begun 0",
        "finished 0 1 1 1 1",
        "job abc",
        "begun 0 -1",
        "",
        "begin 0 1",
        "begun 0 1 1",
        "finished 0 0 1 1 1 1 1",
        "begun last",
        "begun last 1 1",
        "finished last 1",
        "undone",
        "undone 2",
        "pool 0 1 5 6 7",
        "pool 2 0 5 6 7",
        "pool last 0",
        "pool 0",
        "begun 0 1\nfinished 0 1 1 1 1\npool 0 1 5 6 7",
        "begun 0 1\npool 0 1 5 6 7\nfinished 0 1 1 1 1",
        "begun 0 2\npool 0 1 5 6 7",
        "inputs 3",
        "merged 1",
    ] {
        let why = read_log(&format!("{TITLE}alice\n{line}\n"), 2).err().unwrap();
        assert!(why.contains(&format!("line {}", 1 + line.split('\n').count())), "{line}: {why}");
    }
    assert!(read_log("", 1).is_err() && read_log(&format!("{TITLE}carol\n"), 1).is_err());
}

#[test]
fn what_both_agreed_on_is_in_the_log() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan());
    let whose = Whose { party: Party::Alice, plan: &plan, inputs: Some(&[]) };
    let mut state = State::create(folder.path(), &whose).unwrap();
    let of = |begun, finished| Progress { begun, finished, pool: None };
    let agree = |state: &mut State, shards: [Progress; 3]| {
        state.keep(&Agreed { job: [3; 32], shards: shards.into() }).unwrap();
        let kept = look(folder.path(), &plan).unwrap();
        assert_eq!((kept.job, &kept.shards[..]), (Some([3; 32]), &shards[..]));
    };
    // This party has lost its folder: attempts of the other one count.
    agree(&mut state, [of(5, None), of(1, None), of(0, None)]);
    state.begun(Attempt { shard: 1, number: 2 }).unwrap();
    state.finished(Attempt { shard: 1, number: 2 }, Costs::default()).unwrap();
    // The other party has not finished it.
    agree(&mut state, [of(6, None), of(2, None), of(0, None)]);
    assert_eq!(state.begin_last().unwrap(), 1);
    state.finish_last().unwrap();
    assert_eq!(look(folder.path(), &plan).unwrap().last, of(1, Some(1)));
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let expected = ["begun 0 5", "begun 1 1", "begun 1 2", "finished 1 2 0 0 0", "begun 0 6", "undone 1"];
    assert_eq!(log.lines().skip(3).take(6).collect::<Vec<_>>(), expected);
    // Whose outputs are not there is not finished.
    drop(state);
    let state = State::open(folder.path(), &whose).unwrap();
    assert_eq!(state.kept.last, of(1, None));
}

#[test]
fn a_pool_is_there_until_the_next_attempt_begins() {
    let read = |lines: &str| read_log(&format!("{TITLE}bob\n{lines}\n"), 2).unwrap().shards[0];
    let of = |begun, pool| Progress { begun, finished: None, pool };
    assert_eq!(read("begun 0 3\npool 0 3 5 6 7"), of(3, Some(3)));
    assert_eq!(read("begun 0 3\npool 0 3 5 6 7\nbegun 0 4"), of(4, None));
    assert_eq!(read("begun 0 3\npool 0 3 5 6 7\nundone 0"), of(3, None));
    assert_eq!(read("begun 0 3\npool 0 3 5 6 7\nundone 0\nbegun 0 4\npool 0 4 5 6 7"), of(4, Some(4)));
}

/// Makes the pool of an attempt, with nothing in it.
pub fn make_pool(state: &State, attempt: Attempt) {
    let theirs = tempfile::tempdir().unwrap();
    let create = |channel, party, folder: &Path| {
        let mut session = duologue::Session::connect(channel, party).unwrap();
        session.create_pool(folder, duologue::ot::Extension::DEFAULT, None).unwrap();
    };
    let (alice, bob) = duologue::channel::Channel::pair();
    std::thread::scope(|scope| {
        scope.spawn(|| create(bob, Party::Bob, &theirs.path().join("pool")));
        create(alice, Party::Alice, &state.pools().unwrap().path(attempt));
    });
}

/// Pools that are lost, that an attempt has begun to use, or that the other party does not have, are none, and go.
#[test]
fn pools_that_nothing_will_use_are_erased() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan());
    let prepared = Whose { party: Party::Alice, plan: &plan, inputs: None };
    let mut state = State::create(folder.path(), &prepared).unwrap();
    let shards = state.progress(&plan);
    state.keep(&Agreed { job: [3; 32], shards }).unwrap();
    assert_eq!(found(folder.path()), Found::Prepared);
    let at = |shard, number| Attempt { shard, number };
    for shard in 0..3 {
        state.begun(at(shard, 1)).unwrap();
        make_pool(&state, at(shard, 1));
        state.made_pool(at(shard, 1), Costs::default()).unwrap();
    }
    let left = |state: &State| [0, 1, 2].map(|shard| state.pools().unwrap().path(at(shard, 1)).exists());
    state.erase_dead_pools().unwrap();
    assert_eq!(left(&state), [true; 3]);
    fs::write(state.pools().unwrap().path(at(0, 1)).join("header"), "duo-stor").unwrap();
    drop(state);
    let whose = Whose { inputs: Some(&[]), ..prepared };
    let mut state = State::open(folder.path(), &whose).unwrap();
    let pools = |state: &State| [0, 1, 2].map(|shard| state.kept.shards[shard].pool);
    assert_eq!(pools(&state), [None, Some(1), Some(1)], "one is damaged");
    let mut shards = state.progress(&plan);
    shards[1].pool = None;
    state.keep(&Agreed { job: [3; 32], shards }).unwrap();
    assert_eq!(found(folder.path()), Found::Begun);
    state.erase_dead_pools().unwrap();
    assert_eq!((pools(&state), left(&state)), ([None, None, Some(1)], [false, false, true]));
    state.begun(at(2, 2)).unwrap();
    state.failed(at(2, 2), String::new());
    assert_eq!((pools(&state), left(&state)), ([None; 3], [false; 3]));
    assert_eq!(look(folder.path(), &plan).unwrap().shards, state.kept.shards);
}

pub fn plan() -> Plan {
    let mut program = duologue::circuit::Program::new("same");
    let lanes = program.size("lanes", 1..=100);
    let a = program.input("a", Party::Alice, duologue::circuit::uint(8), lanes);
    let [total] = program.reduce_with([a], |c, [a], [b]: [duologue::circuit::UInt; 1]| {
        [duologue::circuit::blocks::add(c, &a, &b, duologue::circuit::blocks::Goal::Size)]
    });
    program.output("total", Party::Alice, total);
    Plan::new(&program, &[("lanes", 90)], &duologue::job::Cut::into(3)).unwrap()
}

#[test]
fn one_driver_alone_gets_a_folder() {
    let plan = plan();
    let whose = Whose { party: Party::Alice, plan: &plan, inputs: Some(&[]) };
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let all: Vec<_> = std::thread::scope(|scope| {
            let begin = || State::create(&path, &whose);
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(begin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.iter().filter(|state| state.is_ok()).count(), 1);
        assert!(State::open(&path, &whose).is_err_and(|why| why.message.contains("another driver has the job")));
    }
}

/// A folder in which nobody was met counts as empty; one of the user's is left as it is.
#[test]
fn a_folder_is_new_or_empty() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), plan());
    let whose = Whose { party: Party::Bob, plan: &plan, inputs: Some(&[]) };
    let theirs = [("parts/thesis.txt", "parts"), ("log", "log"), ("plan.job", "plan.job")];
    for (file, named) in theirs {
        let path = folder.path().join(named);
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        fs::write(folder.path().join(file), "of the user").unwrap();
        let why = State::create(folder.path(), &whose).err().unwrap().message;
        assert!(why.ends_with(&format!("is not empty: it has {named}")), "{why}");
        assert_eq!(fs::read_to_string(folder.path().join(file)).unwrap(), "of the user");
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    for _ in 0..2 {
        drop(State::create(folder.path(), &whose).unwrap());
    }
    let mut state = State::create(folder.path(), &whose).unwrap();
    state.keep(&Agreed { job: [3; 32], shards: state.progress(&plan) }).unwrap();
    drop(state);
    assert!(State::create(folder.path(), &whose).is_err_and(|why| why.message.ends_with("has a job")));
    // What is removed is the job's alone.
    let parts = parts::folder_of(folder.path());
    for name in ["03030303.0.1.o0", "03030303.last.1.o0", ".tmpAb1", "notes"] {
        fs::write(parts.join(name), "").unwrap();
    }
    State::open(folder.path(), &whose).unwrap().merged(&plan).unwrap();
    let left: Vec<_> = fs::read_dir(&parts).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["notes"]);
    assert!(State::open(folder.path(), &whose).is_err_and(|why| why.message.contains("is done")));
    #[cfg(unix)]
    {
        let mode = |path: &Path| std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap()) & 0o777;
        assert_eq!([parts, folder.path().join("log")].map(|path| mode(&path)), [0o700, 0o600]);
    }
}

proptest! {
    #[test]
    fn no_log_makes_the_reader_panic(lines in "(job|begun|finished|pool|undone last|inputs|é)? ?[0-9a-fé ]{0,70}(\n[bf][a-z]{4,7} [0-9] [0-9]{0,12}){0,5}\n?") {
        let _ = read_log(&format!("{TITLE}alice\n{lines}"), 3);
    }
}
