//! How parties find and recognise each other.

use super::*;
use std::io::{Read, Write};
use std::sync::Arc;

struct Person {
    identity: Arc<Identity>,
}

impl Person {
    fn new() -> Self {
        Person { identity: Arc::new(Identity::generate().unwrap()) }
    }

    fn expecting(&self, peer: &Person) -> Security {
        Security::Tls { identity: self.identity.clone(), peer: peer.identity.public() }
    }

    fn key(&self) -> String {
        self.identity.public().to_string()
    }
}

fn hello(a: &mut Channel, b: &mut Channel) {
    thread::scope(|scope| {
        scope.spawn(|| {
            a.send(b"hello").unwrap();
            a.finish().unwrap();
        });
        assert_eq!(b.recv(5).unwrap(), b"hello");
        b.finish().unwrap();
    });
}

#[test]
fn parties_meet_by_address_and_by_name() {
    let (alice, bob) = (Person::new(), Person::new());
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        for plain in [false, true] {
            let mut listener = Listener::bind(&format!("{host}:0")).unwrap();
            let address = format!("{host}:{}", listener.local_addr().unwrap().port());
            let security = |us: &Person, them: &Person| match plain {
                true => Security::PlaintextForBenchmarks,
                false => us.expecting(them),
            };
            let (to_bob, to_alice) = (security(&alice, &bob), security(&bob, &alice));
            thread::scope(|scope| {
                let client = scope.spawn(move || Channel::connect(&address, &to_bob, &limits()));
                let mut b = listener.accept(&to_alice, &limits()).unwrap();
                hello(&mut client.join().unwrap().unwrap(), &mut b);
            });
        }
    }
}

#[test]
fn a_party_may_connect_before_the_other_listens() {
    let (alice, bob) = (Person::new(), Person::new());
    let address = Listener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let client = scope.spawn(|| Channel::connect(&address, &alice.expecting(&bob), &limits()));
        thread::sleep(Duration::from_millis(150));
        let mut listener = Listener::bind(&address).unwrap();
        let mut b = listener.accept(&bob.expecting(&alice), &limits()).unwrap();
        hello(&mut client.join().unwrap().unwrap(), &mut b);
    });
}

#[test]
fn nobody_is_waited_for_without_end() {
    let limits = Limits { meet: Duration::from_millis(200), ..limits() };
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let error = listener.accept(&Security::PlaintextForBenchmarks, &limits).unwrap_err();
    assert!(matches!(error, Error::Timeout { what: "connection", .. }), "{error}");
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = Channel::connect(&address, &Security::PlaintextForBenchmarks, &limits).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    let error = Channel::connect("nowhere", &Security::PlaintextForBenchmarks, &limits).unwrap_err();
    assert!(matches!(error, Error::Usage(_)), "{error}");
}

/// Cancels while `wait` goes on, which would take far longer than the test allows for it.
fn cancelled(wait: impl FnOnce(&Canceller) -> Result<Channel> + Send) {
    let canceller = Canceller::new();
    let begun = Instant::now();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| wait(&canceller));
        thread::sleep(Duration::from_millis(50));
        canceller.cancel();
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Cancelled), "{error}");
    });
    assert!(begun.elapsed() < limits().meet / 2, "{:?}", begun.elapsed());
}

#[test]
fn the_wait_for_the_peer_can_be_cancelled() {
    let (alice, bob) = (Person::new(), Person::new());
    let free = Listener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for security in [Security::PlaintextForBenchmarks, alice.expecting(&bob)] {
        let mut listener = Listener::bind("127.0.0.1:0").unwrap();
        cancelled(|canceller| listener.accept_with(&security, &limits(), canceller));
        // Nobody listens; then somebody takes the connection and says nothing.
        cancelled(|canceller| Channel::connect_with(&free, &security, &limits(), canceller));
    }
    let silent = Listener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    cancelled(|canceller| Channel::connect_with(&address, &alice.expecting(&bob), &limits(), canceller));
}

#[test]
fn a_listener_that_was_cancelled_accepts_again() {
    let (alice, bob) = (Person::new(), Person::new());
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    cancelled(|canceller| listener.accept_with(&alice.expecting(&bob), &limits(), canceller));
    thread::scope(|scope| {
        let client = scope.spawn(|| Channel::connect(&address, &bob.expecting(&alice), &limits()));
        let mut a = listener.accept(&alice.expecting(&bob), &limits()).unwrap();
        hello(&mut client.join().unwrap().unwrap(), &mut a);
    });
}

