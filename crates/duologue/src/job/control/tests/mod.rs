mod messages;
mod world;

use super::*;
use crate::Party;
use proptest::prelude::*;
use std::time::Duration;
use world::{Fate, SILENCE, World};

#[test]
fn every_shard_is_finished_whatever_the_numbers_of_workers() {
    for shards in [1, 2, 3, 7] {
        for workers in [[1, 1], [1, 4], [4, 1], [3, 2]] {
            let mut world = World::new(7, shards, workers, Fate::default());
            world.run();
            assert_eq!(world.ends(), [Some(End::Finished); 2], "{shards} shards, {workers:?} workers");
            assert_eq!(world.attempts(), shards + 1, "none was tried twice, nor the last program");
        }
    }
}

/// Pools are made once, each of them is used by the next attempt, and that finishes the shard.
#[test]
fn every_shard_is_computed_with_its_pool() {
    for shards in [1, 2, 3, 7] {
        let mut world = World::new(7, shards, [2, 3], Fate { pools: true, ..Fate::default() });
        world.run();
        assert_eq!(world.ends(), [Some(End::Finished); 2]);
        assert_eq!((world.attempts(), world.taken(0), world.taken(1)), (2 * shards + 1, shards, shards));
    }
}

/// The next attempt takes it, whether it succeeds or not; those after it have none.
#[test]
fn a_pool_is_for_the_next_attempt_alone() {
    for party in [Party::Alice, Party::Bob] {
        let shards = vec![Progress { begun: 4, finished: None, pool: Some(4) }];
        let mut driver = Machine::new(party, &Agreed { job: [1; 32], shards }, Duration::from_secs(60));
        let mut taken = Vec::new();
        for number in [5, 6, 7] {
            driver.worker_came(number.into(), Duration::ZERO);
            let attempt = Attempt { shard: 0, number };
            match party {
                Party::Alice => driver.hear(Message::Free, Duration::ZERO).unwrap(),
                Party::Bob => driver.hear(Message::Begin(attempt), Duration::ZERO).unwrap(),
            }
            let pool = |action| if let Action::Prepare(_, _, pool) = action { Some(pool) } else { None };
            taken.extend(driver.actions().into_iter().filter_map(pool));
            driver.worker_lost(number.into(), Duration::ZERO);
            let ended = Message::Ended(attempt, Verdict::Failed(Reason::Other));
            driver.hear(ended, Duration::ZERO).unwrap();
            driver.actions();
        }
        assert_eq!(taken, [Some(4), None, None], "{party}");
    }
}

/// A driver is killed after each of its actions, whatever else it had decided, and the job goes on: what both have finished is not
/// computed again.
#[test]
fn a_driver_may_die_at_any_step() {
    let calm = || World::new(11, 3, [2, 1], Fate::default());
    let mut undisturbed = calm();
    undisturbed.run();
    for party in [0, 1] {
        let all = undisturbed.actions(party);
        assert!(all > 10, "{all}");
        for dies_after in 1..=all {
            let fate = Fate { dies_after: Some((party, dies_after)), ..Fate::default() };
            let mut world = World::new(11, 3, [2, 1], fate);
            world.run();
            assert_eq!((world.ends(), world.resumed), ([Some(End::Finished); 2], 1), "{party} after {dies_after}");
            // At most what was under way at either worker is tried again, and the last program.
            assert!(world.attempts() <= 4 + 2, "{party} after {dies_after}: {} attempts", world.attempts());
        }
    }
}

/// Nothing passes between the drivers for ten seconds, or for forty: of the thirty that they wait for each other. Wherever that begins, the
/// job goes on by itself or is taken up again; it never ends as if one of them had misbehaved.
#[test]
fn a_partition_of_ten_seconds_is_survived_and_one_of_forty_is_noticed() {
    // Workers wait for each other no longer than drivers do: what is held for nearly as long may cost an attempt.
    for (seconds, is_survived, again) in [(10, true, 0), (29, true, 1), (40, false, 2)] {
        for from in 0..60 {
            let partition = Some((10 * from, Duration::from_secs(seconds)));
            let mut world = World::new(from as u64, 4, [1, 2], Fate { partition, ..Fate::default() });
            world.run();
            assert_eq!(world.ends(), [Some(End::Finished); 2]);
            assert!(world.resumed == 0 || !is_survived, "{seconds} s from step {from} on");
            let attempts = world.attempts();
            assert!(attempts <= 5 + again, "{seconds} s from step {from} on: {attempts} attempts");
        }
    }
    assert!(SILENCE > Duration::from_secs(29));
}

