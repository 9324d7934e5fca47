//! How two parties find each other: one listens, the other connects.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};

use super::tcp::{self, TcpPipe};
use super::tls::TlsPipe;
use super::{CANCELLATION, Canceller, Channel, Identity, Limits, PublicKey, mismatch};
use crate::clock::Instant;
use crate::error::{Error, Result};

/// How a connection is protected.
///
/// ```
/// use duologue::channel::{Identity, PublicKey, Security};
///
/// # let place = tempfile::tempdir().unwrap();
/// # let file = place.path().join("alice.key");
/// # let peers_text = Identity::generate().unwrap().public().to_string();
/// Identity::generate()?.save(&file)?; // once; its public() key goes to the peer, who sends its own
/// let identity = Identity::load(&file)?;
/// let peer: PublicKey = peers_text.parse()?;
/// let security = Security::Tls { identity: identity.into(), peer };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub enum Security {
    /// TLS 1.3 between two pinned keys.
    Tls {
        /// Our key.
        identity: Arc<Identity>,
        /// The key that the peer must hold.
        peer: PublicKey,
    },
    /// No encryption and no authentication: whoever is on the way reads and changes everything,
    /// and the protocols then promise nothing. For measurements on one machine.
    PlaintextForBenchmarks,
}

/// A socket that waits for the peer.
///
/// ```
/// use duologue::channel::{Channel, Identity, Limits, Listener, Security};
/// use duologue::{Party, Session};
///
/// # let [hers, his] = [(); 2].map(|()| std::sync::Arc::new(Identity::generate().unwrap()));
/// # let (alices, bobs) = (hers.public(), his.public());
/// # let [of_alice, of_bob] = [(hers, bobs), (his, alices)].map(|(identity, peer)| Security::Tls { identity, peer });
/// // Alice waits; `of_alice` has her identity and Bob's key.
/// let mut listener = Listener::bind("127.0.0.1:0")?;
/// let address = listener.local_addr()?.to_string();
///
/// // Bob, on another machine as a rule, goes to her address.
/// let bob = std::thread::spawn(move || {
///     let channel = Channel::connect(&address, &of_bob, &Limits::default())?;
///     Session::connect(channel, Party::Bob)?.close()
/// });
///
/// let channel = listener.accept(&of_alice, &Limits::default())?;
/// Session::connect(channel, Party::Alice)?.close()?;
/// # bob.join().unwrap()?;
/// # Ok::<(), duologue::Error>(())
/// ```
pub struct Listener {
    socket: mio::net::TcpListener,
    turned_away: Vec<Stranger>,
}

/// Somebody who connected and did not prove to be the peer.
#[derive(Debug)]
pub struct Stranger {
    /// Where it connected from.
    pub from: SocketAddr,
    /// The reason, such as the key that it showed.
    pub why: String,
}

impl Listener {
    /// Listens on an address such as `0.0.0.0:7000`, `[::]:7000` or `localhost:0`.
    pub fn bind(address: &str) -> Result<Self> {
        Ok(Listener { socket: tcp::listen(address)?, turned_away: Vec::new() })
    }

    /// The address with its real port.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.socket.local_addr().map_err(Error::io("the listening socket"))
    }

    /// Waits for the peer. A stranger is turned away, with a warning in the log, and the listener
    /// goes on until [`Limits::meet`] is over. Without TLS whoever comes first is the peer.
    ///
    /// # Errors
    /// [`Error::Timeout`] if nobody was met in time.
    pub fn accept(&mut self, security: &Security, limits: &Limits) -> Result<Channel> {
        self.accept_with(security, limits, &Canceller::new())
    }

    /// Like [`accept`](Self::accept), with a canceller that ends the wait, and after it whatever the channel does.
    ///
    /// # Errors
    /// As [`accept`](Self::accept), and [`Error::Cancelled`]: the listener can be used again.
    pub fn accept_with(&mut self, security: &Security, limits: &Limits, canceller: &Canceller) -> Result<Channel> {
        let begun = Acceptance::begin(self, limits, canceller.clone());
        let mut acceptance = begun.map_err(Error::io("waiting for the peer"))?;
        let met = acceptance.run(&self.socket, security);
        let closed = acceptance.poll.registry().deregister(&mut self.socket);
        self.turned_away = acceptance.turned_away;
        closed.map_err(Error::io("waiting for the peer")).and(met)
    }

    /// Meets whoever comes and proves to hold one of these keys, one after another, until the canceller ends it or
    /// [`Limits::meet`] is over; [`Channel::peer_key`] tells which key it was. The canceller is not that of the channels.
    ///
    /// # Errors
    /// [`Error::Cancelled`] or [`Error::Timeout`], and what the operating system refuses.
    pub fn accept_each(
        &mut self,
        identity: &Identity,
        peers: &[PublicKey],
        limits: &Limits,
        canceller: &Canceller,
        mut met: impl FnMut(Channel),
    ) -> Result<()> {
        let begun = Acceptance::begin(self, limits, canceller.clone());
        let mut acceptance = begun.map_err(Error::io("waiting for the peer"))?;
        let ended = loop {
            match acceptance.next(&self.socket, identity, peers) {
                Ok(channel) => met(channel),
                Err(ended) => break ended,
            }
        };
        let closed = acceptance.poll.registry().deregister(&mut self.socket);
        self.turned_away = acceptance.turned_away;
        closed.map_err(Error::io("waiting for the peer")).and(Err(ended))
    }

    /// Who was turned away while we waited last, the last of them: perhaps the peer with a key that is not the pinned one.
    pub fn turned_away(&self) -> &[Stranger] {
        &self.turned_away
    }
}

