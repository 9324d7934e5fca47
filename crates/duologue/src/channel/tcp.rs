//! TCP without blocking calls, over IPv4 and IPv6.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};

use super::pipe::Pipe;
use super::{CANCELLATION, Canceller};
use crate::clock::Instant;
use crate::error::{Error, Result};

/// The longest wait for one of several addresses before the next is tried.
const ONE_ADDRESS: Duration = Duration::from_secs(5);
/// The pause after the first attempt; each is twice as long as the one before, up to the longest.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// A connected socket.
pub struct TcpPipe {
    stream: mio::net::TcpStream,
    /// Made at the first wait: a listener watches many sockets with one of its own before.
    poll: Option<(Poll, Events)>,
}

impl TcpPipe {
    /// Takes over a connected socket. `buffers` sets both socket buffers to a size; without it the
    /// operating system adapts them.
    pub fn new(stream: TcpStream, buffers: Option<usize>) -> io::Result<Self> {
        if let Some(size) = buffers {
            let socket = socket2::SockRef::from(&stream);
            socket.set_send_buffer_size(size)?;
            socket.set_recv_buffer_size(size)?;
        }
        stream.set_nonblocking(true)?;
        Ok(Self::from_mio(mio::net::TcpStream::from_std(stream)))
    }

    pub(super) fn from_mio(stream: mio::net::TcpStream) -> Self {
        // A socket that refuses an option is slower, not wrong.
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = unpaced(&stream);
        TcpPipe { stream, poll: None }
    }

    pub(super) fn stream(&mut self) -> &mut mio::net::TcpStream {
        &mut self.stream
    }

    fn poll(&mut self) -> io::Result<&mut (Poll, Events)> {
        if self.poll.is_none() {
            let poll = Poll::new()?;
            let both = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(&mut self.stream, Token(0), both)?;
            self.poll = Some((poll, Events::with_capacity(4)));
        }
        self.poll.as_mut().ok_or_else(|| ErrorKind::NotConnected.into())
    }
}

impl Pipe for TcpPipe {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn wait(&mut self, _for_write: bool, timeout: Duration) -> io::Result<()> {
        // Readiness is edge-triggered and both directions are registered: an event of the other
        // direction wakes a little too often, never too late.
        let (poll, events) = self.poll()?;
        match poll.poll(events, Some(timeout)) {
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }

    fn close_write(&mut self) {
        // Fails only if the connection is gone already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn close_may_lose_data(&self) -> bool {
        true
    }
}

/// Connects to `host:port`, trying every address of the name, again and again for `time`: the peer may not listen yet.
pub(super) fn dial(address: &str, time: Duration, canceller: &Canceller) -> Result<mio::net::TcpStream> {
    check_port(address)?;
    let until = Instant::now() + time;
    let mut pause = FIRST_PAUSE;
    let mut told = false;
    loop {
        let failure = match dial_once(address, until, canceller) {
            Ok(stream) => return Ok(stream),
            Err(failure) => failure,
        };
        canceller.check()?;
        if failure.kind() == ErrorKind::InvalidInput || Instant::now() + pause >= until {
            let tried = time.as_secs();
            return Err(Error::io(format!("no connection to {address} within {tried} s"))(failure));
        }
        if !std::mem::replace(&mut told, true) {
            tracing::info!("nobody answers at {address} yet ({failure}); trying again");
        }
        canceller.sleep(pause)?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether an address ends in a port, before anybody is asked about its name.
fn check_port(address: &str) -> Result<()> {
    let Some((_, port)) = address.rsplit_once(':') else {
        return Err(Error::usage(format!("'{address}' has no port: write host:port")));
    };
    match port.parse::<u64>() {
        Ok(0..=65_535) => Ok(()),
        Ok(port) => Err(Error::usage(format!("the port {port} is above 65535, the highest there is"))),
        Err(_) => Err(Error::usage(format!(
            "'{port}' is no port: write a number up to 65535 after the last colon of '{address}'"
        ))),
    }
}

fn dial_once(address: &str, until: Instant, canceller: &Canceller) -> io::Result<mio::net::TcpStream> {
    let mut failure = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for candidate in address.to_socket_addrs()? {
        let until = until.min(Instant::now() + ONE_ADDRESS);
        match connect_to(candidate, until, canceller).and_then(refuse_self) {
            Ok(stream) => return Ok(stream),
            Err(e) => failure = e,
        }
    }
    Err(failure)
}

/// Connects to one address. Whoever cancels it gets some error.
fn connect_to(address: SocketAddr, until: Instant, canceller: &Canceller) -> io::Result<mio::net::TcpStream> {
    let mut stream = mio::net::TcpStream::connect(address)?;
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1));
    poll.registry().register(&mut stream, Token(0), Interest::WRITABLE)?;
    loop {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match poll.poll(&mut events, Some(left.min(CANCELLATION))) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        if let Some(failure) = stream.take_error()? {
            return Err(failure);
        }
        // Writable says that something happened; a peer's address says that it is a connection.
        if !events.is_empty() && stream.peer_addr().is_ok() {
            poll.registry().deregister(&mut stream)?;
            return Ok(stream);
        }
        if canceller.is_cancelled() || Instant::now() >= until {
            return Err(ErrorKind::TimedOut.into());
        }
    }
}

/// Dialling a free port of one's own machine may connect a socket to itself.
fn refuse_self(stream: mio::net::TcpStream) -> io::Result<mio::net::TcpStream> {
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::Error::new(ErrorKind::ConnectionRefused, "nobody listens"));
    }
    Ok(stream)
}