/// An alone Bob, who has heard of shard 0's first attempt.
fn bob() -> (Machine, Attempt) {
    let agreed = Agreed { job: [1; 32], shards: vec![Progress::default(); 3] };
    let mut bob = Machine::new(Party::Bob, &agreed, Duration::from_secs(60));
    [1, 2].iter().for_each(|worker| bob.worker_came(*worker, Duration::ZERO));
    let attempt = Attempt { shard: 0, number: 1 };
    bob.hear(Message::Begin(attempt), Duration::ZERO).unwrap();
    bob.actions();
    (bob, attempt)
}

#[test]
fn an_attempt_that_is_replayed_or_old_is_refused() {
    let at = |shard, number| Attempt { shard, number };
    let lost = Verdict::Failed(Reason::WorkerLost);
    for message in [
        Message::Begin(at(0, 1)),
        Message::Begin(at(0, 2)),
        Message::Begin(at(1, 2)),
        Message::Begin(at(1, 0)),
        Message::Begin(at(3, 1)),
        Message::Ended(at(0, 2), lost),
        Message::Ended(at(1, 1), lost),
        Message::Ended(at(0, 1), Verdict::Done(Costs::default())),
        Message::Finished,
        Message::Free,
    ] {
        let why = bob().0.hear(message.clone(), Duration::ZERO);
        assert!(matches!(why, Err(crate::Error::Peer(_))), "{message:?}: {why:?}");
    }
    // The first attempt is over; it does not come again, nor does anything of it.
    let (mut bob, first) = bob();
    bob.hear(Message::Ended(first, lost), Duration::ZERO).unwrap();
    for message in [Message::Begin(first), Message::Ended(first, lost)] {
        assert!(bob.hear(message, Duration::ZERO).is_err());
    }
    bob.hear(Message::Begin(at(0, 2)), Duration::ZERO).unwrap();
}

/// A worker that speaks of a shard which is not its own is not believed.
#[test]
fn a_worker_ends_its_own_attempt_alone() {
    let (mut bob, attempt) = bob();
    let other = Attempt { shard: 1, number: 1 };
    bob.hear(Message::Begin(other), Duration::ZERO).unwrap();
    bob.actions();
    for (worker, claimed) in [(1, other), (2, attempt), (1, Attempt { number: 2, ..attempt }), (9, attempt)] {
        bob.worker_ended(worker, claimed, Verdict::Done(Costs::default()), Duration::ZERO);
        assert_eq!(bob.actions(), [], "worker {worker}: {claimed}");
    }
    // Nor that it is ready for another one, or ready twice.
    bob.worker_ready(1, other, Offer { key: messages::key(), address: String::new() });
    assert_eq!(bob.actions(), []);
    for said in [1, 0] {
        bob.worker_ready(1, attempt, Offer { key: messages::key(), address: String::new() });
        assert_eq!(bob.actions().len(), said);
    }
    bob.worker_ended(2, other, Verdict::Failed(Reason::Connection), Duration::ZERO);
    assert_eq!(
        bob.actions(),
        [Action::Send(Message::Free), Action::Send(Message::Ended(other, Verdict::Failed(Reason::Connection)))]
    );
}

/// A machine on which nothing works is free again at once each time: it must not use up the attempts that others would finish.
#[test]
fn a_worker_whose_machine_fails_lets_others_go_first() {
    let now = Duration::ZERO;
    let failed = Verdict::Failed(Reason::Machine);
    let frees = |bob: &mut Machine| bob.actions().iter().filter(|&it| *it == Action::Send(Message::Free)).count();
    let at = |shard, number| Attempt { shard, number };
    let done = |bob: &mut Machine, worker, attempt| {
        bob.worker_ready(worker, attempt, offer());
        bob.hear(Message::Ready(attempt, offer()), now).unwrap();
        bob.worker_ended(worker, attempt, Verdict::Done(Costs::default()), now);
    };
    // It rests while another one is at work, however long, and goes on when that one is done.
    let (mut bob, first) = bob();
    bob.hear(Message::Begin(at(1, 1)), now).unwrap();
    bob.worker_ended(1, first, failed, now);
    bob.tick(REST).unwrap();
    assert_eq!(frees(&mut bob), 0);
    done(&mut bob, 2, at(1, 1));
    assert_eq!(frees(&mut bob), 2);
    // Of two that are free the one whose machine has failed is the second; at its second failure in a row it is given up.
    bob.hear(Message::Ended(first, Verdict::Failed(Reason::Other)), now).unwrap();
    bob.hear(Message::Begin(at(0, 2)), now).unwrap();
    assert!(bob.actions().contains(&Action::Prepare(2, at(0, 2), None)));
    bob.hear(Message::Begin(at(2, 1)), now).unwrap();
    assert!(bob.actions().contains(&Action::Prepare(1, at(2, 1), None)));
    bob.worker_ended(1, at(2, 1), failed, now);
    assert!(bob.actions().contains(&Action::GiveUp(1)));
    // Whoever comes in its place waits, too, until the other one is done.
    bob.worker_came(3, now);
    assert_eq!(frees(&mut bob), 0);
    done(&mut bob, 2, at(0, 2));
    assert_eq!(frees(&mut bob), 2);
}