/// How many strangers are remembered.
const MOST_STRANGERS: usize = 16;

/// Connects to a listener. One that hangs up before we have met, as it does when strangers crowd it, is tried again.
pub(super) fn connect(address: &str, security: &Security, limits: &Limits, canceller: &Canceller) -> Result<Channel> {
    let until = Instant::now() + limits.meet;
    let mut pause = tcp::FIRST_PAUSE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match connect_once(address, security, limits, left, canceller) {
            Err(Error::Closed(why)) if Instant::now() + pause < until => {
                tracing::info!("{address} hung up {why}; trying again");
                canceller.sleep(pause)?;
                pause = (pause * 2).min(tcp::LONGEST_PAUSE);
            }
            met => return met,
        }
    }
}

fn connect_once(
    address: &str,
    security: &Security,
    limits: &Limits,
    left: Duration,
    canceller: &Canceller,
) -> Result<Channel> {
    let until = Instant::now() + left;
    let tcp = TcpPipe::from_mio(tcp::dial(address, left, canceller)?);
    let channel = match security {
        Security::PlaintextForBenchmarks => Channel::over(tcp, *limits),
        Security::Tls { identity, peer } => {
            let mut tls = TlsPipe::client(tcp, identity, *peer)?;
            tls.meet(until, canceller)?;
            Channel::over(tls, *limits).authenticated(identity.public(), *peer)
        }
    };
    Ok(channel.cancelled_by(canceller))
}

/// One wait for the peer: its deadline, and the handshakes under way.
struct Acceptance {
    poll: Poll,
    events: Events,
    until: Instant,
    limits: Limits,
    canceller: Canceller,
    handshakes: Vec<Handshake>,
    arrivals: usize,
    /// Somebody came who does not speak TLS: if nobody else does, it was the peer.
    met_plaintext: bool,
    turned_away: Vec<Stranger>,
}

/// The handshake of somebody who has connected and has not proved who it is.
struct Handshake {
    tls: TlsPipe<TcpPipe>,
    from: SocketAddr,
    until: Instant,
}

/// The most handshakes at the same time.
const MOST_HANDSHAKES: usize = 64;

/// The most newcomers before the handshakes under way go on.
const MOST_ARRIVALS: usize = 16;

/// The longest time for a handshake: it is a few messages.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(10);

