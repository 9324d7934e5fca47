//! The choice of a session's maker: in virtual time, where what is measured depends on the simulated line alone.

use super::*;
use crate::call::Calls;
use crate::channel::tests::virtual_time::{self, Actor, VirtualTime};
use crate::channel::{self, Channel};
use crate::conditions::{Conditions, Findings, REFERENCE_SPEED};
use crate::correlation::choice;
use crate::correlation::pool::Pool;
use crate::cost;
use crate::cost::choice::{Choices, Wish, candidates};
use crate::session::probe::Chosen;
use std::time::Duration;

fn line(text: &str) -> channel::Link {
    text.parse().unwrap()
}

/// Both ends of a session over the lines of Alice's and Bob's messages.
fn over<T: Send>(lines: [&str; 2], act: impl Fn(&Actor, &mut Session) -> T + Sync) -> [T; 2] {
    let parties: (VirtualTime, Channel, Channel) =
        virtual_time::channels_over(lines.map(|text| Some(line(text))), Limits::default());
    let act = |party: Party| {
        let act = &act;
        move |actor: &Actor, channel: &mut Channel| {
            let channel = std::mem::replace(channel, Channel::pair().0);
            let secrets = Generator::from_seed(Block::new(14 | party as u128));
            act(actor, &mut Session::with(channel, party, secrets).unwrap())
        }
    };
    virtual_time::both(parties, act(Party::Alice), act(Party::Bob)).into()
}

/// What both parties chose, which is the same.
fn agreed([alice, bob]: [Chosen; 2]) -> (Extension, Conditions) {
    assert_eq!(alice, bob);
    (alice.extension, alice.conditions.expect("it was measured"))
}

fn chosen(session: &Session) -> Chosen {
    session.wire.chosen.expect("a maker was chosen")
}

fn is_near(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) * 100 <= 3 * expected
}

/// What is measured is the line, and the choice that of the line.
#[test]
fn the_line_is_measured_and_decides() {
    for (text, triples, expected) in [
        ("100ms,1Mbit", 100_000, "softspoken8"),
        ("100ms,1Mbit", 10_000_000, "silent19w"),
        ("10ms,100Mbit", 1_000_000, "silent16w"),
        ("0.1ms,10Gbit", 10_000_000, "softspoken4"),
    ] {
        let (maker, conditions) = agreed(over([text; 2], |_, session| {
            let maker = session.choose_maker(Demand::of_triples(triples), None).unwrap();
            assert_eq!(session.maker(), Some(maker));
            chosen(session)
        }));
        let expected_conditions = Conditions::of(&line(text));
        println!("{text}: {conditions}");
        assert!(is_near(conditions.alice_to_bob, expected_conditions.alice_to_bob), "{text}: {conditions}");
        assert!(is_near(conditions.bob_to_alice, expected_conditions.bob_to_alice), "{text}: {conditions}");
        let close = conditions.round_trip.abs_diff(line(text).round_trip);
        assert!(close <= line(text).round_trip / 20 + Duration::from_millis(1), "{text}: {conditions}");
        assert_eq!(conditions.speed, REFERENCE_SPEED);
        assert_eq!(maker.to_string(), expected, "{text}");
    }
}

/// Each direction has its own rate, and the round trip is the sum of both ways.
#[test]
fn lines_need_not_be_symmetric() {
    let (_, conditions) = agreed(over(["30ms,10Mbit", "10ms,80Mbit"], |_, session| {
        session.choose_maker(Demand::of_triples(1_000_000), None).unwrap();
        chosen(session)
    }));
    assert!(is_near(conditions.alice_to_bob, 1_250_000), "{conditions}");
    assert!(is_near(conditions.bob_to_alice, 10_000_000), "{conditions}");
    assert!(conditions.round_trip.abs_diff(Duration::from_millis(20)) < Duration::from_millis(1), "{conditions}");
}

