//! Sessions with pools: what a failed check destroys and when, what stays whole, and what both halves have in common.

use super::*;
use crate::channel::memory::MemoryPipe;
use crate::correlation::pool::Pool;
use crate::data;
use crate::ot::base::Proof;
use crate::ot::{Directions, SECOND as OFFER};
use crate::storage::tests::copy;
use circuit::{Program, blocks, uint};
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;

const MAKER: Extension = Extension::SoftSpoken { k: 4 };
const FEW: Demand = Demand { cots_by_alice: 10, cots_by_bob: 11, triples: 12 };
const MANY: Demand = Demand { cots_by_alice: 2000, cots_by_bob: 2001, triples: 2002 };

/// The lengths of messages of correlations: longer than any terms.
const LONG: RangeInclusive<usize> = 3000..=usize::MAX;
/// Those of the second message of base OTs, of one direction and of both.
const ANSWERS: [usize; 2] =
    [BaseOtSetup::messages(Directions::One(Party::Alice))[1][1], BaseOtSetup::messages(Directions::Both)[1][1]];

/// What befalls the next frame of some lengths.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Harm {
    /// The last bit of its body changes.
    Flip,
    /// Its header says that it is of no kind.
    TaskKind,
    /// The connection ends before it.
    Cut,
}

/// The lengths of the frames of which the next comes to harm.
type Plan = (RangeInclusive<usize>, Harm);

/// What a test and the pipe of a party know of each other.
#[derive(Clone, Default)]
struct Desk {
    harm: Arc<Mutex<Option<Plan>>>,
    /// Of each abort that was written: whether Δ was destroyed on disk by then.
    aborts: Arc<Mutex<Vec<bool>>>,
    folder: PathBuf,
}

/// A pipe on which somebody sits who knows frames.
struct Middle {
    inner: MemoryPipe,
    desk: Desk,
    /// Bytes of the frame's body that are still to be written.
    left: usize,
    flip: bool,
}

impl Middle {
    fn header(&mut self, header: [u8; 4]) -> io::Result<[u8; 4]> {
        let [kind, a, b, c] = header;
        self.left = u32::from_le_bytes([a, b, c, 0]) as usize;
        if kind == 2 {
            let bytes = fs::read(self.desk.folder.join("header")).unwrap_or_default();
            self.desk.aborts.lock().unwrap().push(bytes.get(11).is_some_and(|flags| flags & 4 != 0));
        }
        let planned = &mut *self.desk.harm.lock().unwrap();
        let harm = planned.take_if(|(lengths, _)| kind == 1 && lengths.contains(&self.left)).map(|(_, harm)| harm);
        self.flip |= harm == Some(Harm::Flip);
        match harm {
            Some(Harm::TaskKind) => Ok([9, a, b, c]),
            Some(Harm::Cut) => {
                self.inner.close_write();
                Err(io::ErrorKind::BrokenPipe.into())
            }
            _ => Ok(header),
        }
    }
}

impl Pipe for Middle {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            let header = self.header(*bytes.first_chunk().expect("a header comes whole"))?;
            assert_eq!(self.inner.try_write(&header)?, 4);
            return Ok(4);
        }
        let mut part = bytes[..bytes.len().min(self.left)].to_vec();
        if self.flip && part.len() == self.left {
            part[self.left - 1] ^= 1;
        }
        let n = self.inner.try_write(&part)?;
        self.left -= n;
        self.flip &= self.left > 0;
        Ok(n)
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        self.inner.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.inner.close_write();
    }
}