/// A socket that listens on `address`.
pub(super) fn listen(address: &str) -> Result<mio::net::TcpListener> {
    check_port(address)?;
    let bind = || {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(mio::net::TcpListener::from_std(listener))
    };
    bind().map_err(Error::io(format!("listening on {address}")))
}

/// Whether a failed `accept` concerns one stranger only, not the listener.
pub(super) fn of_one_connection(e: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(e.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Whether a failed `accept` is for want of descriptors or memory, which come back.
pub(super) fn is_short(e: &io::Error) -> bool {
    const ENOMEM: i32 = 12;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    const ENOBUFS: i32 = if cfg!(target_os = "linux") { 105 } else { 55 };
    cfg!(unix) && e.raw_os_error().is_some_and(|code| [ENOMEM, ENFILE, EMFILE, ENOBUFS].contains(&code))
}

/// Within one machine there is no network to share: a system that paces what it sends (BBR) arms a timer for each packet, and
/// takes half of the speed. Reno paces nothing, and every Linux has it.
#[cfg(target_os = "linux")]
fn unpaced(stream: &mio::net::TcpStream) -> io::Result<()> {
    let (ours, theirs) = (stream.local_addr()?.ip(), stream.peer_addr()?.ip());
    let socket = socket2::SockRef::from(stream);
    let within = ours == theirs || theirs.to_canonical().is_loopback();
    if within && socket.tcp_congestion()?.starts_with(b"bbr") {
        socket.set_tcp_congestion(b"reno")?;
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_none_is_said_to_be_none() {
        for (address, words) in [
            ("localhost", "has no port"),
            ("localhost:99999", "the port 99999 is above 65535, the highest there is"),
            ("localhost:99999999999999999999", "is no port"),
            ("[::1]", "is no port"),
            ("localhost:http", "'http' is no port"),
            ("localhost:", "'' is no port"),
        ] {
            for error in [dial(address, Duration::ZERO, &Canceller::new()).err(), listen(address).err()] {
                assert!(matches!(&error, Some(Error::Usage(why)) if why.contains(words)), "{address}: {error:?}");
            }
        }
    }

    #[test]
    fn nothing_is_paced_within_a_machine() {
        for (bound, dialled) in [("127.0.0.1:0", "127.0.0.1"), ("[::]:0", "127.0.0.1"), ("[::1]:0", "::1")] {
            let listener = std::net::TcpListener::bind(bound).unwrap();
            let there = (dialled, listener.local_addr().unwrap().port());
            let client = TcpPipe::new(TcpStream::connect(there).unwrap(), None).unwrap();
            let server = TcpPipe::new(listener.accept().unwrap().0, None).unwrap();
            for pipe in [client, server] {
                let control = socket2::SockRef::from(&pipe.stream).tcp_congestion().unwrap();
                assert!(!control.starts_with(b"bbr"), "{bound}");
            }
        }
    }
}