/// A party that comes late to the probe measures nothing, and both take what the other one has found.
#[test]
fn a_party_that_is_late_does_not_spoil_it() {
    for late in [Party::Alice, Party::Bob] {
        let (_, conditions) = agreed(over(["10ms,20Mbit"; 2], |actor, session| {
            let term = crate::correlation::MakerTerm::new(None);
            session.wire.agree(&fields::correlations(&Moment::default(), "late", &term, &Demand::NONE)).unwrap();
            if session.party == late {
                actor.sleep(Duration::from_millis(700));
            }
            session.wire.choose_for(term, Demand::of_triples(1_000_000)).unwrap()
        }));
        assert!(is_near(conditions.alice_to_bob, 2_500_000), "{late}: {conditions}");
        assert!(is_near(conditions.bob_to_alice, 2_500_000), "{late}: {conditions}");
        assert!(conditions.round_trip.abs_diff(Duration::from_millis(10)) < Duration::from_millis(1), "{conditions}");
    }
}

/// ANDs of 64 bits on so many lanes.
fn ands(lanes: u64) -> Binding {
    let mut c = circuit::Builder::new("and");
    let (a, b) = (c.bits("a", 64), c.bits("b", 64));
    let both = a.0.iter().zip(&b.0).map(|(&a, &b)| c.and(a, b)).collect();
    c.output("both", &circuit::Bits(both));
    let owners = [Party::Alice, Party::Bob].map(Owner::from);
    circuit::Program::of_circuit(&c.finish(), &owners).bind(&[("lanes", lanes)]).unwrap()
}

/// 64 ANDs one after another on one lane, which Yao computes first over a long line.
fn chain() -> Binding {
    let mut c = circuit::Builder::new("chain");
    let (a, b) = (c.bits("a", 64), c.bits("b", 64));
    let one = a.0.iter().zip(&b.0).fold(a.0[0], |one, (&a, &b)| {
        let other = c.xor(one, b);
        c.and(other, a)
    });
    c.output("one", &circuit::Bits(vec![one]));
    let owners = [Party::Alice, Party::Bob].map(Owner::from);
    circuit::Program::of_circuit(&c.finish(), &owners).bind(&[("lanes", 1)]).unwrap()
}

fn zeros(party: Party, lanes: u64) -> Inputs {
    Inputs::new().with(if party == Party::Alice { "a" } else { "b" }, BitMatrix::zeros(64, lanes as usize))
}

/// A run's bytes and rounds, with the probe and what was found, are those that were counted for its line; by another
/// protocol and when setup is streamed, too.
#[test]
fn a_run_that_measures_costs_what_is_counted() {
    let (text, lanes) = ("10ms,50Mbit", 1500);
    let binding = ands(lanes);
    for options in [
        Options::new(Scheme::Gmw),
        Options::new(Scheme::Gmw).timing(Timing::Streamed),
        Options::new(Scheme::MaskedGmw),
        Options::new(Scheme::Yao),
        Options::new(Scheme::Gmw).link(line("100ms,1Mbit")),
    ] {
        let cost = cost::cost_over(&binding, &options, &Calls::new(), &line(text)).unwrap();
        let reports =
            over([text; 2], |_, session| session.run(&binding, &options, &zeros(session.party, lanes)).unwrap().report);
        for (report, party) in reports.into_iter().zip([Party::Alice, Party::Bob]) {
            assert_eq!(report.maker, Some(cost.maker), "{options:?}");
            let (setup, online) = (&report.setup, &report.online);
            for (phase, counted) in [(setup, &cost.setup), (online, &cost.online)] {
                let (ours, theirs) = (counted.alice_to_bob, counted.bob_to_alice);
                let [sent, received] = if party == Party::Alice { [ours, theirs] } else { [theirs, ours] };
                assert_eq!([phase.sent, phase.received], [sent, received], "{party}, {options:?}");
                let rounds = if party == Party::Alice { counted.alice_rounds } else { counted.bob_rounds };
                assert_eq!(phase.rounds, rounds, "{party}, {options:?}");
            }
        }
    }
}

