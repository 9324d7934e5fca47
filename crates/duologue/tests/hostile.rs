//! Peers that break the protocol, and a man in the middle: whatever they do, our side ends within its deadlines with an
//! error that names what happened, and never panics.
//!
//! Without TLS nothing protects the payload: a bit that changes on the way may go unnoticed and give a wrong output. So
//! for flipped bits only the end is asserted, and that it comes in time; for everything that changes how many bytes
//! there are, also that the reader notices.

#[path = "../../../tests/support/every_step.rs"]
mod every_step;
#[path = "../../../tests/support/parties.rs"]
mod parties;
#[path = "../../../tests/support/programs.rs"]
mod programs;
#[path = "../../../tests/support/taps.rs"]
mod taps;

use circuit::Party;
use circuit::program::Binding;
use duologue::channel::memory::{self, MemoryPipe};
use duologue::channel::{Channel, Limits, Listener, Pipe, Security};
use duologue::session::VERSION;
use duologue::{Error, Inputs, Options, Result, Scheme, Session, Timing};
use every_step::{every_step, inputs_of};
use parties::split;
use programs::Dice;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use taps::{Harm, Log, Mangled, Mirror, Tap};

/// A party that needs longer to give up hangs: its patience ends after 0.8 s, and its last words take 1 s, so that this
/// says nothing of how fast the machine is.
const DEADLINE: Duration = Duration::from_secs(120);

/// For parties that may give up as soon as something is wrong, or seems to be.
fn quick() -> Limits {
    let [silence, progress, heartbeat] = [400, 800, 20].map(Duration::from_millis);
    patient().silence(silence).progress(progress).heartbeat(heartbeat)
}

/// For parties that must not give up, however busy the machine is.
fn patient() -> Limits {
    let long = Duration::from_secs(60);
    Limits::default().silence(long).progress(long).meet(long)
}

fn job() -> Binding {
    every_step().bind(&[("n", 5)]).unwrap()
}

fn ours(binding: &Binding, party: Party) -> Inputs {
    split(binding, &inputs_of(binding, 1), &mut Dice(1))[party as usize].clone()
}

fn ways() -> [Options; 4] {
    let yao = Options::new(Scheme::Yao).tile(3).garbler(Party::Bob);
    let streamed = yao.timing(Timing::Streamed).garbler(Party::Alice);
    let gmw = yao.scheme(Scheme::Gmw);
    [yao, streamed, gmw, yao.scheme(Scheme::MaskedGmw)]
}

/// A whole session: greeting, one program, the end. A failed one must be dead.
fn whole(channel: Channel, party: Party, options: &Options) -> Result<()> {
    let binding = job();
    let inputs = ours(&binding, party);
    let mut session = Session::connect(channel, party)?;
    let result = session.run(&binding, options, &inputs);
    if let Err(error) = result {
        if !matches!(error, Error::Incompatible { .. }) {
            let later = session.run(&binding, options, &inputs).err();
            assert!(matches!(later, Some(Error::Dead(_))), "{error}, then {later:?}");
            let later = session.prepare(&binding, options, &inputs).err();
            assert!(matches!(later, Some(Error::Dead(_))), "{error}, then {later:?}");
            assert!(matches!(session.close(), Err(Error::Dead(_))));
        }
        return Err(error);
    }
    session.close()
}

/// Runs one end in a thread; a hang or a panic is a failure with a name.
fn watched<T: Send + 'static>(what: String, end: impl FnOnce() -> T + Send + 'static) -> impl FnOnce() -> T {
    let (done, result) = mpsc::channel();
    let start = Instant::now();
    thread::spawn(move || done.send(end()));
    move || match result.recv_timeout(DEADLINE.saturating_sub(start.elapsed())) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: it panicked"),
    }
}

/// Whether an error blames the peer or the way to it.
fn is_the_peers(error: &Error) -> bool {
    use Error::{Aborted, Closed, Incompatible, Peer, Timeout};
    matches!(error, Peer(_) | Closed(_) | Aborted(_) | Timeout { .. } | Incompatible { .. })
}

// ---------------------------------------------------------------------------------------------------------------------
// One honest party, one peer that is not.

/// What Alice hears of a peer behind the other end of her pipe, to whom she listens until it has said what it says.
fn against(what: &str, options: &Options, attack: impl FnOnce(MemoryPipe) + Send + 'static) -> Error {
    within(patient(), what, options, attack)
}