/// A folder with those of both parties.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().unwrap())
    }

    fn folder(&self, party: Party) -> PathBuf {
        self.0.path().join(party.to_string())
    }

    fn open(&self, party: Party) -> Pool {
        Pool::open(&self.folder(party), None).unwrap()
    }

    /// Both parties do this in a session of their own.
    fn meet<T: Send>(
        &self,
        seed: u128,
        act: impl Fn(&mut Session, &Desk) -> Result<T> + Sync,
    ) -> ([Result<T>; 2], [Desk; 2]) {
        let (alice, bob) = memory::pair(memory::CAPACITY);
        let desks = [Party::Alice, Party::Bob].map(|party| Desk { folder: self.folder(party), ..Desk::default() });
        let run = |inner, party: Party| {
            let desk = desks[party as usize].clone();
            let channel = Channel::over(Middle { inner, desk: desk.clone(), left: 0, flip: false }, Limits::default());
            let secrets = Generator::from_seed(Block::new(seed << 1 | party as u128));
            act(&mut Session::with(channel, party, secrets)?, &desk)
        };
        let results = thread::scope(|scope| {
            let bob = scope.spawn(|| run(bob, Party::Bob));
            [run(alice, Party::Alice), bob.join().expect("no panic")]
        });
        (results, desks)
    }

    fn succeed<T: Send>(&self, seed: u128, act: impl Fn(&mut Session, &Desk) -> Result<T> + Sync) -> [T; 2] {
        self.meet(seed, act).0.map(|result| result.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Both use their halves.
    fn with_pool<T: Send>(&self, seed: u128, act: impl Fn(&mut Session) -> Result<T> + Sync) -> [T; 2] {
        self.succeed(seed, |session, _| {
            session.use_pool(self.open(session.party))?;
            act(session)
        })
    }

    fn create(&self, seed: u128, level: Demand) {
        self.succeed(seed, |session, desk| {
            session.create_pool(&desk.folder, MAKER, None)?;
            session.fill_pool(level).map(drop)
        });
    }
}

/// Who is richer, a hundred times.
fn richer() -> Binding {
    let mut p = Program::new("richer");
    let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(32), 100));
    let greater = blocks::find("greater").unwrap().circuit(&[32], blocks::Goal::Size).unwrap();
    let richer = p.map(&greater, &[a, b]);
    p.output("richer", Party::Alice, richer);
    p.bind(&[]).unwrap()
}

/// Runs it, and checks what Alice learns.
fn run(session: &mut Session, scheme: Scheme) -> Result<Report> {
    let (alice, bob) = (|i: u64| i * 7919 % 1000, |i: u64| i * 104_729 % 1000);
    let ours: Vec<u64> = (0..100).map(|i| if session.party == Party::Alice { alice(i) } else { bob(i) }).collect();
    let inputs = Inputs::new().with(&session.party.to_string(), data::uints(32, &ours)?);
    let outcome = session.run(&richer(), &Options { extension: Some(MAKER), ..Options::new(scheme) }, &inputs)?;
    if let Some(richer) = outcome.outputs.get("richer") {
        let expected: Vec<u64> = (0..100).map(|i| u64::from(alice(i) > bob(i))).collect();
        assert_eq!(data::to_uints(richer)?, expected);
    }
    Ok(outcome.report)
}

/// What makes correlations.
const MAKING: [fn(&mut Session) -> Result<()>; 3] = [
    |session| session.fill_pool(MANY).map(drop),
    |session| run(session, Scheme::Gmw).map(drop),
    |session| session.random_ots(MAKER, 2000, 2000).map(drop),
];

/// Bob's message comes to harm while correlations are made: what Alice says of it, and what was on her disk at each
/// abort that she wrote.
fn harmed(place: &Place, making: fn(&mut Session) -> Result<()>, harm: Harm) -> (Error, Vec<bool>) {
    let (results, [alice, _]) = place.meet(1, |session, desk| {
        session.create_pool(&desk.folder, MAKER, None)?;
        session.fill_pool(FEW)?;
        if session.party == Party::Bob {
            *desk.harm.lock().unwrap() = Some((LONG, harm));
        }
        making(session)
    });
    // Bob may be done by the time that Alice finds it.
    let [error, _] = results;
    let error = error.expect_err("harmless");
    let aborts = alice.aborts.lock().unwrap().clone();
    (error, aborts)
}

/// P12: after a failed check there is no Δ to try again on: not on disk either, before the peer hears of the failure.
#[test]
fn a_failed_check_destroys_delta_before_the_peer_hears() {
    for making in MAKING {
        let place = Place::new();
        let (error, aborts) = harmed(&place, making, Harm::Flip);
        assert!(matches!(error, Error::Peer(_)), "{error}");
        assert_eq!(aborts, [true]);
        let [alice, bob] = [Party::Alice, Party::Bob].map(|party| place.open(party).status().destroyed);
        assert!(alice.is_some_and(|why| why.contains("misbehaved")));
        assert_eq!(bob, None, "he failed no check of ours");
    }
}