/// For little, `auto` sends what SoftSpoken 4 sends, but for the word in the terms, and takes no more rounds.
#[test]
fn for_little_nothing_is_measured() {
    for (way, options) in ways() {
        let sent = |extension: Option<Extension>| {
            let options = Options { extension, ..options };
            unwrap(seeded(5, |session| {
                twice(&job(), &options, session)?;
                assert_eq!((session.maker(), session.conditions()), (Some(Extension::DEFAULT), None));
                Ok(session.counters())
            }))
        };
        let (named, auto) = (sent(Some(Extension::DEFAULT)), sent(None));
        let more = 2 * ("auto by rule 3".len() - "softspoken4".len()) as u64;
        for (named, auto) in named.1.into_iter().zip(auto.1) {
            assert_eq!((auto.bytes_sent, auto.rounds), (named.bytes_sent + more, named.rounds), "{way}");
        }
    }
}

/// The maker that a session has, named or chosen, serves whoever names none; who names another one is refused.
#[test]
fn a_session_keeps_its_maker() {
    let other = Extension::SoftSpoken { k: 2 };
    unwrap(seeded(5, |session| {
        session.correlate(other, Demand::of_triples(10), |_| Ok(()))?;
        session.correlate(None, Demand::of_triples(200_000), |stock| stock.forget(&stock.available()))?;
        session.random_ots(None, 5, 5)?;
        assert_eq!((session.maker(), session.conditions()), (Some(other), None));
        assert_eq!(session.choose_maker(Demand::of_triples(1 << 30), None)?, other);
        let refused = session.correlate(Extension::DEFAULT, Demand::of_triples(10), |_| Ok(()));
        assert!(matches!(refused, Err(Error::Usage(_))));
        Ok(())
    }));
    // One that was chosen serves until another one is named, before there are base OTs.
    unwrap(seeded(5, |session| {
        let chosen = session.choose_maker(Demand::of_triples(200_000), line("100ms,1Mbit"))?;
        assert_eq!(chosen.to_string(), "softspoken8");
        assert_eq!(session.conditions(), Some(Conditions::of(&line("100ms,1Mbit"))));
        session.correlate(None, Demand::of_triples(10), |_| Ok(()))?;
        assert_eq!(session.maker(), Some(chosen));
        Ok(())
    }));
}

/// Lines that the parties assume are terms.
#[test]
fn assumed_lines_must_be_equal() {
    let (_, results) = seeded(5, |session| {
        let lines = [line("10ms,100Mbit"), line("11ms,100Mbit")];
        session.choose_maker(Demand::of_triples(200_000), lines[session.party as usize])
    });
    for result in results {
        let why = result.unwrap_err().to_string();
        assert!(why.contains("what makes correlations") && why.contains("for 11ms,100Mbit"), "{why}");
    }
}

/// A new pool has the maker that is chosen for its level, and a session takes what the pool lacks from that one.
#[cfg(feature = "disk")]
#[test]
fn a_new_pool_has_the_maker_that_is_chosen_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let level = Demand::of_triples(40_000);
    let (_, made) = unwrap(seeded(5, |session| {
        let place = folder.path().join(session.party.to_string());
        session.create_pool_for(&place, level, line("100ms,1Mbit"), None)?;
        session.fill_pool(level)?;
        let lacking = Demand { cots_by_alice: 7, ..Demand::NONE };
        session.correlate(None, lacking, |stock| stock.forget(&stock.available()))?;
        let refused = session.correlate(Extension::DEFAULT, lacking, |_| Ok(()));
        assert!(matches!(refused, Err(Error::Usage(_))));
        Ok((session.pool().unwrap().origin.extension, session.maker()))
    }));
    let softspoken8 = Extension::SoftSpoken { k: 8 };
    assert_eq!(made, [(softspoken8, Some(softspoken8)); 2]);
}

