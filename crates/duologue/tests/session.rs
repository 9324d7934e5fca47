//! Sessions: setup before inputs, disagreements, misuse, cancellation, and what may be computed when.

#[path = "../../../tests/support/every_step.rs"]
mod every_step;
#[path = "../../../tests/support/parties.rs"]
mod parties;
#[path = "../../../tests/support/programs.rs"]
mod programs;
#[path = "../../../tests/support/taps.rs"]
mod taps;

use circuit::blocks::{Goal, greater};
use circuit::program::{Binding, Owner, reference};
use circuit::{BitMatrix, Party, Program, UInt, bits, uint};
use duologue::channel::{Channel, Identity, Limits, Pipe, memory};
use duologue::correlation::Demand;
use duologue::correlation::pool::Pool;
use duologue::ot::Extension;
use duologue::ot::base::curve_calls;
use duologue::prepared::PreparedRuns;
use duologue::{
    Error, Garbling, Inputs, Options, Outcome, Phase, Progress, Result, Scheme, Session, Timing, Unit, data,
};
use every_step::{every_step, inputs_of};
use kernels::work::aes_blocks;
use parties::{all_options, both, check, split};
use programs::{Dice, sample};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use taps::{Log, Tap};

/// The program with every step, bound to seven lanes.
fn job() -> Binding {
    every_step().bind(&[("n", 7)]).unwrap()
}

/// Both parties' inputs for it that depend on a seed.
fn inputs(binding: &Binding, seed: u64) -> [Inputs; 2] {
    split(binding, &inputs_of(binding, seed), &mut Dice(seed))
}

fn assert_right(binding: &Binding, seed: u64, outcomes: [&Outcome; 2], what: &str) {
    let expected = reference::evaluate(binding, &inputs_of(binding, seed));
    let outputs = outcomes.map(|outcome| &outcome.outputs);
    check(binding, &expected, outputs, &format!("{what}, seed {seed}"));
}

/// The public ones among the inputs.
fn public(binding: &Binding, inputs: &Inputs) -> Inputs {
    let mut public = Inputs::new();
    for port in binding.inputs().iter().filter(|port| port.who == Owner::Public) {
        public.set(&port.name, inputs.get(&port.name).unwrap().clone());
    }
    public
}

/// The ones that a party must supply once setup is done.
fn secret(binding: &Binding, inputs: &Inputs) -> Inputs {
    let mut secret = Inputs::new();
    for port in binding.inputs().iter().filter(|port| port.who != Owner::Public) {
        if let Some(value) = inputs.get(&port.name) {
            secret.set(&port.name, value.clone());
        }
    }
    secret
}

fn yao() -> Options {
    Options::new(Scheme::Yao)
}

fn gmw() -> Options {
    Options::new(Scheme::Gmw)
}

#[test]
fn setup_runs_before_inputs_are_known() {
    let binding = job();
    for (options, order) in all_options().iter().flat_map(|o| [(o, [0, 1]), (o, [1, 0])]) {
        let outcomes = both(Channel::pair(), |mut session| {
            let ours = [10, 20].map(|seed| inputs(&binding, seed)[session.party() as usize].clone());
            let mut prepared = Vec::new();
            for ours in &ours {
                prepared.push(Some(session.prepare(&binding, options, &public(&binding, ours))?));
            }
            let mut outcomes = Vec::new();
            for turn in order {
                let prepared = prepared[turn].take().expect("each once");
                outcomes.push(session.online(prepared, &secret(&binding, &ours[turn]))?);
            }
            session.close()?;
            Ok(outcomes)
        });
        for (i, turn) in order.into_iter().enumerate() {
            let seed = [10, 20][turn];
            let got = [&outcomes[0][i], &outcomes[1][i]];
            assert_right(&binding, seed, got, &format!("{options:?}, order {order:?}"));
        }
    }
}

#[test]
fn public_inputs_are_fixed_by_setup() {
    let binding = job();
    let [ours, others] = [1, 2].map(|seed| inputs(&binding, seed));
    both(Channel::pair(), |mut session| {
        let party = session.party() as usize;
        let prepared = session.prepare(&binding, &gmw(), &public(&binding, &ours[party]))?;
        let refused = session.online(prepared, &others[party]).err().unwrap();
        assert!(matches!(&refused, Error::Usage(why) if why.contains("'known'")), "{refused}");
        // The same ones may be given again.
        let prepared = session.prepare(&binding, &gmw(), &public(&binding, &ours[party]))?;
        session.online(prepared, &ours[party])?;
        session.close()
    });
}

