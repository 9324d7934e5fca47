//! Drivers that are killed at any step of a job: the other one says so, and both go on with what they kept.

use super::attempts;
use super::between::{ALICE, BOB, Between, Said, Stop};
use super::resumed::Scores;
use crate::process::Done;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Command;

/// Where a driver is killed.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Before this one of the messages of both drivers arrives, their hellos among them.
    Message(usize),
    /// Before so many bytes of the last program have passed.
    Last(usize),
}

/// Two hellos; Bob's free worker; for each of two shards Alice's beginning, how both began and ended, and that Bob's worker is free again;
/// and that both are finished.
const MESSAGES: usize = 2 + 1 + 2 * 6 + 2;

/// Whether it is time to stop.
fn is_there(step: Step, messages: &mut usize, bytes: &mut usize, said: &Said) -> bool {
    match (step, said) {
        (Step::Message(at), Said::Hello(_) | Said::Message(_)) => {
            *messages += 1;
            *messages == at + 1
        }
        (Step::Last(at), Said::Last(more)) => {
            let before = *bytes;
            *bytes += more.len();
            (before..*bytes).contains(&at)
        }
        _ => false,
    }
}

/// Kills a driver there; the job goes on and has the right outputs, of which no part comes from two attempts.
fn killed(victim: usize, step: Step) {
    let job = Scores::new();
    let (bob, address) = job.bob("");
    let ((stop, at), mut messages, mut bytes) = (Stop::new(), 0, 0);
    let between = Between::new(&job.couple, &address, true, move |_, said| {
        if is_there(step, &mut messages, &mut bytes, &said) {
            at.stand();
        }
        vec![said]
    });
    let mut drivers = [job.alice("", &between.address), bob].map(Some);
    stop.wait();
    let mut dead = drivers[victim].take().unwrap();
    dead.kill();
    dead.end();
    stop.go();
    let survivor = drivers[1 - victim].take().unwrap().end();
    assert!(matches!(survivor.code, Some(5)), "{victim} killed at {step:?}: {}", survivor.stderr);
    assert!(survivor.stderr.contains("the peer"), "{victim} killed at {step:?}: {}", survivor.stderr);
    let before = [ALICE, BOB].map(|party| begun(&job, party));
    let done = job.both("--resume");
    job.check(&done);
    let counted = [ALICE, BOB].map(|party| attempts(&done[party]));
    assert!(counted[ALICE] == counted[BOB] && counted[ALICE].iter().all(|attempts| *attempts <= 2));
    for party in [ALICE, BOB] {
        let after = begun(&job, party);
        assert!(before[party].iter().all(|(part, number)| after[part] >= *number), "{victim} killed at {step:?}");
    }
}

/// The last attempt at each part of the job that a log has begun: their numbers rise, so none was used twice.
fn begun(job: &Scores, party: usize) -> BTreeMap<String, u32> {
    let path = job.couple.place.path(&format!("{}.state/log", ["alice", "bob"][party]));
    let mut begun = BTreeMap::new();
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        if let ["begun", part, number] = line.split(' ').collect::<Vec<_>>()[..] {
            let (number, before) = (number.parse().unwrap(), begun.get(part).copied().unwrap_or(0));
            assert!(number > before, "{line} after attempt {before}");
            begun.insert(part.to_string(), number);
        }
    }
    begun
}

/// Some steps, each with one of the two drivers; all of them in the next test.
#[test]
fn a_job_goes_on_wherever_a_driver_was_killed() {
    for (victim, step) in [
        (BOB, Step::Message(1)),
        (ALICE, Step::Message(2)),
        (BOB, Step::Message(4)),
        (ALICE, Step::Message(7)),
        (BOB, Step::Message(11)),
        (ALICE, Step::Message(MESSAGES - 1)),
        (BOB, Step::Last(0)),
        (ALICE, Step::Last(2000)),
    ] {
        killed(victim, step);
    }
}

#[test]
#[ignore = "a minute or more"]
fn a_job_goes_on_wherever_a_driver_was_killed_at_every_step() {
    for victim in [ALICE, BOB] {
        (0..MESSAGES).for_each(|at| killed(victim, Step::Message(at)));
        (0..10).for_each(|at| killed(victim, Step::Last(400 * at)));
    }
}

/// A driver that is killed when it writes outputs, and `job merge` that is: the outputs are there afterwards, once.
#[test]
fn outputs_are_written_after_a_driver_was_killed_in_its_merging() {
    let job = Scores::new();
    let place = &job.couple.place;
    // Whoever opens it to write stands still there: nobody reads.
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.unwrap().success());
    let (bob, address) = job.bob("");
    let mut alice = job.alice("--output scores=pipe --output total=total.npy", &address);
    // Bob's driver ends when Alice's has the outputs of the last program, too.
    let bob = bob.end();
    bob.succeeded();
    alice.kill();
    alice.end();
    assert!(!place.path("total.npy").exists(), "all outputs of a merging get their names, or none");
    let mut merge = place.start("job merge alice.state --output scores=pipe --output total=total.npy");
    // It has begun when the pipe has a writer.
    let reader = File::open(place.path("pipe")).unwrap();
    merge.kill();
    merge.end();
    drop(reader);
    for _ in 0..2 {
        let alice = place.run("job merge alice.state --json");
        job.check(&[alice, Done { code: bob.code, stdout: bob.stdout.clone(), stderr: bob.stderr.clone() }]);
    }
}

/// Workers do not outlive their driver, however it ended.
#[test]
fn workers_end_when_their_driver_was_killed() {
    let job = Scores::new();
    job.couple.place.run("keys new --key w.key").succeeded();
    let (mut bob, address) = job.bob("--launch wait --worker-key w.key");
    let said = bob.until("workers: duologue ");
    let worker = job.couple.place.start(&said);
    let alice = job.alice("", &address);
    bob.until("worker 1 (process ");
    bob.kill();
    bob.end();
    let done = worker.end();
    assert!(matches!(done.code, Some(5 | 6)), "{:?}: {}", done.code, done.stderr);
    alice.end().failed(5, &["the peer"]);
}