/// What is measured for an application is the line, once, and both parties have it; it chooses no maker.
#[test]
fn the_line_is_measured_once_for_an_application() {
    let both = over(["30ms,10Mbit", "10ms,80Mbit"], |_, session| {
        let measured = [(); 2].map(|()| session.measure(16_001).unwrap());
        assert_eq!(session.maker(), None);
        (measured, session.counters())
    });
    let [([conditions, again], counters), (peers, _)] = both;
    assert_eq!((conditions, peers), (again, [conditions; 2]));
    assert!(is_near(conditions.alice_to_bob, 1_250_000), "{conditions}");
    assert!(is_near(conditions.bob_to_alice, 10_000_000), "{conditions}");
    assert!((16_000..17_500).contains(&counters.bytes_sent), "one probe and the terms: {}", counters.bytes_sent);
    let (_, results) = seeded(5, |session| session.measure(1000 + 1000 * session.party as usize));
    assert!(results.iter().all(|result| matches!(result, Err(Error::Incompatible { .. }))), "{results:?}");
}

/// A peer that measures for something else is named, before anything depends on it.
#[test]
fn a_probe_for_another_demand_is_refused() {
    let (_, results) = seeded(5, |session| {
        let term = crate::correlation::MakerTerm::new(None);
        session.guarded(|session| session.wire.choose_for(term, Demand::of_triples(200_000 + session.party as u64)))
    });
    let errors = results.map(|result| result.unwrap_err());
    assert!(
        errors.iter().any(|why| matches!(why, Error::Peer(why) if why.contains("0, 0, 200001, its 0, 0, 200000")
        || why.contains("0, 0, 200000, its 0, 0, 200001"))),
        "{errors:?}"
    );
}

/// Whatever a peer says in place of its findings, the session goes on with values within their bounds.
#[test]
fn absurd_findings_are_bounded() {
    for absurd in [[0u8; Findings::LEN], [0xff; Findings::LEN]] {
        let [alice, _] = over(["10ms,20Mbit"; 2], |_, session| {
            let term = crate::correlation::MakerTerm::new(None);
            let demand = Demand::of_triples(1_000_000);
            if session.party == Party::Alice {
                return Some(session.wire.choose_for(term, demand).unwrap());
            }
            session.wire.term = term;
            session.wire.plan_new(demand);
            let probe = session.wire.probe();
            session.wire.trade_with(probe, &[], 0).unwrap();
            session.wire.channel.send(&absurd).unwrap();
            session.wire.channel.recv(Findings::LEN).unwrap();
            None
        });
        let Chosen { extension, conditions } = alice.expect("Alice chose");
        assert!(choice::candidates().any(|candidate| candidate == extension));
        assert!(conditions.is_some_and(|found| found.round_trip <= Duration::from_secs(120)));
    }
}

/// Who cannot send takes in the peer's pieces meanwhile, and does not know when they came: that is no fast line.
#[test]
fn pieces_that_come_while_it_sends_are_not_timed() {
    let demand = Demand::of_triples(1_000_000);
    let parties = virtual_time::channels_with([None; 2], 4 << 10, Limits::default());
    let connect = |channel: &mut Channel, party: Party| {
        let channel = std::mem::replace(channel, Channel::pair().0);
        Session::with(channel, party, Generator::from_seed(Block::new(14 | party as u128))).unwrap()
    };
    let alice = |_: &Actor, channel: &mut Channel| {
        let mut session = connect(channel, Party::Alice);
        session.wire.choose_for(crate::correlation::MakerTerm::new(None), demand).unwrap();
    };
    let bob = |actor: &Actor, channel: &mut Channel| {
        let mut session = connect(channel, Party::Bob);
        let (channel, length) = (&mut session.wire.channel, choice::probe_length(&demand));
        let send = |channel: &mut Channel, bytes: &[u8]| {
            actor.sleep(Duration::from_millis(1));
            channel.send(bytes).and_then(|()| channel.flush()).unwrap();
        };
        let head = [demand.cots_by_alice, demand.cots_by_bob, demand.triples].map(u64::to_le_bytes);
        send(channel, head.as_flattened());
        (0..choice::PIECES).for_each(|_| send(channel, &vec![0; length / choice::PIECES]));
        channel.recv(choice::PROBE_HEAD + length).unwrap();
        send(channel, &[0; Findings::LEN]);
        let theirs = channel.recv(Findings::LEN).unwrap();
        Findings::decode(&theirs.try_into().unwrap())
    };
    let ((), found) = virtual_time::both(parties, alice, bob);
    // Where Bob takes in what Alice sends before he goes on, Alice is in time, and measures a piece each millisecond.
    let true_rate = choice::probe_length(&demand) / choice::PIECES * 1000;
    assert!(found.late || found.received <= true_rate as u64, "{found:?}, not {true_rate} bytes a second");
}