/// Something that one party does.
type Act<'a> = &'a (dyn Fn(&mut Session) -> Result<()> + Sync);

/// Alice and Bob do different things; both must hear `what`, before any computation, and go on.
fn assert_disagreement(what: &str, alice: Act, bob: Act) {
    let binding = job();
    let heard = both(Channel::pair(), |mut session| {
        // Once before, so that base OTs do not count.
        let ours = inputs(&binding, 5)[session.party() as usize].clone();
        session.run(&binding, &gmw(), &ours)?;
        let act = if session.party() == Party::Alice { alice } else { bob };
        let error = act(&mut session).expect_err("they disagree");
        let after = session.run(&binding, &yao(), &ours)?;
        session.close()?;
        Ok((error, after))
    });
    let [(alice, after_alice), (bob, after_bob)] = &heard;
    let told = |error: &Error| match error {
        Error::Incompatible { what, ours, theirs, .. } => (*what, ours.clone(), theirs.clone()),
        other => panic!("{what}: {other}"),
    };
    let ((a, a_ours, a_theirs), (b, b_ours, b_theirs)) = (told(alice), told(bob));
    assert_eq!((a, b), (what, what));
    assert_eq!((&a_ours, &a_theirs), (&b_theirs, &b_ours), "each is told the other's");
    assert_ne!(a_ours, a_theirs);
    assert_right(&binding, 5, [after_alice, after_bob], what);
}

#[test]
fn what_differs_is_named_on_both_sides_and_the_session_goes_on() {
    let binding = job();
    let run = |binding: &Binding, options: Options, seed: u64| {
        let binding = binding.clone();
        move |session: &mut Session| {
            let ours = inputs(&binding, seed)[session.party() as usize].clone();
            let before = (session.counters().bytes_sent, aes_blocks(), curve_calls());
            let result = session.run(&binding, &options, &ours);
            let sent = session.counters().bytes_sent - before.0;
            assert!(sent < 1500, "{sent} bytes: more than the terms were sent");
            assert_eq!(curve_calls(), before.2);
            assert_eq!(aes_blocks(), before.1, "something was computed before the parties agreed");
            result.map(drop)
        }
    };
    let same = run(&binding, yao(), 1);
    let cases: [(&str, Options); 6] = [
        ("the protocol", gmw()),
        ("the protocol", Options::new(Scheme::MaskedGmw)),
        ("who garbles", yao().garbler(Party::Alice)),
        ("how ANDs are garbled", yao().garbling(Garbling::ThreeHalves)),
        ("when setup happens", yao().timing(Timing::Streamed)),
        ("the lanes of a tile", yao().tile(5)),
    ];
    for (what, options) in cases {
        assert_disagreement(what, &same, &run(&binding, options, 1));
        assert_disagreement(what, &run(&binding, options, 1), &same);
    }
    let streamed = |strands| run(&binding, yao().timing(Timing::Streamed).strands(strands), 1);
    assert_disagreement("the number of strands", &streamed(1), &streamed(2));
    assert_disagreement("the number of strands", &streamed(3), &streamed(1));
    assert_disagreement("its sizes", &same, &run(&every_step().bind(&[("n", 8)]).unwrap(), yao(), 1));
    assert_disagreement("the public inputs", &same, &run(&binding, yao(), 2));
    let mut longer = every_step();
    let more = longer.input("more", Party::Alice, bits(8), 1);
    longer.output("more", Party::Alice, more);
    assert_disagreement("the program", &same, &run(&longer.bind(&[("n", 7)]).unwrap(), yao(), 1));
}