#[test]
fn a_channel_keeps_the_canceller_and_knows_the_keys_that_it_was_opened_with() {
    let (alice, bob) = (Person::new(), Person::new());
    for plain in [false, true] {
        let security = |us: &Person, them: &Person| match plain {
            true => Security::PlaintextForBenchmarks,
            false => us.expecting(them),
        };
        let (to_bob, to_alice) = (security(&alice, &bob), security(&bob, &alice));
        let mut listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (ours, theirs) = (Canceller::new(), Canceller::new());
        let (mut a, mut b) = thread::scope(|scope| {
            let client = scope.spawn(|| Channel::connect_with(&address, &to_bob, &limits(), &ours));
            let b = listener.accept_with(&to_alice, &limits(), &theirs).unwrap();
            (client.join().unwrap().unwrap(), b)
        });
        let key = |person: &Person| (!plain).then(|| person.identity.public());
        assert_eq!((a.peer_key(), b.peer_key()), (key(&bob), key(&alice)));
        for (channel, canceller) in [(&mut a, ours), (&mut b, theirs)] {
            canceller.cancel();
            assert!(matches!(channel.recv(1), Err(Error::Cancelled)));
        }
    }
}

#[test]
fn strangers_do_not_keep_the_peer_out() {
    let (alice, bob, mallory) = (Person::new(), Person::new(), Person::new());
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let client = scope.spawn(|| {
            // One says nothing, one speaks HTTP, one plaintext, one shows a wrong key.
            let _silent = TcpStream::connect(&address).unwrap();
            let mut browser = TcpStream::connect(&address).unwrap();
            browser.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let mut plain = Channel::connect(&address, &Security::PlaintextForBenchmarks, &limits()).unwrap();
            plain.send(b"hello").unwrap();
            let error = plain.recv(1).unwrap_err();
            assert!(error.to_string().contains("ours is plaintext, theirs is TLS"), "{error}");
            let error = Channel::connect(&address, &mallory.expecting(&bob), &limits()).unwrap_err();
            assert!(matches!(error, Error::Incompatible { what: "our key", .. }), "{error}");
            assert!(error.to_string().contains(&mallory.key()), "{error}");
            let client = Channel::connect(&address, &alice.expecting(&bob), &limits());
            let mut answer = Vec::new();
            // The browser was hung up on, with an alert or without.
            let _ = browser.read_to_end(&mut answer);
            client
        });
        let mut b = listener.accept(&bob.expecting(&alice), &limits()).unwrap();
        hello(&mut client.join().unwrap().unwrap(), &mut b);
    });
}

#[test]
fn a_wrong_pin_names_both_keys() {
    let (alice, bob, carol) = (Person::new(), Person::new(), Person::new());
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let client = scope.spawn(|| {
            let error = Channel::connect(&address, &alice.expecting(&carol), &limits()).unwrap_err();
            assert!(matches!(error, Error::Incompatible { what: "the peer's key", .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&carol.key()) && text.contains(&bob.key()), "{text}");
            Channel::connect(&address, &alice.expecting(&bob), &limits())
        });
        // The listener goes on.
        let mut b = listener.accept(&bob.expecting(&alice), &limits()).unwrap();
        hello(&mut client.join().unwrap().unwrap(), &mut b);
    });
}

/// Copies both ways until both have ended.
fn relay(near: TcpStream, far: TcpStream) {
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        })
    };
    copy(near.try_clone().unwrap(), far.try_clone().unwrap());
    copy(far, near);
}

#[test]
fn newer_strangers_do_not_keep_the_peer_out() {
    let (alice, bob) = (Person::new(), Person::new());
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // The peer is slow: many strangers come between its connection and its first byte.
    let near = TcpListener::bind("127.0.0.1:0").unwrap();
    let slow = near.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let mut strangers = Vec::new();
        for connection in near.incoming() {
            let far = TcpStream::connect(address).unwrap();
            if strangers.is_empty() {
                strangers.extend((0..200).map(|_| TcpStream::connect(address).unwrap()));
            }
            relay(connection.unwrap(), far);
        }
    });
    thread::scope(|scope| {
        let client = scope.spawn(|| Channel::connect(&slow, &alice.expecting(&bob), &limits()));
        let mut b = listener.accept(&bob.expecting(&alice), &limits()).unwrap();
        hello(&mut client.join().unwrap().unwrap(), &mut b);
    });
}