/// What a prepared program's streamed setup makes, its own terms say, whatever was prepared after it. Only with a pool is
/// there no maker yet when it goes on, so the test looks at the term itself.
#[test]
fn a_prepared_program_runs_under_its_own_terms() {
    let binding = ands(100);
    let streamed = Options::new(Scheme::Gmw).timing(Timing::Streamed);
    let named = Extension::SoftSpoken { k: 2 };
    unwrap(seeded(5, |session| {
        let inputs = zeros(session.party, 100);
        let one = session.prepare(&binding, &streamed.extension(named), &Inputs::new())?;
        let two = session.prepare(&binding, &streamed, &Inputs::new())?;
        for (prepared, own) in [(one, Some(named)), (two, None)] {
            assert_eq!(session.online(prepared, &inputs)?.report.maker, Some(named));
            assert_eq!(session.wire.term, crate::correlation::MakerTerm::new(own));
        }
        Ok(())
    }));
}

/// All protocols for a program.
fn choices_of(binding: &Binding, options: Options) -> Choices {
    let all = candidates(&options, None).into_iter().map(|options| (binding.clone(), options));
    Choices::new(all, &Calls::new()).unwrap()
}

/// What an act sends, receives, and how often it turns.
fn counted<T>(session: &mut Session, act: impl FnOnce(&mut Session) -> T) -> (T, [u64; 3]) {
    let before = session.counters();
    let done = act(session);
    let after = session.counters();
    let counts = [
        after.bytes_sent - before.bytes_sent,
        after.bytes_received - before.bytes_received,
        after.rounds - before.rounds,
    ];
    (done, counts)
}

/// Chooses and runs, twice; the counts of both times, beside those that were predicted.
fn chosen_twice(
    session: &mut Session,
    choices: &Choices,
    wish: Wish,
    lanes: u64,
) -> Vec<(Ranking, [u64; 3], [u64; 3])> {
    let once = |_| {
        let ours = zeros(session.party, lanes);
        let (ranking, counts) = counted(session, |session| {
            let ranking = session.choose(choices, wish).unwrap();
            let best = ranking.best();
            session.run(&best.binding, &best.options, &ours).unwrap();
            ranking
        });
        let cost = &ranking.best().cost;
        let phases = [cost.setup, cost.online];
        let sum = |of: fn(&cost::Traffic) -> u64| phases.iter().map(of).sum();
        let predicted = match session.party {
            Party::Alice => [sum(|t| t.alice_to_bob), sum(|t| t.bob_to_alice), sum(|t| t.alice_rounds)],
            Party::Bob => [sum(|t| t.bob_to_alice), sum(|t| t.alice_to_bob), sum(|t| t.bob_rounds)],
        };
        (ranking, counts, predicted)
    };
    (0..2).map(once).collect()
}

