//! A job goes on from what is in its folder: with the same inputs, and whatever of it was lost.

use super::results::{in_the_clear, inputs, scores};
use super::{Couple, attempts, lines, values};
use crate::process::{Done, Running};
use std::fs;
use std::path::PathBuf;

const PEOPLE: u64 = 11;

/// A job of two shards and a last program.
pub(super) struct Scores {
    pub couple: Couple,
}

impl Scores {
    pub fn new() -> Scores {
        let couple = Couple::new();
        couple.place.write("scores.duo", scores().to_bytes().unwrap());
        let [hers, his, places] = inputs(PEOPLE).map(|lanes| lines(&lanes));
        for (name, lanes) in [("hers.csv", hers), ("his.csv", his), ("places.csv", places)] {
            couple.place.write(name, lanes);
        }
        Scores { couple }
    }

    /// One whose outputs are left in the folders.
    fn finished() -> Scores {
        let finished = Scores::new();
        for done in finished.both("--no-merge") {
            done.succeeded();
        }
        finished
    }

    pub fn bob(&self, words: &str) -> (Running, String) {
        self.couple.bob(&format!("scores.duo --shards 2 {words} --input his=his.csv --input places=places.csv"))
    }

    pub fn alice(&self, words: &str, address: &str) -> Running {
        self.couple.alice(&format!("scores.duo --shards 2 {words} --input hers=hers.csv --input offset=3"), address)
    }

    /// Runs both drivers to their ends, Alice's first.
    pub fn both(&self, words: &str) -> [Done; 2] {
        let (bob, address) = self.bob(words);
        let alice = self.alice(words, &address);
        [alice.end(), bob.end()]
    }

    fn log(&self, party: &str) -> String {
        fs::read_to_string(self.couple.place.path(&format!("{party}.state/log"))).unwrap()
    }

    /// The parts of a party whose names have this in them.
    fn parts(&self, party: &str, what: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(self.couple.place.path(&format!("{party}.state/parts")))
            .unwrap()
            .map(|file| file.unwrap().path());
        all.filter(|path| path.file_name().unwrap().to_str().unwrap().contains(what)).collect()
    }

    pub fn check(&self, [alice, bob]: &[Done; 2]) {
        let [all, total, least, at] = in_the_clear(&scores(), PEOPLE, 3);
        assert_eq!((values(alice, "scores"), values(alice, "total")), (all, total.clone()));
        assert_eq!((values(bob, "total"), values(bob, "least")), (total, least));
        assert_eq!(values(alice, "at")[0] ^ values(bob, "at")[0], at[0], "shares of two runs");
    }
}

/// Outputs of shards that are lost or cut off are computed again, and nothing else.
#[test]
fn parts_that_are_lost_are_computed_again() {
    let finished = Scores::finished();
    let place = &finished.couple.place;
    // All outputs of a merging get their names, or none.
    place.run("job merge alice.state --output scores=s.npy --output total=/dev/full").failed(8, &["writing /dev/full"]);
    assert!(!place.path("s.npy").exists());
    fs::remove_file(&finished.parts("bob", ".0.1.s")[0]).unwrap();
    fs::File::options().write(true).open(&finished.parts("alice", ".1.1.o")[0]).unwrap().set_len(3).unwrap();
    for party in ["alice", "bob"] {
        let why = ["1 shard of the job in ", "hint: `duologue job drive --resume` finishes them"];
        place.run(&format!("job merge {party}.state")).failed(1, &why);
    }
    let done = finished.both("--resume");
    finished.check(&done);
    assert_eq!(attempts(&done[0]), [2, 2]);
    for party in ["alice", "bob"] {
        assert!(!finished.log(party).contains("begun last 2"), "the last program was finished");
        place.run(&format!("job merge {party}.state")).failed(1, &["is done: its outputs were written"]);
    }
}

/// A driver that stops in the last program costs another attempt at it, at both parties, with a number of its own.
#[test]
fn the_last_program_is_tried_again() {
    let finished = Scores::finished();
    let place = &finished.couple.place;
    // Bob's driver stopped before its outputs were on the disk.
    let log = finished.log("bob");
    place.write("bob.state/log", log.split_once("finished last 1\n").unwrap().0);
    place.run("job merge bob.state").failed(1, &["the last program of the job in bob.state has not run", "--resume"]);
    // It cannot write them: nobody is told that the job is done.
    let taken: Vec<PathBuf> = finished
        .parts("bob", ".last.1.")
        .iter()
        .map(|path| path.to_str().unwrap().replace(".last.1.", ".last.2.").into())
        .collect();
    taken.iter().for_each(|path| fs::create_dir(path).unwrap());
    let [alice, bob] = finished.both("--resume");
    bob.failed(8, &["writing "]);
    assert!(alice.code != Some(0) && !finished.log("alice").contains("merged"), "{}", alice.stderr);
    taken.iter().for_each(|path| fs::remove_dir(path).unwrap());
    let done = finished.both("--resume");
    finished.check(&done);
    assert_eq!(attempts(&done[0]), [1, 1]);
    assert!(["alice", "bob"].iter().all(|party| finished.log(party).contains("begun last 3\nfinished last 3\n")));
}

/// Shards of other inputs do not belong to those that are finished.
#[test]
fn a_job_goes_on_with_its_own_inputs_alone() {
    let finished = Scores::finished();
    let place = &finished.couple.place;
    let drive = format!(
        "job drive scores.duo --shards 2 --resume --yes --as alice --state alice.state {}",
        finished.couple.keys[0]
    );
    place.write("other.csv", lines(&inputs(PEOPLE)[1]));
    let of = |name: &str| format!("the input '{name}' is not the one with which the job in alice.state was begun");
    let run = |words: &str| place.run(&format!("{drive} {words}"));
    run("--input hers=other.csv --input offset=3").failed(1, &[&of("hers"), "hint: go on with the same inputs"]);
    run("--input hers=hers.csv --input offset=4").failed(1, &[&of("offset")]);
    place.write("hers.csv", lines(&inputs(PEOPLE)[1]));
    run("--input hers=hers.csv --input offset=3").failed(1, &[&of("hers")]);
}