#[test]
fn parties_that_call_for_different_things_are_told() {
    let binding = &job();
    let ours = |session: &Session| inputs(binding, 3)[session.party() as usize].clone();
    let prepare = |session: &mut Session| {
        let public = public(binding, &ours(session));
        session.prepare(binding, &gmw(), &public).map(drop)
    };
    let run = |session: &mut Session| session.run(binding, &gmw(), &ours(session)).map(drop);
    let online = |nth: usize| {
        move |session: &mut Session| {
            let mut prepared = Vec::new();
            for _ in 0..2 {
                prepared.push(session.prepare(binding, &gmw(), &public(binding, &ours(session)))?);
            }
            session.online(prepared.swap_remove(nth), &ours(session)).map(drop)
        }
    };
    assert_disagreement("what is called for", &prepare, &run);
    assert_disagreement("which prepared program runs", &online(0), &online(1));
    let prepare_then_run = |session: &mut Session| {
        prepare(session)?;
        prepare(session)?;
        run(session)
    };
    assert_disagreement("what is called for", &online(1), &prepare_then_run);
    let prepare_often = |session: &mut Session| (0..3).try_for_each(|_| prepare(session));
    assert_disagreement("what is called for", &prepare_often, &online(0));
}

#[test]
fn many_programs_in_one_session() {
    let jobs: Vec<Binding> = (0..9)
        .map(|i| match i % 3 {
            0 => job(),
            _ => sample(40 + i, [1, 3, 65][i as usize / 3]).binding,
        })
        .collect();
    let options = all_options();
    let outcomes = both(Channel::pair(), |mut session| {
        let mut outcomes = Vec::new();
        for (i, binding) in jobs.iter().chain(&jobs).enumerate() {
            let ours = &inputs(binding, i as u64)[session.party() as usize];
            outcomes.push(session.run(binding, &options[i % options.len()], ours)?);
        }
        session.close()?;
        Ok(outcomes)
    });
    for (i, binding) in jobs.iter().chain(&jobs).enumerate() {
        let got = [&outcomes[0][i], &outcomes[1][i]];
        assert_right(binding, i as u64, got, &format!("program {i}"));
    }
}

#[test]
fn a_program_prepared_in_another_session_is_refused() {
    let binding = job();
    let strange = both(Channel::pair(), |mut session| {
        let ours = inputs(&binding, 1)[session.party() as usize].clone();
        session.prepare(&binding, &gmw(), &public(&binding, &ours))
    });
    let strange = strange.map(|prepared| std::sync::Mutex::new(Some(prepared)));
    both(Channel::pair(), |mut session| {
        let party = session.party() as usize;
        let ours = inputs(&binding, 1)[party].clone();
        session.run(&binding, &gmw(), &ours)?;
        let sent = session.counters().bytes_sent;
        let prepared = strange[party].lock().unwrap().take().expect("once");
        let error = session.online(prepared, &ours).err().unwrap();
        assert!(matches!(&error, Error::Usage(why) if why.contains("another session")), "{error}");
        assert_eq!(session.counters().bytes_sent, sent);
        session.run(&binding, &gmw(), &ours)?;
        session.close()
    });
}

#[test]
fn what_is_drawn_is_what_is_demanded() {
    let binding = sample(11, 130).binding;
    both(Channel::pair(), |mut session| {
        let ours = inputs(&binding, 1)[session.party() as usize].clone();
        let mut total = Demand::NONE;
        for options in all_options().iter().chain(&all_options()) {
            let report = session.run(&binding, options, &ours)?.report;
            assert_ne!(report.demand, Demand::NONE);
            total += report.demand;
            assert_eq!(session.drawn(), total, "{options:?}");
            // Nothing is drawn for a program before it runs, and no less.
            let prepared = session.prepare(&binding, options, &public(&binding, &ours))?;
            total += session.online(prepared, &ours)?.report.demand;
            assert_eq!(session.drawn(), total, "{options:?}, prepared");
        }
        session.close()
    });
}

/// Two ends and what each party writes.
fn tapped() -> ((Channel, Channel), [Log; 2]) {
    let (alice, bob) = memory::pair(memory::CAPACITY);
    let logs = [Log::default(), Log::default()];
    let alice = Channel::over(Tap(alice, logs[0].clone()), Limits::default());
    let bob = Channel::over(Tap(bob, logs[1].clone()), Limits::default());
    ((alice, bob), logs)
}

