//! What the peer hears of a failure: its kind, and nothing of our files.

use super::*;
use std::io;

/// What no peer shall hear.
const PATH: &str = "/home/alice/pool/header";

/// Every error that there is, with a path wherever it has text of its own.
fn errors() -> Vec<Error> {
    let (ours, theirs) = (PATH.to_owned(), PATH.to_owned());
    let errors = vec![
        Error::Peer(PATH.into()),
        Error::Incompatible { what: "a test", ours, theirs, place: None },
        Error::Malformed { what: format!("file {PATH}"), why: PATH.into() },
        Error::Usage(PATH.into()),
        Error::Cancelled,
        Error::Aborted(PATH.into()),
        Error::Closed("in a test".into()),
        Error::Timeout { what: "byte", seconds: 1 },
        Error::Io { what: format!("reading {PATH}"), source: io::Error::other(PATH) },
        Error::Dead(PATH.into()),
    ];
    let order = |error: &Error| match error {
        Error::Peer(_) => 0,
        Error::Incompatible { .. } => 1,
        Error::Malformed { .. } => 2,
        Error::Usage(_) => 3,
        Error::Cancelled => 4,
        Error::Aborted(_) => 5,
        Error::Closed(_) => 6,
        Error::Timeout { .. } => 7,
        Error::Io { .. } => 8,
        Error::Dead(_) => 9,
    };
    assert!(errors.iter().map(order).eq(0..10), "each of them once");
    errors
}

fn mentions_path(bytes: &[u8]) -> bool {
    bytes.windows(PATH.len()).any(|window| window == PATH.as_bytes())
}

#[test]
fn a_session_that_fails_tells_no_paths() {
    for index in 0..errors().len() {
        let (logs, _) = unwrap(seeded(1, |session| {
            if session.party == Party::Alice {
                let error = errors().swap_remove(index);
                session.guarded(|_| Err::<(), _>(error)).expect_err("it was given");
                return Ok(());
            }
            let heard = session.wire.channel.recv(1).expect_err("she sends nothing");
            assert!(matches!(heard, Error::Aborted(_)), "{heard}");
            assert!(!mentions_path(heard.to_string().as_bytes()), "{heard}");
            Ok(())
        }));
        assert!(!mentions_path(&logs[0].bytes()), "{}", errors()[index]);
    }
}

/// What a party that greets a peer writes, whose first frame has these bytes.
fn greeted_with(bytes: &[u8]) -> (Vec<u8>, Error) {
    let (log, (ours, mut theirs)) = (Log::default(), memory::pair(memory::CAPACITY));
    let frame = [&[1, bytes.len() as u8, 0, 0], bytes].concat();
    assert_eq!(theirs.try_write(&frame).unwrap(), frame.len());
    let channel = Channel::over(Tap(ours, log.clone()), Limits::default());
    let met = Session::with(channel, Party::Alice, Generator::from_seed(Block::new(1)));
    (log.bytes(), met.expect_err("nobody greets so"))
}

#[test]
fn a_greeting_that_fails_is_answered_in_fixed_words() {
    for greeting in [b"GET / HT\x01\x00", b"duologue\xff\x00"] {
        let (written, error) = greeted_with(greeting);
        assert!(matches!(error, Error::Peer(_) | Error::Incompatible { .. }), "{error}");
        let says = |words: &str| written.windows(words.len()).any(|window| window == words.as_bytes());
        assert!(says(error.last_words()) && !says(&error.to_string()), "{error}");
    }
}