impl Acceptance {
    fn begin(listener: &mut Listener, limits: &Limits, canceller: Canceller) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener.socket, Token(0), Interest::READABLE)?;
        Ok(Acceptance {
            poll,
            events: Events::with_capacity(64),
            until: Instant::now() + limits.meet,
            limits: *limits,
            canceller,
            handshakes: Vec::new(),
            arrivals: 0,
            met_plaintext: false,
            turned_away: Vec::new(),
        })
    }

    fn run(&mut self, socket: &mio::net::TcpListener, security: &Security) -> Result<Channel> {
        let Security::Tls { identity, peer } = security else {
            return self.accept_anybody(socket);
        };
        Ok(self.next(socket, identity, &[*peer])?.cancelled_by(&self.canceller))
    }

    /// The next who holds one of these keys.
    fn next(&mut self, socket: &mio::net::TcpListener, identity: &Identity, peers: &[PublicKey]) -> Result<Channel> {
        loop {
            let all = self.accept_some(socket, identity, peers)?;
            if let Some((mut tls, key)) = self.advance().and_then(|tls| tls.peer_key().map(|key| (tls, key))) {
                let registry = self.poll.registry();
                registry.deregister(tls.inner.stream()).map_err(Error::io("the connection"))?;
                return Ok(Channel::over(tls, self.limits).authenticated(identity.public(), key));
            }
            self.wait(all)?;
        }
    }

    fn accept_anybody(&mut self, socket: &mio::net::TcpListener) -> Result<Channel> {
        loop {
            if let Some((tcp, _)) = arrival(socket)? {
                return Ok(Channel::over(tcp, self.limits).cancelled_by(&self.canceller));
            }
            self.wait(true)?;
        }
    }

    /// Begins handshakes, but not with so many that those under way would wait for long; true if nobody else waits.
    fn accept_some(
        &mut self,
        socket: &mio::net::TcpListener,
        identity: &Identity,
        peers: &[PublicKey],
    ) -> Result<bool> {
        for _ in 0..MOST_ARRIVALS {
            let Some((tcp, from)) = arrival(socket)? else {
                return Ok(true);
            };
            self.add(TlsPipe::server(tcp, identity, peers)?, from)?;
        }
        Ok(false)
    }

    fn add(&mut self, mut tls: TlsPipe<TcpPipe>, from: SocketAddr) -> Result<()> {
        self.arrivals += 1;
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(tls.inner.stream(), Token(self.arrivals), both)
            .map_err(Error::io("waiting for the peer"))?;
        if self.handshakes.len() == MOST_HANDSHAKES {
            let networks: Vec<IpAddr> = self.handshakes.iter().map(|handshake| network(handshake.from)).collect();
            let random = getrandom::u32().map_err(io::Error::other).map_err(Error::io("asking for random bytes"))?;
            self.reject(gives_way(&networks, network(from), random as usize), "too many unfinished handshakes");
        }
        let until = (Instant::now() + self.limits.silence.min(LONGEST_HANDSHAKE)).min(self.until);
        self.handshakes.push(Handshake { tls, from, until });
        Ok(())
    }

    /// Goes on with every handshake; the first that succeeds is the peer's.
    fn advance(&mut self) -> Option<TlsPipe<TcpPipe>> {
        let mut i = 0;
        while i < self.handshakes.len() {
            let handshake = &mut self.handshakes[i];
            let late = Instant::now() >= handshake.until;
            match handshake.tls.advance() {
                Ok(true) => return Some(self.handshakes.swap_remove(i).tls),
                Ok(false) if !late => i += 1,
                Ok(false) => self.reject(i, "it did not finish the TLS handshake in time"),
                Err(e) => {
                    self.met_plaintext |= matches!(e, Error::Incompatible { what: mismatch::ENCRYPTION, .. });
                    self.reject(i, &e.to_string());
                }
            }
        }
        None
    }

    fn reject(&mut self, i: usize, why: &str) {
        let from = self.handshakes.remove(i).from;
        tracing::warn!(%from, "turned a stranger away and still listening: {why}");
        if self.turned_away.len() == MOST_STRANGERS {
            self.turned_away.remove(0);
        }
        self.turned_away.push(Stranger { from, why: why.into() });
    }

    /// Waits for something to happen, unless there are newcomers whom nobody has accepted.
    fn wait(&mut self, all_accepted: bool) -> Result<()> {
        self.canceller.check()?;
        let now = Instant::now();
        if now >= self.until && self.met_plaintext {
            return Err(mismatch::encryption(true));
        }
        if now >= self.until {
            let seconds = self.limits.meet.as_secs();
            return Err(Error::Timeout { what: "connection", seconds });
        }
        let next = self.handshakes.iter().map(|handshake| handshake.until).min().unwrap_or(self.until);
        let next = if all_accepted { next.min(self.until) } else { now };
        let timeout = next.saturating_duration_since(now).min(CANCELLATION);
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(e) if e.kind() != ErrorKind::Interrupted => Err(Error::io("waiting for the peer")(e)),
            _ => Ok(()),
        }
    }
}

