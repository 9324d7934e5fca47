//! How a session starts: which base OTs it makes and when, and what was computed before the peer came.

use super::*;
use crate::ot::base::curve_calls;
use crate::ot::{Based, Directions, Missing};

/// Which base OTs a session would still make for these demands.
fn left(session: &Session, demand: Demand) -> Option<Missing> {
    let mut based: Based = session.wire.based;
    based.missing(&demand)
}

/// A program by Yao makes one direction, whoever garbles; GMW then the other, and neither any again.
#[test]
fn a_program_by_yao_makes_one_direction_only() {
    let binding = job();
    for garbler in [Party::Alice, Party::Bob] {
        unwrap(seeded(1, |session| {
            let ours = inputs(&binding, session.party, 1);
            let by_yao = options(Scheme::Yao, Timing::Ahead, garbler);
            session.run(&binding, &by_yao, &ours)?;
            assert_eq!(left(session, Demand::of_cots(garbler, 1)), None);
            let second = Some(Missing::Second { first: garbler });
            assert_eq!(left(session, Demand::of_cots(garbler.peer(), 1)), second);
            let calls = curve_calls();
            for options in [options(Scheme::Gmw, Timing::Ahead, garbler), by_yao] {
                session.run(&binding, &options, &ours)?;
                assert_eq!(left(session, Demand::of_triples(1)), None);
            }
            session.run(&binding, &options(Scheme::Yao, Timing::Streamed, garbler.peer()), &ours)?;
            assert_eq!(curve_calls(), calls, "the other direction comes of the extension");
            Ok(())
        }));
    }
}

/// Where nothing is transferred obliviously, nothing is computed on the curve after the hellos.
#[test]
fn a_program_without_correlations_has_no_base_ots() {
    let mut p = circuit::Program::new("given");
    let x = p.input("x", Party::Bob, circuit::bits(8), 3);
    p.output("x", circuit::program::Recipient::Both, x);
    let binding = p.bind(&[]).unwrap();
    unwrap(seeded(1, |session| {
        let ours = own_bits(session.party);
        let calls = curve_calls();
        session.run(&binding, &options(Scheme::Yao, Timing::Ahead, Party::Bob), &ours)?;
        assert_eq!(curve_calls(), calls);
        assert_eq!(left(session, Demand::of_triples(1)), Some(Missing::All(Directions::Both)));
        Ok(())
    }));
}

fn own_bits(party: Party) -> Inputs {
    if party == Party::Bob { Inputs::new().with("x", BitMatrix::zeros(8, 3)) } else { Inputs::new() }
}

/// What was computed before the peer came is what would be computed later: the same bytes travel, and the sender of the
/// first direction has only the multiplications left that depend on its peer.
#[test]
fn work_before_the_peer_comes_changes_nothing_that_travels() {
    let sent = |before: bool| {
        let (alice, bob) = memory::pair(memory::CAPACITY);
        let logs = [Log::default(), Log::default()];
        let run = |pipe, party: Party| {
            let channel = Channel::over(Tap(pipe, logs[party as usize].clone()), Limits::default());
            let mut precomputation = Precomputation::of(Generator::from_seed(Block::new(8 | party as u128)));
            if before {
                precomputation.correlating.compute();
            }
            let calls = curve_calls();
            let mut session = Session::connect_with(channel, party, precomputation).unwrap();
            session.correlate(Extension::DEFAULT, Demand::of_triples(100), |_| Ok(())).unwrap();
            curve_calls() - calls
        };
        let calls = thread::scope(|scope| {
            let bob = scope.spawn(|| run(bob, Party::Bob));
            [run(alice, Party::Alice), bob.join().unwrap()]
        });
        (logs.map(|log| log.payload()), calls)
    };
    let ((lazily, calls), (eagerly, fewer)) = (sent(false), sent(true));
    assert_eq!(lazily, eagerly);
    assert_eq!([calls[0] - fewer[0], calls[1] - fewer[1]], [128; 2]);
}

/// A schedule that was made before is that of the program that was named, and of no other.
#[test]
fn a_schedule_before_the_peer_comes_serves_its_own_program() {
    let (binding, named) = (job(), options(Scheme::Yao, Timing::Ahead, Party::Bob));
    let sent = |named: Option<Options>| {
        let (alice, bob) = memory::pair(memory::CAPACITY);
        let logs = [Log::default(), Log::default()];
        let run = |pipe, party: Party| {
            let channel = Channel::over(Tap(pipe, logs[party as usize].clone()), Limits::default());
            let mut precomputation = Precomputation::of(Generator::from_seed(Block::new(8 | party as u128)));
            if let Some(named) = &named {
                precomputation = precomputation.with_program(&binding, named).unwrap();
            }
            let mut session = Session::connect_with(channel, party, precomputation).unwrap();
            let ours = inputs(&binding, party, 1);
            for scheme in [Scheme::Gmw, Scheme::Yao] {
                session.run(&binding, &options(scheme, Timing::Ahead, Party::Bob), &ours).unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| run(bob, Party::Bob));
            run(alice, Party::Alice);
        });
        logs.map(|log| log.payload())
    };
    let without = sent(None);
    for other in [named, options(Scheme::Gmw, Timing::Ahead, Party::Bob)] {
        assert_eq!(sent(Some(other)), without);
    }
}

/// Two parties that precompute have nothing in common, and neither have two sessions of one.
#[test]
fn precomputations_differ() {
    let [one, other] = [(); 2].map(|()| Precomputation::new().unwrap());
    let first = |drawn: &Precomputation| drawn.secrets.derive(b"anything", 0).block();
    assert!(first(&one) != first(&other));
}