/// A worker that rests goes on after a while if nobody is at work, and at once if it is the only one.
#[test]
fn workers_do_not_rest_for_ever() {
    let now = Duration::ZERO;
    let failed = Verdict::Failed(Reason::Machine);
    let frees = |bob: &mut Machine| bob.actions().iter().filter(|&it| *it == Action::Send(Message::Free)).count();
    let (mut two, first) = bob();
    two.worker_ended(1, first, failed, now);
    two.tick(REST - Duration::from_millis(1)).unwrap();
    assert_eq!(frees(&mut two), 0);
    two.tick(REST).unwrap();
    assert_eq!(frees(&mut two), 1);
    let (mut one, first) = bob();
    one.worker_lost(2, now);
    one.actions();
    one.worker_ended(1, first, failed, now);
    assert_eq!(frees(&mut one), 1);
}

fn offer() -> Offer {
    Offer { key: messages::key(), address: String::new() }
}

/// A worker that says that it is done before it could have met anybody has failed; the other driver does not hear otherwise.
#[test]
fn a_worker_is_not_done_before_it_has_met_another() {
    for (is_ready, theirs_is) in [(false, false), (true, false), (false, true)] {
        let (mut bob, attempt) = bob();
        if is_ready {
            bob.worker_ready(1, attempt, offer());
        }
        if theirs_is {
            bob.hear(Message::Ready(attempt, offer()), Duration::ZERO).unwrap();
        }
        bob.actions();
        bob.worker_ended(1, attempt, Verdict::Done(Costs::default()), Duration::ZERO);
        let lost = Message::Ended(attempt, Verdict::Failed(Reason::WorkerLost));
        assert_eq!(bob.actions(), [Action::Send(Message::Free), Action::Send(lost)]);
    }
}

/// Whatever a worker still says after it was told to stop, it is free then, and the attempt has failed.
#[test]
fn a_worker_that_is_done_after_it_was_told_to_stop_has_finished_nothing() {
    let (mut bob, attempt) = bob();
    bob.hear(Message::Ended(attempt, Verdict::Failed(Reason::WorkerLost)), Duration::ZERO).unwrap();
    assert!(bob.actions().contains(&Action::Stop(1, attempt)));
    bob.worker_ended(1, attempt, Verdict::Done(Costs::default()), Duration::ZERO);
    assert_eq!((bob.actions(), bob.done()), (vec![Action::Send(Message::Free)], 0));
    bob.tick(GRACE).unwrap();
    assert_eq!(bob.actions(), [], "it has stopped");
}

#[test]
fn more_attempts_than_workers_are_refused() {
    let (mut bob, _) = bob();
    bob.hear(Message::Begin(Attempt { shard: 1, number: 1 }), Duration::ZERO).unwrap();
    assert!(bob.hear(Message::Begin(Attempt { shard: 2, number: 1 }), Duration::ZERO).is_err());
}

#[test]
fn what_takes_too_long_is_stopped_and_then_dropped() {
    let (mut bob, attempt) = bob();
    bob.tick(Duration::from_secs(59)).unwrap();
    assert_eq!(bob.actions(), []);
    bob.tick(Duration::from_secs(60)).unwrap();
    let late = Message::Ended(attempt, Verdict::Failed(Reason::Deadline));
    assert_eq!(bob.actions(), [Action::Send(late), Action::Stop(1, attempt)]);
    bob.tick(Duration::from_secs(60) + GRACE).unwrap();
    assert_eq!(bob.actions(), [Action::Drop(1)]);
}