/// Which handshake gives way to a newcomer: one of the network that has the most, so that a crowd from elsewhere cannot
/// shut the peer out; and of these any, so that no number of newer ones is sure to push it out.
fn gives_way(networks: &[IpAddr], newcomer: IpAddr, random: usize) -> usize {
    let share =
        |network: IpAddr| networks.iter().filter(|one| **one == network).count() + usize::from(network == newcomer);
    let most = networks.iter().map(|one| share(*one)).max().unwrap_or(0);
    let crowd: Vec<usize> = (0..networks.len()).filter(|i| share(networks[*i]) == most).collect();
    crowd[random % crowd.len()]
}

/// The addresses that one stranger has at least: with IPv6, 2^64 of them.
fn network(from: SocketAddr) -> IpAddr {
    match from.ip().to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// The next connection, if there is one.
fn arrival(socket: &mio::net::TcpListener) -> Result<Option<(TcpPipe, SocketAddr)>> {
    loop {
        match socket.accept() {
            Ok((stream, from)) => return Ok(Some((TcpPipe::from_mio(stream), from))),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(e) if tcp::of_one_connection(&e) => {}
            // Whoever listens for many goes on when others are gone.
            Err(e) if tcp::is_short(&e) => {
                tracing::debug!("nobody can be let in for now: {e}");
                return Ok(None);
            }
            Err(e) => return Err(Error::io("accepting a connection")(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        network(SocketAddr::new(text.parse().unwrap(), 1))
    }

    #[test]
    fn an_address_is_not_shut_out_by_a_crowd_from_elsewhere() {
        let (peer, strangers) = (address("192.0.2.1"), address("198.51.100.7"));
        let mut networks = vec![strangers; MOST_HANDSHAKES];
        networks[40] = peer;
        for random in 0..1000 {
            assert_ne!(gives_way(&networks, strangers, random), 40);
            assert_ne!(gives_way(&networks, address("203.0.113.9"), random), 40);
        }
        // An equal share is protected as well, until the newcomer takes more.
        let halves: Vec<IpAddr> = (0..MOST_HANDSHAKES).map(|i| [peer, strangers][i % 2]).collect();
        assert!((0..1000).all(|random| gives_way(&halves, strangers, random) % 2 == 1));
    }

    #[test]
    fn each_of_a_crowd_may_give_way() {
        let alike = [address("192.0.2.1"); MOST_HANDSHAKES];
        let mut chosen: Vec<usize> = (0..MOST_HANDSHAKES).map(|random| gives_way(&alike, alike[0], random)).collect();
        chosen.sort();
        assert!(chosen.into_iter().eq(0..MOST_HANDSHAKES));
    }

    #[test]
    fn handshakes_go_on_however_many_come() {
        let mut listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let _crowd: Vec<_> = (0..40).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
        let identity = Identity::generate().unwrap();
        let mut acceptance = Acceptance::begin(&mut listener, &Limits::default(), Canceller::new()).unwrap();
        for (all, handshakes) in [(false, 16), (false, 32), (true, 40)] {
            let accepted = acceptance.accept_some(&listener.socket, &identity, &[identity.public()]);
            assert_eq!((accepted.unwrap(), acceptance.handshakes.len()), (all, handshakes));
        }
    }

    /// Nobody else came: whoever spoke plaintext was the peer, and this is why it was turned away.
    #[test]
    fn plaintext_is_named_when_the_time_is_over() {
        use std::io::Write;
        let mut listener = Listener::bind("127.0.0.1:0").unwrap();
        let mut stranger = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stranger.write_all(b"\x01\x2d\0\0duologue and more").unwrap();
        let identity = Identity::generate().unwrap();
        let mut acceptance = Acceptance::begin(&mut listener, &Limits::default(), Canceller::new()).unwrap();
        while !acceptance.met_plaintext {
            acceptance.accept_some(&listener.socket, &identity, &[identity.public()]).unwrap();
            assert!(acceptance.advance().is_none());
            std::thread::yield_now();
        }
        acceptance.until = Instant::now();
        let error = acceptance.wait(true).unwrap_err();
        assert!(
            matches!(&error, Error::Incompatible { what: mismatch::ENCRYPTION, theirs, .. } if theirs == "plaintext"),
            "{error}"
        );
    }

    #[test]
    fn a_network_of_ipv6_counts_once() {
        assert_eq!(address("2001:db8::1"), address("2001:db8:0:0:ffff::2"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_ne!(address("192.0.2.1"), address("192.0.2.2"));
    }
}