/// Base OTs have Δ in them too: what a peer that fails them has learnt of it is worth nothing. Of one direction the last
/// bit of the answer is in the challenges' commitment; of both, in the check of the batch.
#[test]
fn base_ots_that_fail_destroy_delta() {
    let later = |session: &mut Session| {
        session.fill_pool(Demand::of_cots(Party::Alice, 10))?;
        session.fill_pool(FEW).map(drop)
    };
    type Case = (usize, &'static str, fn(&mut Session) -> Result<()>);
    let cases: [Case; 3] = [
        (ANSWERS[0], "challenges", |session| session.fill_pool(Demand::of_cots(Party::Alice, 10)).map(drop)),
        (ANSWERS[1], "consistency check", |session| session.fill_pool(FEW).map(drop)),
        (OFFER, "consistency check", later),
    ];
    for (length, words, making) in cases {
        let place = Place::new();
        let (results, [alice, _]) = place.meet(1, |session, desk| {
            session.create_pool(&desk.folder, MAKER, None)?;
            if session.party == Party::Bob {
                *desk.harm.lock().unwrap() = Some((length..=length, Harm::Flip));
            }
            making(session)
        });
        let [error, _] = results.map(|result| result.expect_err("harmless"));
        assert!(matches!(&error, Error::Peer(why) if why.contains(words)), "{error}");
        assert_eq!(*alice.aborts.lock().unwrap(), [true]);
        let [alice, bob] = [Party::Alice, Party::Bob].map(|party| place.open(party).status().destroyed);
        assert!(alice.is_some_and(|why| why.contains(words)));
        assert_eq!(bob, None, "he failed no check of ours");
    }
}

/// P12, P13: a wrong proof of the base OTs destroys the Δ of whoever asked for it, on disk too, before anything is used.
#[test]
fn a_proof_that_fails_destroys_delta() {
    let place = Place::new();
    let (results, [_, bob]) = place.meet(1, |session, desk| {
        session.create_pool(&desk.folder, MAKER, None)?;
        if session.party == Party::Alice {
            *desk.harm.lock().unwrap() = Some((Proof::LEN..=Proof::LEN, Harm::Flip));
        }
        // Alice, who only sends, has nothing to say in the first exchange but her proof.
        session.fill_pool(Demand::of_cots(Party::Alice, 10))
    });
    let [_, error] = results.map(|result| result.map(drop));
    assert!(matches!(&error, Err(Error::Peer(why)) if why.contains("base OTs")));
    assert_eq!(*bob.aborts.lock().unwrap(), [true]);
    assert!(place.open(Party::Bob).status().destroyed.is_some_and(|why| why.contains("base OTs")));
    assert_eq!(place.open(Party::Bob).left(), Demand::NONE);
}

/// One direction in one session, both in the next, one more in a third: all under the pool's Δ.
#[test]
fn a_pool_gets_its_directions_as_they_are_called_for() {
    let place = Place::new();
    let levels = [Demand::of_cots(Party::Bob, 50), FEW + FEW, Demand { cots_by_alice: 90, ..FEW + FEW }];
    place.create(1, Demand::NONE);
    for (seed, level) in (2..).zip(levels) {
        place.with_pool(seed, |session| session.fill_pool(level));
    }
    let all = place.open(Party::Alice).left();
    let [alice, bob] = place.with_pool(9, |session| {
        session.correlate(MAKER, all, |_| Ok(()))?;
        let [sent, received] = [session.party, session.party.peer()].map(|sender| all.cots_by(sender) as usize);
        let stock = &mut session.stock;
        let halves = (stock.draw_cot_sender(sent)?, stock.draw_cot_receiver(received)?.t);
        Ok((session.wire.delta()?, halves))
    });
    let belong = |delta: Block, q: &[Block], t: &[Block]| {
        !q.is_empty() && q.len() == t.len() && q.iter().zip(t).all(|(&q, &t)| t == if t.lsb() { q ^ delta } else { q })
    };
    assert!(belong(alice.0, &alice.1.0, &bob.1.1) && belong(bob.0, &bob.1.0, &alice.1.1));
}

/// The twin: whoever is on the way can break the channel, and that alone does not cost a pool.
#[test]
fn errors_of_the_channel_leave_delta() {
    for (making, harm) in MAKING.iter().flat_map(|making| [(making, Harm::TaskKind), (making, Harm::Cut)]) {
        let place = Place::new();
        let (error, aborts) = harmed(&place, *making, harm);
        assert_eq!(matches!(error, Error::Peer(_)), harm == Harm::TaskKind, "{error}");
        assert!(aborts.iter().all(|destroyed| !destroyed));
        for party in [Party::Alice, Party::Bob] {
            assert_eq!(place.open(party).status().destroyed, None, "{harm:?}");
        }
        place.with_pool(2, |session| session.fill_pool(MANY));
    }
}

/// Nor is Δ destroyed by terms that differ, which leave the session alive and its pool there.
#[test]
fn a_disagreement_leaves_the_pool_as_it_is() {
    let place = Place::new();
    place.create(1, FEW);
    place.with_pool(2, |session| {
        let level = if session.party == Party::Alice { MANY } else { FEW };
        let error = session.fill_pool(level).expect_err("the levels differ");
        assert!(matches!(error, Error::Incompatible { .. }), "{error}");
        let missing = MANY.missing_from(&FEW);
        let error = match session.party {
            Party::Alice => session.correlate(MAKER, missing, |_| Ok(())).map(drop),
            Party::Bob => session.fill_pool(MANY).map(drop),
        };
        assert!(matches!(error, Err(Error::Incompatible { .. })), "one would keep what the other forgets");
        assert_eq!(session.pool().expect("still there").made, FEW);
        session.fill_pool(MANY)
    });
    assert_eq!(place.open(Party::Bob).left(), MANY);
}

/// A pool holds what its name says: that a session's correlations have another maker is found before anything is sent.
#[test]
fn a_pool_is_filled_by_its_own_maker_alone() {
    let place = Place::new();
    place.create(1, FEW);
    place.with_pool(2, |session| {
        session.random_ots(Extension::SoftSpoken { k: 1 }, 10, 10)?;
        let sent = session.counters().bytes_sent;
        let error = session.fill_pool(MANY).expect_err("softspoken1 would fill it");
        let advice = "filled by softspoken4, but this session makes correlations by softspoken1: fill it in another";
        assert!(matches!(&error, Error::Usage(why) if why.contains(advice)), "{error}");
        assert_eq!((session.counters().bytes_sent, session.pool().expect("still there").made), (sent, FEW));
        session.random_ots(Extension::SoftSpoken { k: 1 }, 10, 10)
    });
    place.with_pool(3, |session| session.fill_pool(MANY));
    assert_eq!(place.open(Party::Bob).left(), MANY);
}

/// What only one party has goes when the parties agree to add, and not before.
#[test]
fn a_tail_stays_until_the_parties_agree_on_the_level() {
    let place = Place::new();
    place.create(1, FEW);
    let (folder, backup) = (place.folder(Party::Alice), place.0.path().join("backup"));
    copy(&folder, &backup);
    place.with_pool(2, |session| session.fill_pool(MANY));
    fs::remove_dir_all(&folder).unwrap();
    copy(&backup, &folder);
    place.with_pool(3, |session| {
        let level = if session.party == Party::Alice { MANY } else { FEW };
        session.fill_pool(level).expect_err("the levels differ");
        Ok(())
    });
    assert_eq!(place.open(Party::Bob).status().made, MANY);
    place.with_pool(4, |session| session.fill_pool(FEW));
    assert_eq!(place.open(Party::Bob).status().made, FEW);
}

/// A pool of which one Δ is destroyed gives and takes triples alone, on both sides and for good.
#[test]
fn what_one_party_destroyed_the_other_destroys() {
    let place = Place::new();
    place.create(1, FEW);
    place.open(Party::Alice).destroy_delta("a test").unwrap();
    place.with_pool(2, |session| {
        let error = session.fill_pool(MANY).expect_err("there is no Δ");
        assert!(matches!(&error, Error::Usage(why) if why.contains("are destroyed")), "{error}");
        session.fill_pool(Demand::of_triples(500))?;
        run(session, Scheme::Yao)
    });
    let bob = place.open(Party::Bob);
    assert_eq!(bob.status().destroyed.as_deref(), Some("the peer's was destroyed"));
    assert_eq!(bob.left(), Demand::of_triples(500));
}

/// Δ of the pool, too, which stays on disk.
#[test]
fn a_failed_session_forgets_its_pool() {
    let place = Place::new();
    place.create(1, FEW);
    place.with_pool(2, |session| {
        assert!(session.wire.delta.is_some() && session.wire.pool.is_some());
        fails_and_forgets(session)
    });
    assert_eq!(place.open(Party::Alice).status().destroyed, None);
}

/// Filled in one session and used in others, as the pool of one Δ.
#[test]
fn what_one_session_made_others_use_once() {
    let place = Place::new();
    place.create(1, MANY);
    let mut used = Demand::NONE;
    for (seed, scheme) in [(2, Scheme::Gmw), (3, Scheme::Yao), (4, Scheme::Gmw)] {
        let reports = place.with_pool(seed, |session| run(session, scheme));
        assert_eq!(reports[0].demand, reports[1].demand);
        // The last wants more than there is.
        used = (used + reports[0].demand).at_most(&MANY);
        for party in [Party::Alice, Party::Bob] {
            assert_eq!(place.open(party).used(), used);
        }
    }
    assert!(used.triples == MANY.triples && used.cots_by_alice + used.cots_by_bob > 0, "the test uses it");
    let left = MANY.missing_from(&used);
    let [alice, bob] = place.with_pool(5, |session| {
        session.correlate(MAKER, left + FEW, |_| Ok(()))?;
        let [sent, received] = [session.party, session.party.peer()].map(|sender| (left + FEW).cots_by(sender));
        let stock = &mut session.stock;
        let halves = (stock.draw_cot_sender(sent as usize)?, stock.draw_cot_receiver(received as usize)?.t);
        Ok((session.wire.delta()?, halves))
    });
    let belong = |delta: Block, q: &[Block], t: &[Block]| {
        q.len() == t.len() && q.iter().zip(t).all(|(&q, &t)| t == if t.lsb() { q ^ delta } else { q })
    };
    assert!(belong(alice.0, &alice.1.0, &bob.1.1) && belong(bob.0, &bob.1.0, &alice.1.1));
    assert!(!belong(bob.0, &alice.1.0, &bob.1.1), "the test can fail");
}

/// Alice's folder comes back from a backup and both make the tail anew, then Bob's comes back with the old tail.
#[test]
fn halves_of_different_batches_are_not_used() {
    let place = Place::new();
    place.create(1, Demand::NONE);
    let [alice, bob] = [Party::Alice, Party::Bob].map(|party| place.folder(party));
    let [empty, old] = ["empty", "old"].map(|name| place.0.path().join(name));
    let restore = |from: &Path, to: &Path| {
        fs::remove_dir_all(to).unwrap();
        copy(from, to);
    };
    copy(&alice, &empty);
    place.with_pool(2, |session| session.fill_pool(FEW));
    copy(&bob, &old);
    restore(&empty, &alice);
    place.with_pool(3, |session| session.fill_pool(FEW));
    restore(&old, &bob);
    let (results, _) = place.meet(4, |session, _| {
        session.use_pool(place.open(session.party))?;
        run(session, Scheme::Gmw)
    });
    let errors = results.map(|result| result.expect_err("other correlations"));
    assert!(errors.iter().any(|error| matches!(error, Error::Peer(why) if why.contains("other correlations"))));
    for party in [Party::Alice, Party::Bob] {
        assert_eq!(place.open(party).status().destroyed, None);
    }
}

/// Δ of a pool outlives the session, and that of a program hides its inputs.
#[test]
fn delta_is_shown_only_where_it_hides_nothing() {
    let refused = |session: &mut Session, words: &str| {
        let error = session.open_correlations().expect_err("Δ was shown");
        assert!(matches!(&error, Error::Usage(why) if why.contains(words)), "{error}");
    };
    let place = Place::new();
    place.create(1, FEW);
    place.with_pool(2, |session| {
        session.correlate(MAKER, FEW, |_| Ok(()))?;
        refused(session, "with a pool");
        run(session, Scheme::Gmw)
    });
    for scheme in [Scheme::Yao, Scheme::Gmw] {
        place.succeed(3, |session, _| {
            run(session, scheme)?;
            session.correlate(MAKER, FEW, |_| Ok(()))?;
            refused(session, "after a program");
            run(session, scheme)
        });
    }
    let opened = place.succeed(4, |session, _| {
        session.random_ots(MAKER, 10, 10)?;
        session.correlate(MAKER, FEW, |_| Ok(()))?;
        session.open_correlations()
    });
    assert_eq!(opened, [FEW; 2]);
}

/// Both parties' attempt at a part of a job.
fn at(session: &mut Session, shard: u32, attempt: u32) {
    session.set_part(Part::of_shard([7; 32], shard, attempt));
}

/// A pool that an attempt at a shard has made serves the next attempt alone. It is refused at once by whoever has it: a replayed
/// attempt, one that comes after a failed one, another shard that was put in its place, and a run that is of no job.
#[test]
fn a_pool_of_a_job_serves_the_next_attempt_at_its_shard_alone() {
    let place = Place::new();
    place.succeed(1, |session, desk| {
        at(session, 2, 4);
        session.create_pool(&desk.folder, MAKER, None)?;
        session.fill_pool(MANY).map(drop)
    });
    let refused = |session: &mut Session| match session.use_pool(place.open(session.party)) {
        Err(Error::Usage(why)) => why,
        other => panic!("{other:?}"),
    };
    let others: [(u32, u32); 4] = [(2, 4), (2, 6), (3, 5), (2, 3)];
    for (shard, attempt) in others {
        let why = place.succeed(2, |session, _| {
            at(session, shard, attempt);
            Ok(refused(session))
        });
        let words =
            format!("was made in shard 2, attempt 4 of job {}, for the attempt after it alone", "07".repeat(32));
        assert!(why.iter().all(|why| why.contains(&words)), "{why:?}");
    }
    let why = place.succeed(3, |session, _| Ok(refused(session)));
    assert!(why.iter().all(|why| why.ends_with("and this is no job")), "{why:?}");
    assert!(
        [Party::Alice, Party::Bob].iter().all(|party| place.open(*party).used() == Demand::NONE),
        "nothing was taken"
    );
    let reports = place.succeed(4, |session, _| {
        at(session, 2, 5);
        session.use_pool(place.open(session.party))?;
        run(session, Scheme::Yao)
    });
    assert!(reports.iter().all(|report| report.demand != Demand::NONE));
    assert!([Party::Alice, Party::Bob].iter().all(|party| place.open(*party).used() != Demand::NONE));
}

/// Nor is a pool that belongs to nobody's job for a part of one; and halves of pools of different shards are told apart.
#[test]
fn a_pool_of_no_job_or_of_another_shard_is_not_for_a_part() {
    let place = Place::new();
    place.create(1, FEW);
    place.succeed(2, |session, _| {
        at(session, 0, 1);
        let why = session.use_pool(place.open(session.party)).unwrap_err().to_string();
        assert!(why.contains("was made in no job"), "{why}");
        Ok(())
    });
    let places = [1, 2].map(|shard| {
        let place = Place::new();
        place.succeed(1, |session, desk| {
            at(session, shard, 1);
            session.create_pool(&desk.folder, MAKER, None)
        });
        place
    });
    // Sessions of one seed have one number, and so have their pools: the part alone tells them apart.
    let [one, other] = places.each_ref().map(|place| place.open(Party::Alice).summary());
    assert_eq!((one.identity, one.deltas), (other.identity, other.deltas));
    assert_ne!(one.origin, other.origin);
}