#[test]
fn a_listener_that_hangs_up_is_tried_again() {
    let (alice, bob) = (Person::new(), Person::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::scope(|scope| {
        let client = scope.spawn(|| Channel::connect(&address, &alice.expecting(&bob), &limits()));
        // In good order, and with a byte unread, which resets the connection.
        listener.accept().unwrap().0.shutdown(std::net::Shutdown::Write).unwrap();
        listener.accept().unwrap().0.read_exact(&mut [0]).unwrap();
        let pipe = TcpPipe::new(listener.accept().unwrap().0, None).unwrap();
        let mut server = tls::TlsPipe::server(pipe, &bob.identity, &[alice.identity.public()]).unwrap();
        server.meet(Instant::now() + limits().meet, &Canceller::new()).unwrap();
        hello(&mut client.join().unwrap().unwrap(), &mut Channel::over(server, limits()));
    });
    // But not without end.
    let impatient = Limits { meet: Duration::from_millis(300), ..limits() };
    thread::spawn(move || listener.incoming().for_each(drop));
    let error = Channel::connect(&address, &alice.expecting(&bob), &impatient).unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
}

/// A peer may send records without plaintext for ever: one read ends nevertheless, and the next goes on.
#[test]
fn one_read_takes_few_steps() {
    struct Drops(TcpPipe, Arc<std::sync::atomic::AtomicUsize>);
    impl Pipe for Drops {
        fn try_read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.try_read(&mut into[..1])?;
            self.1.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
            Ok(n)
        }
        fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.try_write(bytes)
        }
        fn wait(&mut self, for_write: bool, timeout: Duration) -> std::io::Result<()> {
            self.0.wait(for_write, timeout)
        }
        fn close_write(&mut self) {
            self.0.close_write();
        }
    }
    let (a, b) = sockets("127.0.0.1:0", None);
    let reads = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (mut a, mut b) = encrypted(a, Drops(b, reads.clone()));
    write_raw(&mut *a, &pattern(5000));
    let (mut came, mut out) = (Vec::new(), [0; 5000]);
    while came.len() < out.len() {
        let before = reads.load(std::sync::atomic::Ordering::Relaxed);
        match b.try_read(&mut out) {
            Ok(n) => came.extend_from_slice(&out[..n]),
            Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
        }
        assert!(reads.load(std::sync::atomic::Ordering::Relaxed) - before <= tls::STEPS);
        b.wait(false, Duration::from_secs(100)).unwrap();
    }
    assert!(came == pattern(5000));
}

#[test]
fn a_listener_serves_one_session_after_another() {
    let (alice, bob) = (Person::new(), Person::new());
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for _ in 0..3 {
        thread::scope(|scope| {
            let client = scope.spawn(|| Channel::connect(&address, &alice.expecting(&bob), &limits()));
            let mut b = listener.accept(&bob.expecting(&alice), &limits()).unwrap();
            hello(&mut client.join().unwrap().unwrap(), &mut b);
        });
    }
}

/// Several peers come to one listener at the same time, and are told apart by their keys; a stranger among them is turned away.
#[test]
fn a_listener_tells_several_peers_apart() {
    let (alice, bob, carol, mallory) = (Person::new(), Person::new(), Person::new(), Person::new());
    let mut listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let canceller = Canceller::new();
    let keys = [&bob, &carol].map(|person| person.identity.public());
    let mut met = Vec::new();
    thread::scope(|scope| {
        let go = |person: &Person| Channel::connect(&address, &person.expecting(&alice), &limits());
        let (bob, carol, mallory) = (&bob, &carol, &mallory);
        let come = scope.spawn(move || {
            let stranger = go(mallory).map(drop);
            assert!(matches!(stranger, Err(Error::Incompatible { .. })), "{stranger:?}");
            thread::scope(|scope| {
                let clients = [bob, carol, carol].map(|person| scope.spawn(move || go(person)));
                // The canceller of the listener is not that of its channels.
                clients.map(|client| client.join().unwrap().unwrap().recv(1).unwrap())
            })
        });
        let ended = listener.accept_each(&alice.identity, &keys, &limits(), &canceller, |mut channel| {
            channel.send(b"x").and_then(|()| channel.flush()).unwrap();
            met.push((channel.peer_key().unwrap(), channel));
            if met.len() == 3 {
                canceller.cancel();
            }
        });
        assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
        assert!(come.join().unwrap().iter().all(|byte| byte == b"x"));
    });
    let count = |key| met.iter().filter(|(shown, _)| *shown == key).count();
    assert_eq!((count(keys[0]), count(keys[1])), (1, 2));
}