/// A choice with its run takes the bytes and rounds that were predicted: when the line is measured, when it is assumed, and when
/// it does not matter; in a second run, which has base OTs, too.
#[test]
fn a_choice_costs_what_is_counted() {
    let lanes = 300;
    let soft = Options::new(Scheme::Yao).extension(Extension::DEFAULT);
    for (text, wish, options, basis) in [
        ("50ms,50Mbit", Wish::Total, soft, Basis::Measured),
        ("1ms,2Mbit", Wish::Online, soft, Basis::Measured),
        ("10ms,5Mbit", Wish::Bytes, soft, Basis::Any),
        ("10ms,5Mbit", Wish::Total, Options::new(Scheme::Yao), Basis::Measured),
        ("10ms,5Mbit", Wish::Total, Options::new(Scheme::Yao).timing(Timing::Streamed), Basis::Measured),
        ("10ms,5Mbit", Wish::Online, soft.link(line("1ms,2Mbit")), Basis::Assumed),
    ] {
        let choices = choices_of(&ands(lanes), options);
        let [alice, bob] = over([text; 2], |_, session| chosen_twice(session, &choices, wish, lanes));
        for (run, (alice, bob)) in alice.iter().zip(&bob).enumerate() {
            let (hers, his) = (&alice.0, &bob.0);
            assert_eq!((hers.conditions, hers.basis), (his.conditions, his.basis));
            assert_eq!(hers.basis, basis, "{text}, {options:?}");
            let names = |ranking: &Ranking| ranking.candidates.iter().map(|one| one.number).collect::<Vec<_>>();
            assert_eq!(names(hers), names(his), "{text}, {options:?}");
            for (party, (ranking, counts, predicted)) in [("alice", alice), ("bob", bob)] {
                let what = format!("{party}, run {run} of {}, {text}, {options:?}", ranking.best());
                match (run, options.extension) {
                    (0, _) => assert_eq!(counts, predicted, "{what}"),
                    // The first batch of a maker has 4 kB more in each direction, which a second run is predicted to have, too.
                    (_, Some(_)) => {
                        assert_eq!(counts[2], predicted[2], "{what}");
                        let near = |i: usize| counts[i].abs_diff(predicted[i]) < 4200;
                        assert!(near(0) && near(1), "{what}: {counts:?}, not {predicted:?}");
                    }
                    // What a silent maker has left of a batch is not predicted.
                    (_, None) => {}
                }
            }
        }
    }
}

/// A choice takes no longer than a run of what is chosen, whose base OTs come after its terms, but for the probe's bytes; less
/// where that makes base OTs in both directions.
#[test]
fn a_choice_takes_no_round_trip() {
    let text = "100ms,100Mbit";
    for (lanes, binding) in [(3, ands(3)), (1500, ands(1500)), (1, chain())] {
        let choices = choices_of(&binding, Options::new(Scheme::Yao));
        let time = |fixed: Option<Options>| {
            let [alice, bob] = over([text; 2], |_, session| {
                let (clock, ours) = (session.wire.channel.clock().clone(), zeros(session.party, lanes));
                let begin = clock.now();
                let options = fixed.unwrap_or_else(|| session.choose(&choices, Wish::Total).unwrap().best().options);
                session.run(&binding, &options, &ours).unwrap();
                (clock.now() - begin, options)
            });
            assert_eq!(alice.1, bob.1);
            (alice.0.max(bob.0), alice.1)
        };
        let (with, chosen) = time(None);
        let (without, _) = time(Some(chosen));
        println!("{} for {lanes}: {with:?} with a choice, {without:?} without", chosen.scheme);
        assert!(with < without + Duration::from_millis(5), "{chosen:?}: {with:?} with a choice, {without:?} without");
    }
}

/// Who wishes for something else, or has other candidates, is told so; the session goes on if nothing was measured, for
/// then nothing but terms was sent.
#[test]
fn other_choices_are_refused() {
    let all = choices_of(&ands(3), Options::new(Scheme::Yao));
    let fewer = Choices::new([(ands(3), Options::new(Scheme::Gmw))], &Calls::new()).unwrap();
    let assumed = choices_of(&ands(3), Options::new(Scheme::Yao).link(line("lan")));
    for (ours, theirs, expected, goes_on) in [
        ((&all, Wish::Total), (&all, Wish::Online), "what the choice makes least", false),
        ((&all, Wish::Total), (&all, Wish::Bytes), "what the choice makes least", false),
        ((&all, Wish::Bytes), (&fewer, Wish::Bytes), "the protocols of the choice", true),
        ((&assumed, Wish::Total), (&assumed, Wish::Online), "what the choice makes least", true),
    ] {
        over(["lan"; 2], |_, session| {
            let (choices, wish) = if session.party == Party::Alice { ours } else { theirs };
            let why = session.choose(choices, wish).unwrap_err();
            assert!(matches!(why, Error::Incompatible { what, .. } if what == expected), "{why}");
            let again = goes_on.then(|| session.choose(&assumed, Wish::Total).map(|ranking| ranking.best().number));
            assert!(again.is_none_or(|number| number.is_ok()));
        });
    }
}