#[test]
fn two_runs_with_the_same_inputs_have_nothing_in_common() {
    let binding = job();
    let inputs = inputs(&binding, 1);
    let record = |options: &Options| {
        let (channels, logs) = tapped();
        both(channels, |mut session| {
            let ours = &inputs[session.party() as usize];
            session.run(&binding, options, ours)?;
            session.run(&binding, options, ours)?;
            session.close()
        });
        logs.map(|log| log.payload())
    };
    // The hello is 45 bytes; terms begin with their length.
    let after_terms = |payload: &[u8]| {
        let length = u32::from_le_bytes(payload[45..49].try_into().unwrap()) as usize;
        payload[49 + length..].to_vec()
    };
    for options in all_options() {
        let (first, second) = (record(&options), record(&options));
        for (first, second) in first.iter().zip(&second) {
            assert_eq!(first.len(), second.len());
            assert_ne!(first[13..45], second[13..45], "the point of the hello");
            let (first, second) = (after_terms(first), after_terms(second));
            let blocks = |bytes: &[u8]| -> std::collections::HashSet<[u8; 16]> {
                bytes.windows(16).map(|block| block.try_into().unwrap()).collect()
            };
            // The terms of the second program are text: the same but for the session's name.
            let text = |block: &&[u8; 16]| block.iter().all(|b| b.is_ascii_graphic() || b" \t\n".contains(b));
            let (first, second) = (blocks(&first), blocks(&second));
            let common = first.intersection(&second).filter(|block| !text(block)).count();
            // A few windows at the edges of the terms: their length, and the masks of a bit or two.
            assert!(common < 40, "{common} of {} blocks are the same, {options:?}", first.len());
        }
    }
}

#[test]
fn wrong_inputs_are_refused_before_anything_is_sent() {
    let binding = job();
    let good = inputs(&binding, 1);
    let zeros = |rows, lanes| BitMatrix::zeros(rows, lanes);
    both(Channel::pair(), |mut session| {
        let us = session.party() as usize;
        let [own, theirs] = if us == 0 { ["a", "b"] } else { ["b", "a"] };
        let mut without = Inputs::new();
        for port in binding.inputs().iter().filter(|port| port.name != own) {
            if let Some(value) = good[us].get(&port.name) {
                without.set(&port.name, value.clone());
            }
        }
        let cases = [
            (own, without),
            (own, good[us].clone().with(own, zeros(8, 6))),
            (own, good[us].clone().with(own, zeros(9, 7))),
            (own, good[us].clone().with(own, zeros(0, 0))),
            ("shared", good[us].clone().with("shared", zeros(8, 8))),
            ("known", good[us].clone().with("known", zeros(7, 7))),
            (theirs, good[us].clone().with(theirs, zeros(8, 7))),
            ("nobody's", good[us].clone().with("nobody's", zeros(1, 1))),
        ];
        session.run(&binding, &yao(), &good[us])?;
        let before = session.counters();
        for (name, inputs) in &cases {
            let error = session.run(&binding, &yao(), inputs).err().unwrap();
            let named = format!("'{name}'");
            assert!(matches!(&error, Error::Usage(why) if why.contains(&named)), "{named}: {error}");
        }
        assert_eq!(session.counters(), before, "something was sent");
        session.run(&binding, &gmw(), &good[us])?;
        session.close()
    });
}