/// A driver that only says that it is alive is not waited for without end.
#[test]
fn an_attempt_whose_other_side_never_ends_ends_the_job() {
    let (bob, attempt) = bob();
    let mut bob = bob.patient(Duration::from_secs(30));
    let most = Duration::from_secs(60 + 30) + GRACE;
    bob.tick(most - Duration::from_millis(1)).unwrap();
    assert!(bob.actions().contains(&Action::Stop(1, attempt)));
    assert!(matches!(bob.tick(most), Err(crate::Error::Peer(_))));
}

/// Workers that come and are gone before they get an attempt cost none, but not for ever.
#[test]
fn workers_that_are_never_there_end_the_job() {
    let agreed = Agreed { job: [1; 32], shards: vec![Progress::default()] };
    let mut bob = Machine::new(Party::Bob, &agreed, Duration::from_secs(60));
    for number in 1..=MOST_UNMANNED {
        let worker = number.into();
        bob.worker_came(worker, Duration::ZERO);
        let attempt = Attempt { shard: 0, number };
        bob.worker_lost(worker, Duration::ZERO);
        bob.hear(Message::Begin(attempt), Duration::ZERO).unwrap();
        bob.hear(Message::Ended(attempt, Verdict::Failed(Reason::Other)), Duration::ZERO).unwrap();
        let end = Action::Over(End::Failed(attempt, Party::Bob, Reason::NoWorker));
        assert_eq!(bob.actions().contains(&end), number == MOST_UNMANNED, "{number}");
    }
}

#[test]
fn whoever_has_a_free_worker_and_no_attempt_waits_for_the_other_party() {
    let agreed = Agreed { job: [1; 32], shards: vec![Progress::default()] };
    let mut bob = Machine::new(Party::Bob, &agreed, Duration::from_secs(60));
    assert!(!bob.waits_for_them());
    bob.worker_came(1, Duration::ZERO);
    assert!(bob.waits_for_them());
    bob.hear(Message::Begin(Attempt { shard: 0, number: 1 }), Duration::ZERO).unwrap();
    bob.worker_came(2, Duration::ZERO);
    assert!(!bob.waits_for_them());
}

/// Three failures of a shard end the job; one that another attempt would not mend ends it at once.
#[test]
fn a_job_gives_up_in_the_end() {
    for (reason, failures) in [(Reason::Machine, 3), (Reason::Input, 1), (Reason::Misbehaved, 1)] {
        let (mut bob, _) = bob();
        for number in 1..=failures {
            let attempt = Attempt { shard: 0, number };
            if number > 1 {
                bob.worker_came(10 + u64::from(number), Duration::ZERO);
                bob.hear(Message::Begin(attempt), Duration::ZERO).unwrap();
            }
            bob.hear(Message::Ended(attempt, Verdict::Failed(reason)), Duration::ZERO).unwrap();
            let end = Action::Over(End::Failed(attempt, Party::Alice, reason));
            assert_eq!(bob.actions().contains(&end), number == failures, "{reason:?} {number}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Workers and both drivers come and go at any time: both parties finish or neither, every finished shard has the outputs of one
    /// session, no attempt's number is used twice, and no pool is used twice or by one party alone ([`World`] checks all at every step).
    #[test]
    fn whatever_is_lost_the_results_are_those_of_one_session(
        seed: u64,
        shards in 1usize..8,
        workers in [1usize..5, 1usize..5],
        chaos in 0usize..400,
        crashes in 0usize..4,
        lost in 0u64..30,
        failing in 0u64..30,
        pools: bool,
        stuck in prop_oneof![Just(0u64), 1u64..10],
        partition in prop::option::of((0usize..300, 1u64..60)),
    ) {
        let partition = partition.map(|(from, seconds)| (from, Duration::from_secs(seconds)));
        let fate = Fate { chaos, crashes, lost, failing, stuck, pools, dies_after: None, partition };
        let mut world = World::new(seed, shards, workers, fate);
        world.run();
        let [alice, bob] = world.ends();
        match (alice, bob) {
            (Some(End::Finished), Some(End::Finished)) => {}
            // Two shards may fail for good at once: each driver names the first that it hears of.
            (Some(End::Failed(..) | End::TheirFailure), Some(End::Failed(..) | End::TheirFailure)) => {}
            ends => prop_assert!(false, "{:?}", ends),
        }
    }
}