/// The terms of a run that was chosen are compared although nobody waits for them: parties whose public inputs differ both
/// hear it, no output is given, and the session is over, for more was under way.
#[test]
fn terms_after_a_choice_are_compared() {
    for (_, options) in ways() {
        let job = job();
        let choices = Choices::new([(job.clone(), options)], &Calls::new()).unwrap();
        let (_, results) = seeded(5, |session| {
            session.choose(&choices, Wish::Total)?;
            let ours = inputs(&job, session.party, 1 + session.party as u64);
            // Before the online phase, which uses inputs.
            let why = session.prepare(&job, &options, &ours).unwrap_err();
            let dead = session.run(&job, &options, &ours).unwrap_err();
            Ok((why, dead))
        });
        for result in results {
            let (why, dead) = result.unwrap();
            // Whoever hears the peer's last words before its terms has the same from them.
            assert!(why.to_string().contains("the public inputs"), "{options:?}: {why}");
            assert!(matches!(dead, Error::Dead(_)), "{options:?}: {dead}");
        }
    }
}

/// Who runs something else than was chosen is told, too.
#[test]
fn another_run_after_a_choice_is_refused() {
    let (job, [(_, one), .., (_, other)]) = (job(), ways());
    let choices = Choices::new([(job.clone(), one)], &Calls::new()).unwrap();
    let (_, results) = seeded(5, |session| {
        session.choose(&choices, Wish::Total)?;
        let ours = inputs(&job, session.party, 1);
        let options = if session.party == Party::Alice { one } else { other };
        Ok(session.run(&job, &options, &ours).unwrap_err())
    });
    for result in results {
        let why = result.unwrap();
        assert!(why.to_string().contains("the protocol"), "{why}");
    }
}

/// What a pool has is neither made nor counted, and the probe travels without base OTs.
#[test]
fn a_choice_counts_what_a_pool_has() {
    let (folder, lanes) = (tempfile::tempdir().unwrap(), 300);
    let place = |session: &Session| folder.path().join(session.party.to_string());
    let few = Demand { cots_by_alice: 5_000, cots_by_bob: 5_000, triples: 5_000 };
    let choices = choices_of(&ands(lanes), Options::new(Scheme::Yao));
    for (level, bytes) in [(few, 700_000), (few.times(10), 100_000)] {
        over(["lan"; 2], |_, session| {
            if place(session).exists() {
                session.use_pool(Pool::open(&place(session), None).unwrap()).unwrap();
            } else {
                session.create_pool(&place(session), Extension::DEFAULT, None).unwrap();
            }
            session.fill_pool(level).unwrap();
        });
        let [alice, bob] = over(["10ms,20Mbit"; 2], |_, session| {
            session.use_pool(Pool::open(&place(session), None).unwrap()).unwrap();
            chosen_twice(session, &choices, Wish::Total, lanes).swap_remove(0)
        });
        for (party, (ranking, counts, predicted)) in [("alice", alice), ("bob", bob)] {
            assert_eq!(counts, predicted, "{party} by {}, {level:?}", ranking.best());
            assert_eq!(ranking.best().cost.maker, Extension::DEFAULT);
            assert!(ranking.best().bytes() < bytes, "{} bytes by {}", ranking.best().bytes(), ranking.best());
        }
    }
}