/// What Alice hears, if these are her limits.
fn within(limits: Limits, what: &str, options: &Options, attack: impl FnOnce(MemoryPipe) + Send + 'static) -> Error {
    let (pipe, theirs) = memory::pair(memory::CAPACITY);
    let options = *options;
    let alice = watched(what.to_owned(), move || whole(Channel::over(pipe, limits), Party::Alice, &options));
    let attacker = thread::spawn(move || attack(theirs));
    let error = alice().expect_err(what);
    assert!(is_the_peers(&error), "{what}: {error}");
    attacker.join().expect("the attacker is fine");
    error
}

fn write_all(pipe: &mut MemoryPipe, mut bytes: &[u8]) {
    while let Ok(n) = pipe.try_write(bytes) {
        bytes = &bytes[n..];
        if bytes.is_empty() {
            return;
        }
    }
}

/// Reads until the other end is closed.
fn await_end(pipe: &mut MemoryPipe) {
    let mut bytes = [0; 4096];
    while !matches!(pipe.try_read(&mut bytes), Ok(0)) {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn strangers_are_named() {
    let gmw = &ways()[2];
    let error = against("closes at once", gmw, drop);
    assert!(matches!(error, Error::Closed(_)), "{error}");

    let error = against("a web browser", gmw, |mut pipe| {
        write_all(&mut pipe, b"GET / HTTP/1.1\r\n\r\n");
        await_end(&mut pipe);
    });
    assert!(matches!(error, Error::Peer(_)), "{error}");

    let error = against("another protocol in our frames", gmw, |mut pipe| {
        write_all(&mut pipe, b"\x01\x0a\0\0SSH-2.0-OpenSSH");
        await_end(&mut pipe);
    });
    assert!(matches!(&error, Error::Peer(why) if why.contains("does not speak duologue")), "{error}");

    let silence = patient().silence(Duration::from_millis(400));
    let error = within(silence, "says nothing", gmw, |mut pipe| await_end(&mut pipe));
    assert!(matches!(error, Error::Timeout { what: "sign of life", .. }), "{error}");

    let progress = patient().progress(Duration::from_millis(400));
    let error = within(progress, "lives and does nothing", gmw, |mut pipe| {
        let mut bytes = [0; 4096];
        while !matches!(pipe.try_read(&mut bytes), Ok(0)) {
            write_all(&mut pipe, &[3, 0, 0, 0]);
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(matches!(error, Error::Timeout { what: "progress", .. }), "{error}");

    let error = against("sends our bytes back", gmw, |mut pipe| {
        let mut bytes = [0; 4096];
        loop {
            match pipe.try_read(&mut bytes) {
                Ok(0) => break,
                Ok(n) => write_all(&mut pipe, &bytes[..n]),
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
    });
    assert!(matches!(&error, Error::Incompatible { what, .. } if what.contains("who is who")), "{error}");
}

const POINT: [u8; 32] = curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED.to_bytes();

fn hello(version: u16, party: u8, security: [u8; 2]) -> Vec<u8> {
    [&b"duologue"[..], &version.to_le_bytes(), &[party], &security, &POINT].concat()
}

/// A peer that speaks in frames and, after a valid hello, says this.
fn says(what: &str, hello: Vec<u8>, then: impl FnOnce(&mut Channel) -> Result<()> + Send + 'static) -> Error {
    against(what, &ways()[2], move |pipe| {
        let mut channel = Channel::over(pipe, patient());
        // What becomes of the attacker does not matter.
        let _ = channel.send(&hello).and_then(|()| channel.recv(45).map(drop));
        let _ = then(&mut channel).and_then(|()| channel.flush());
        let _ = channel.recv(1 << 20);
    })
}

#[test]
fn other_versions_parties_and_parameters_are_named() {
    let nothing = |_: &mut Channel| Ok(());
    let other = |what: &str, hello| match says(what, hello, nothing) {
        Error::Incompatible { what, ours, theirs, .. } => (what, ours, theirs),
        error => panic!("{what}: {error}"),
    };
    for version in [VERSION - 1, VERSION + 1] {
        let (what, ours, theirs) = other("version", hello(version, 1, [128, 40]));
        assert_eq!((what, ours, theirs), ("the version of the protocol", VERSION.to_string(), version.to_string()));
    }
    let (what, ours, theirs) = other("party", hello(VERSION, 0, [128, 40]));
    assert!(what.contains("who is who") && ours == theirs, "{what}");
    let (what, _, theirs) = other("security", hello(VERSION, 1, [80, 40]));
    assert_eq!((what, &*theirs), ("the security parameters", "80 and 40 bits"));
    let error = says("nobody", hello(VERSION, 7, [128, 40]), nothing);
    assert!(matches!(&error, Error::Peer(why) if why.contains("party 7")), "{error}");
}

/// A peer with a valid hello that makes its terms from ours.
fn terms(what: &str, make: impl FnOnce(Vec<u8>) -> Vec<u8> + Send + 'static) -> Error {
    says(what, hello(VERSION, 1, [128, 40]), |channel| {
        let length = u32::from_le_bytes(channel.recv(4)?.try_into().expect("4 bytes"));
        let ours = channel.recv(length as usize)?;
        channel.send(&make(ours))
    })
}

fn sized(terms: &[u8]) -> Vec<u8> {
    [&(terms.len() as u32).to_le_bytes(), terms].concat()
}

#[test]
fn terms_may_be_anything() {
    for length in [(1 << 16) + 1, u32::MAX] {
        let error = terms("too long", move |_| length.to_le_bytes().to_vec());
        assert!(matches!(&error, Error::Peer(why) if why.contains(&length.to_string())), "{error}");
    }
    type Change = fn(Vec<u8>) -> Vec<u8>;
    let peer: [(&str, Change); 5] = [
        ("nothing", |_| sized(b"")),
        ("not text", |ours| sized(&[&ours[..20], b"\xff\xfe"].concat())),
        ("no values", |_| sized(b"what is called for\n")),
        ("too few", |ours| sized(&ours[..ours.len() / 2 - ours.len() / 4])),
        ("too many", |ours| sized(&[&ours[..], b"more\tterms\n"].concat())),
    ];
    for (what, make) in peer {
        let error = terms(what, make);
        assert!(matches!(error, Error::Peer(_) | Error::Incompatible { .. }), "{what}: {error}");
    }
    let error = terms("escapes", |_| sized(b"what is called for\t\x1b[2J\x07\xe2\x80\xaereversed\n"));
    let Error::Incompatible { theirs, .. } = &error else { panic!("{error}") };
    assert_eq!(theirs, "?[2J??reversed");
    let error = terms("long", |_| sized(&[&b"what is called for\t"[..], &[b'x'; 5000]].concat()));
    assert!(error.to_string().len() < 500, "{error}");
}

#[test]
fn base_ots_may_be_anything() {
    let noise = |count: u32| (0..count).map(|i| ((i * i * 7) >> 3) as u8).collect();
    for (what, party, bytes) in [
        ("an identity", Party::Alice, vec![0; 32]),
        ("not canonical", Party::Alice, vec![0xff; 32]),
        ("noise", Party::Alice, noise(32)),
        ("challenges", Party::Alice, POINT.into_iter().chain([7; 6_208]).collect()),
        ("identities", Party::Bob, vec![0; 4_096]),
        ("not canonical", Party::Bob, vec![0xff; 4_096]),
        ("noise", Party::Bob, noise(4_096)),
        ("one point, and then noise", Party::Bob, POINT.into_iter().chain(noise(4_064)).collect()),
    ] {
        let error = terms_then(what, party, bytes);
        assert!(matches!(&error, Error::Peer(why) if why.contains("base OT")), "{what}: {error}");
    }
}

/// A peer that agrees on everything and then sends this.
fn terms_then(what: &str, party: Party, bytes: Vec<u8>) -> Error {
    let tail = [&[1][..], &(bytes.len() as u32).to_le_bytes()[..3], &bytes].concat();
    let mirror = Mirror::new(agreement(), tail);
    let end = watched(what.to_owned(), move || whole(Channel::over(mirror, patient()), party, &ways()[2]));
    end().expect_err(what)
}

/// Bytes of our hello and terms on the wire.
fn agreement() -> usize {
    let log = Log::default();
    let (pipe, theirs) = memory::pair(memory::CAPACITY);
    let bob = thread::spawn(move || whole(Channel::over(theirs, patient()), Party::Bob, &ways()[2]));
    whole(Channel::over(Tap(pipe, log.clone()), patient()), Party::Alice, &ways()[2]).unwrap();
    bob.join().unwrap().unwrap();
    let bytes = log.bytes();
    let frame = |at: usize| 4 + u32::from_le_bytes([bytes[at + 1], bytes[at + 2], bytes[at + 3], 0]) as usize;
    frame(0) + frame(frame(0))
}

#[test]
fn our_own_bytes_come_back() {
    for options in ways() {
        for mirrored in [0, 3, 49, agreement(), 15_000, 40_000, 1 << 20] {
            for party in [Party::Alice, Party::Bob] {
                let end = watched(format!("{mirrored} mirrored, {options:?}"), move || {
                    whole(Channel::over(Mirror::new(mirrored, vec![]), quick()), party, &options)
                });
                let error = end().expect_err("a mirror is no peer");
                assert!(is_the_peers(&error), "{error}");
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Two honest parties and a man in the middle.

/// Bytes that each party writes in an undisturbed session.
fn undisturbed(options: &Options) -> [usize; 2] {
    let (alice, bob) = memory::pair(memory::CAPACITY);
    let logs = [Log::default(), Log::default()];
    let limits = Limits::default();
    let (alice, bob) = (Tap(alice, logs[0].clone()), Tap(bob, logs[1].clone()));
    let theirs = *options;
    let bob = thread::spawn(move || whole(Channel::over(bob, limits), Party::Bob, &theirs));
    whole(Channel::over(alice, limits), Party::Alice, options).unwrap();
    bob.join().unwrap().unwrap();
    logs.map(|log| log.bytes().len())
}

/// One session in which a byte that `from` writes comes to harm: how each party ends.
fn disturbed(options: Options, from: Party, harm: Harm, at: u64) -> [Result<()>; 2] {
    let (alice, bob) = memory::pair(memory::CAPACITY);
    let ends = [(alice, Party::Alice), (bob, Party::Bob)].map(|(pipe, party)| {
        let what = format!("{party}, with {harm:?} at byte {at} of {from}, {options:?}");
        watched(what, move || match party == from {
            true => whole(Channel::over(Mangled::new(pipe, harm, at), quick()), party, &options),
            false => whole(Channel::over(pipe, quick()), party, &options),
        })
    });
    ends.map(|end| end())
}

/// If `structural`, the party that reads the harmed bytes must notice. The other may have all it needs by then.
fn assert_named(results: &[Result<()>; 2], from: Party, structural: bool, what: &str) {
    for (result, party) in results.iter().zip([Party::Alice, Party::Bob]) {
        match result {
            Err(error) => assert!(is_the_peers(error), "{what}: {error}"),
            Ok(()) => assert!(!structural || party == from, "{what}: it went unnoticed"),
        }
    }
}

/// All of these, eight at a time: most of them wait.
fn all_disturbed(cases: &[(Options, Party, Harm, u64, bool)]) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(&(options, from, harm, at, structural)) = cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let results = disturbed(options, from, harm, at);
                    assert_named(&results, from, structural, &format!("{harm:?} at byte {at} of {from}, {options:?}"));
                }
            });
        }
    });
}

#[test]
fn a_greeting_comes_to_harm_anywhere() {
    let mut cases = Vec::new();
    for at in 0..60 {
        let from = if at % 2 == 0 { Party::Alice } else { Party::Bob };
        cases.push((ways()[2], from, Harm::Cut, at, true));
        cases.push((ways()[2], from.peer(), Harm::Flip(at as u8 / 7), at, true));
        cases.push((ways()[2], from, Harm::Garbage, at, true));
    }
    for at in (0..60).step_by(5) {
        cases.push((ways()[2], Party::Bob, Harm::Drop, at, true));
        cases.push((ways()[2], Party::Alice, Harm::Double, at, true));
        cases.push((ways()[2], Party::Bob, Harm::Stall, at, true));
    }
    all_disturbed(&cases);
}

#[test]
fn a_session_comes_to_harm_anywhere() {
    let mut dice = Dice(1);
    let mut cases = Vec::new();
    for options in ways() {
        let totals = undisturbed(&options);
        for from in [Party::Alice, Party::Bob] {
            let total = totals[from as usize];
            for harm in [Harm::Cut, Harm::Flip(0), Harm::Drop, Harm::Double, Harm::Stall, Harm::Garbage] {
                let structural = !matches!(harm, Harm::Flip(_));
                // The last frame says that this is the end: a byte after it is nobody's.
                let ends = [total - 1, total - 5, total - 40].map(|at| at as u64);
                let anywhere: Vec<u64> = (0..4).map(|_| (60 + dice.roll(total - 64)) as u64).collect();
                for at in anywhere.into_iter().chain(ends) {
                    let harm = if structural { harm } else { Harm::Flip(dice.roll(8) as u8) };
                    let noticed = structural && (harm != Harm::Double || at + 4 < total as u64);
                    cases.push((options, from, harm, at, noticed));
                }
            }
        }
    }
    all_disturbed(&cases);
}

// ---------------------------------------------------------------------------------------------------------------------
// Over sockets.

/// What Bob hears who listens, of a peer that does this to its socket.
fn over_tcp(limits: Limits, what: &str, attack: impl FnOnce(TcpStream) + Send + 'static) -> Error {
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let bob = watched(what.to_owned(), move || {
        let channel = listener.accept(&Security::PlaintextForBenchmarks, &limits)?;
        whole(channel, Party::Bob, &ways()[0])
    });
    attack(TcpStream::connect(address).unwrap());
    let error = bob().expect_err(what);
    assert!(is_the_peers(&error), "{what}: {error}");
    error
}

#[test]
fn hostile_sockets() {
    let error = over_tcp(patient(), "closes", drop);
    assert!(matches!(error, Error::Closed(_)), "{error}");
    over_tcp(patient(), "garbage", |mut socket| {
        let _ = socket.write_all(&[0xee; 100_000]);
    });
    // Reads what comes, until Bob closes.
    let error = over_tcp(quick(), "stalls", |mut socket| {
        let _ = socket.read_to_end(&mut Vec::new());
    });
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    over_tcp(patient(), "sends our bytes back", |mut socket| {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = socket.read(&mut bytes) {
            let _ = socket.write_all(&bytes[..n]);
        }
    });
    over_tcp(patient(), "half a hello", |mut socket| {
        let _ = socket.write_all(b"\x01\x2d\0\0duolo");
    });
}

#[test]
fn a_peer_that_dies_is_noticed_over_tcp_and_tls() {
    for options in ways() {
        for (alice, bob) in [parties::tcp(patient()), parties::tls(patient())] {
            let binding = job();
            let end = watched("alice".into(), move || whole(alice, Party::Alice, &options));
            let mut session = Session::connect(bob, Party::Bob).unwrap();
            let mut steps = 0;
            // He goes away in the middle: the observer takes him.
            session.observe(move |_| {
                steps += 1;
                if steps < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            assert!(session.run(&binding, &options, &ours(&binding, Party::Bob)).is_err());
            drop(session);
            let error = end().expect_err("he is gone");
            assert!(is_the_peers(&error), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_bytes_after_any_part_of_the_protocol(
        mirrored in prop_oneof![0usize..900, 900usize..50_000],
        tail in prop::collection::vec(any::<u8>(), 0..2000),
        framed: bool,
        way in 0usize..3,
    ) {
        let tail = match framed {
            true => [&[1][..], &(tail.len().max(1) as u32).to_le_bytes()[..3], &tail].concat(),
            false => tail,
        };
        let end = watched("a mirror".into(), move || {
            whole(Channel::over(Mirror::new(mirrored, tail), quick()), Party::Alice, &ways()[way])
        });
        let error = end().expect_err("a mirror is no peer");
        prop_assert!(is_the_peers(&error), "{}", error);
    }
}

#[test]
fn more_data_than_the_protocol_has_is_refused_at_the_end() {
    let (alice, bob) = Channel::pair();
    let binding = job();
    let peer = thread::spawn(move || {
        let mut session = Session::connect(bob, Party::Bob).unwrap();
        let binding = job();
        session.run(&binding, &ways()[2], &ours(&binding, Party::Bob)).unwrap();
        // One program more than Alice wants.
        let refused = session.run(&binding, &ways()[2], &ours(&binding, Party::Bob)).err().unwrap();
        assert!(is_the_peers(&refused), "{refused}");
    });
    let mut session = Session::connect(alice, Party::Alice).unwrap();
    session.run(&binding, &ways()[2], &ours(&binding, Party::Alice)).unwrap();
    let error = session.close().unwrap_err();
    assert!(is_the_peers(&error), "{error}");
    peer.join().unwrap();
}