#[test]
fn an_observer_sees_progress_and_cancels() {
    let binding = job();
    for options in all_options() {
        let (alice, bob) = Channel::pair();
        let binding = &binding;
        thread::scope(|scope| {
            // The first run is watched, the second one cancelled as soon as it is online.
            let run = |mut session: Session, cancel: &AtomicBool| {
                let ours = inputs(binding, 1)[session.party() as usize].clone();
                session.run(binding, &options, &ours).unwrap();
                cancel.store(true, Ordering::Relaxed);
                // Whoever has read his last message before the other one cancels hears of it in the next run.
                let mut run = || session.run(binding, &options, &ours).err();
                let error = run().or_else(run).unwrap();
                let later = session.run(binding, &options, &ours).err().unwrap();
                assert!(matches!(later, Error::Dead(_)), "{later}");
                assert!(matches!(session.close(), Err(Error::Dead(_))));
                error
            };
            let bob = scope.spawn(move || {
                let session = Session::connect(bob, Party::Bob).unwrap();
                run(session, &AtomicBool::new(false))
            });
            let mut session = Session::connect(alice, Party::Alice).unwrap();
            let cancel = Arc::new(AtomicBool::new(false));
            let (seen, cancelled) = (Arc::new(AtomicU64::new(0)), cancel.clone());
            let ands = seen.clone();
            session.observe(move |&Progress { phase, unit, done, total, .. }| {
                let cancelled = cancelled.load(Ordering::Relaxed);
                if phase == Phase::Online && !cancelled {
                    assert_eq!(unit, Unit::Ands);
                    let before = seen.swap(done, Ordering::Relaxed);
                    assert!(before <= done && done <= total && total > 0);
                }
                if cancelled && phase == Phase::Online { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let error = run(session, &cancel);
            let schedule_ands = duologue::cost::cost(binding, &options).unwrap().ands;
            assert_eq!(ands.load(Ordering::Relaxed), schedule_ands, "seen to its end");
            assert!(error.to_string().contains("cancelled"), "{error}");
            let told = bob.join().unwrap();
            assert!(matches!(&told, Error::Aborted(why) if why.contains("cancelled")), "{told}");
        });
    }
}

#[test]
fn online_gmw_computes_no_cryptography() {
    let binding = sample(3, 65).binding;
    both(Channel::pair(), |mut session| {
        let ours = inputs(&binding, 1)[session.party() as usize].clone();
        for (turn, scheme) in [Scheme::Gmw, Scheme::Gmw, Scheme::MaskedGmw, Scheme::MaskedGmw].into_iter().enumerate() {
            let before = (aes_blocks(), curve_calls());
            let options = Options::new(scheme).timing(Timing::Ahead);
            let prepared = session.prepare(&binding, &options, &public(&binding, &ours))?;
            let ready = (aes_blocks(), curve_calls());
            assert!(ready.0 > before.0, "triples are made with AES");
            assert_eq!(ready.1 > before.1, turn == 0, "base OTs run once a session");
            let outcome = session.online(prepared, &ours)?;
            assert!(outcome.report.ands > 0);
            assert_eq!((aes_blocks(), curve_calls()), ready, "something was computed online");
        }
        session.close()
    });
}

#[test]
fn online_yao_computes_nothing_on_the_curve() {
    let binding = job();
    both(Channel::pair(), |mut session| {
        let ours = inputs(&binding, 1)[session.party() as usize].clone();
        for timing in [Timing::Ahead, Timing::Streamed] {
            let options = yao().timing(timing).garbler(Party::Alice);
            let prepared = session.prepare(&binding, &options, &public(&binding, &ours))?;
            let ready = (aes_blocks(), curve_calls());
            assert!(ready.1 > 0, "base OTs run in setup");
            session.online(prepared, &ours)?;
            assert_eq!(curve_calls(), ready.1);
            let hashes = session.party() == Party::Bob || timing == Timing::Streamed;
            assert!(!hashes || aes_blocks() > ready.0, "the counter counts");
        }
        session.close()
    });
}

#[test]
fn tiny_buffers_do_not_stop_the_parties() {
    let sample = sample(5, 130);
    let tables = inputs_of(&sample.binding, 1);
    let inputs = split(&sample.binding, &tables, &mut Dice(1));
    let (alice, bob) = memory::pair(100);
    let channels = [alice, bob].map(|pipe| Channel::over(pipe, Limits::default()));
    let outcomes = both(channels.into(), |mut session| {
        let mut outcomes = Vec::new();
        for options in all_options() {
            outcomes.push(session.run(&sample.binding, &options, &inputs[session.party() as usize])?);
        }
        session.close()?;
        Ok(outcomes)
    });
    for (alice, bob) in outcomes[0].iter().zip(&outcomes[1]) {
        assert_right(&sample.binding, 1, [alice, bob], "tiny buffers");
    }
}

#[test]
fn programs_without_ands_inputs_or_lanes_run() {
    let mut empty = Program::new("empty");
    empty.size("n", 0..=1);
    let mut silent = Program::new("silent");
    let n = silent.size("n", 0..=1);
    let a = silent.input("a", Party::Alice, bits(3), n);
    silent.output("a", Party::Alice, a);
    for program in [empty, silent] {
        let binding = program.bind(&[("n", 0)]).unwrap();
        both(Channel::pair(), |mut session| {
            for options in all_options() {
                session.run(&binding, &options, &Inputs::new())?;
            }
            session.close()
        });
    }
}

/// Who is richer.
fn richer() -> Binding {
    let mut p = Program::new("richer");
    let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(64), 1));
    let richer = p.map_with([a, b], |c, [a, b]: [UInt; 2]| UInt::from(greater(c, &a, &b, Goal::Size)));
    p.output("richer", Party::Alice, richer);
    p.bind(&[]).unwrap()
}

fn fortune(session: &Session) -> Inputs {
    let fortune = 0xdead_beef_dead_beef - session.party() as u64;
    Inputs::new().with(&session.party().to_string(), data::uints(64, &[fortune]).unwrap())
}

#[test]
fn pools_and_prepared_runs_are_bound_to_the_keys_of_the_channel() {
    let [alice, bob, carol] = [(); 3].map(|()| Identity::generate().unwrap().public());
    let folder = tempfile::tempdir().unwrap();
    let place = |what: &str, party: Party| folder.path().join(format!("{what} of {party}"));
    let channels = |alice, bob| {
        let (to_bob, to_alice) = Channel::pair();
        (to_bob.authenticated(alice, bob), to_alice.authenticated(bob, alice))
    };
    let bound = both(channels(alice, bob), |mut session| {
        assert_eq!(session.peer_key(), Some(if session.party() == Party::Alice { bob } else { alice }));
        session.create_pool(&place("pool", session.party()), Extension::DEFAULT, None)?;
        let mut runs = PreparedRuns::create(&place("runs", session.party()), None)?;
        session.prepare_to(&mut runs, &richer(), &yao(), &Inputs::new(), 1)?;
        let keys = [session.pool().unwrap().origin.keys, runs.status()?.origin.keys];
        session.close().map(|()| keys)
    });
    assert_eq!(bound, [[Some([alice, bob]); 2]; 2]);
    for others in [Channel::pair(), channels(alice, carol), channels(carol, bob)] {
        both(others, |mut session| {
            let pool = session.use_pool(Pool::open(&place("pool", session.party()), None)?);
            let mut runs = PreparedRuns::open(&place("runs", session.party()), None)?;
            let inputs = fortune(&session);
            let run = session.online_from(&mut runs, &richer(), &inputs);
            assert!(matches!(pool, Err(Error::Usage(_))) && matches!(run, Err(Error::Usage(_))), "{pool:?}, {run:?}");
            session.close()
        });
    }
    let answers = both(channels(alice, bob), |mut session| {
        let mut runs = PreparedRuns::open(&place("runs", session.party()), None)?;
        let inputs = fortune(&session);
        let outcome = session.online_from(&mut runs, &richer(), &inputs)?;
        session.close()?;
        outcome.outputs.get("richer").map(data::to_uints).transpose()
    });
    assert_eq!(answers, [Some(vec![1]), None]);
}

#[test]
fn nothing_prints_a_value() {
    let printed = both(Channel::pair(), |mut session| {
        let inputs = fortune(&session);
        let prepared = session.prepare(&richer(), &yao(), &Inputs::new())?;
        let before = format!("{inputs:?} {prepared:?}");
        let outcome = session.online(prepared, &inputs)?;
        let printed = format!("{before} {outcome:?} {session:?}");
        session.close().map(|()| printed)
    });
    for (printed, party) in printed.iter().zip(["Alice", "Bob"]) {
        for value in ["deadbeef", "beef", "16045690984833335023", "16045690984833335022", "true"] {
            // Whether setup comes ahead is no secret.
            assert!(!printed.replace("ahead: true", "").contains(value), "{value} in {printed}");
        }
        assert!(
            printed.contains(&format!("Session {{ party: {party}, peer_key: None, dead: None, .. }}")),
            "{printed}"
        );
        assert!(printed.contains(r#"Prepared { program: "richer""#), "{printed}");
    }
    assert!(printed[0].contains(r#"{"richer": BitMatrix(1 bits × 1 lanes)}"#), "{}", printed[0]);
}

#[test]
fn a_session_that_waits_is_cancelled_from_another_thread() {
    let (to_bob, to_alice) = Channel::pair();
    thread::scope(|scope| {
        let bob = scope.spawn(|| Session::connect(to_alice, Party::Bob).unwrap());
        let mut alice = Session::connect(to_bob, Party::Alice).unwrap();
        let idle = bob.join().unwrap();
        let canceller = alice.canceller();
        let waits = scope.spawn(move || {
            let inputs = fortune(&alice);
            alice.run(&richer(), &yao(), &inputs).err()
        });
        thread::sleep(std::time::Duration::from_millis(50));
        canceller.cancel();
        let error = waits.join().unwrap();
        assert!(matches!(error, Some(Error::Cancelled)), "{error:?}");
        drop(idle);
    });
}