#[test]
fn a_flipped_bit_on_the_way_is_the_end() {
    // A pipe that corrupts one byte of what it reads after the handshake.
    struct Corrupt(TcpPipe, Arc<std::sync::atomic::AtomicBool>);
    impl Pipe for Corrupt {
        fn try_read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.try_read(into)?;
            if self.1.load(std::sync::atomic::Ordering::Relaxed) && n > 0 {
                into[n - 1] ^= 1;
            }
            Ok(n)
        }
        fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.try_write(bytes)
        }
        fn wait(&mut self, for_write: bool, timeout: Duration) -> std::io::Result<()> {
            self.0.wait(for_write, timeout)
        }
        fn close_write(&mut self) {
            self.0.close_write();
        }
    }
    let (a, b) = sockets("127.0.0.1:0", None);
    let switch = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (a, b) = encrypted(a, Corrupt(b, switch.clone()));
    let (mut a, mut b) = (Channel::over(a, limits()), Channel::over(b, limits()));
    switch.store(true, std::sync::atomic::Ordering::Relaxed);
    a.send(b"hello").unwrap();
    a.flush().unwrap();
    let error = b.recv(5).unwrap_err();
    assert!(matches!(error, Error::Peer(_)), "{error}");
}

#[test]
fn a_key_survives_text_and_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("alice.pem");
    let identity = Identity::generate().unwrap();
    identity.save(&path).unwrap();
    assert!(Identity::load(&path).unwrap().public() == identity.public());
    let text = identity.public().to_string();
    assert!(text.starts_with("duo1") && text.len() == 60, "{text}");
    assert_eq!(text.parse::<PublicKey>().unwrap(), identity.public());
    assert_eq!(format!(" {} \n", text.to_uppercase()).parse::<PublicKey>().unwrap(), identity.public());
    // Never overwritten, nothing left behind.
    assert!(matches!(Identity::generate().unwrap().save(&path), Err(Error::Usage(_))));
    assert!(Identity::load(&path).unwrap().public() == identity.public());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.pem");
    Identity::generate().unwrap().save(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let error = Identity::load(&path).err().unwrap();
    assert!(error.to_string().contains("chmod 600"), "{error}");
}

/// The example of RFC 8410, section 10.3, and its public key, section 10.1.
#[test]
fn a_published_key_is_read() {
    let pem = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
        -----END PRIVATE KEY-----\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rfc.pem");
    std::fs::write(&path, pem).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let key = Identity::load(&path).unwrap().public();
    let expected = data_encoding::BASE64.decode(b"Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=").unwrap();
    assert_eq!(key.as_bytes()[..], expected);
    // What we write is what the RFC shows.
    let copy = directory.path().join("copy.pem");
    Identity::load(&path).unwrap().save(&copy).unwrap();
    assert_eq!(std::fs::read_to_string(copy).unwrap(), pem);
}

#[test]
fn garbage_is_no_private_key() {
    let directory = tempfile::tempdir().unwrap();
    for (i, text) in ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"].iter().enumerate()
    {
        let path = directory.path().join(i.to_string());
        std::fs::write(&path, text).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        assert!(matches!(Identity::load(&path).err(), Some(Error::Malformed { .. })));
    }
    assert!(matches!(Identity::load(directory.path().join("none")).err(), Some(Error::Io { .. })));
}

#[test]
fn every_typo_in_a_public_key_is_noticed() {
    let text = Identity::generate().unwrap().public().to_string();
    for at in 0..text.len() {
        for c in ['a', 'q', '7', '1', '*', 'é'] {
            let mut typo: Vec<char> = text.chars().collect();
            if std::mem::replace(&mut typo[at], c) != c {
                let typo: String = typo.into_iter().collect();
                assert!(matches!(typo.parse::<PublicKey>(), Err(Error::Malformed { .. })), "{typo}");
            }
        }
        let mut short = text.clone();
        short.remove(at);
        assert!(short.parse::<PublicKey>().is_err());
    }
}

#[test]
fn keys_for_which_anybody_can_sign_are_refused() {
    let mut one = [0; 32];
    one[0] = 1; // the neutral element
    for bytes in [[0; 32], one] {
        assert!(matches!(PublicKey::from_bytes(bytes), Err(Error::Malformed { .. })));
    }
}

#[test]
fn an_end_may_be_said_twice() {
    let (mut a, mut b) = tls_pipes();
    let end = |pipe: &mut dyn Pipe| {
        let mut byte = [0];
        while pipe.try_read(&mut byte).is_err() {
            pipe.wait(false, Duration::from_secs(1)).unwrap();
        }
        assert_eq!(pipe.try_read(&mut byte).unwrap(), 0);
    };
    a.close_write();
    end(&mut *b);
    b.close_write();
    b.close_write();
    end(&mut *a);
    a.close_write();
    for pipe in [a, b].iter_mut() {
        assert_eq!(pipe.try_write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
