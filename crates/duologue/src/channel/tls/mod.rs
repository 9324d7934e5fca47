//! TLS 1.3 between two parties that know each other's public key.
//!
//! Both sides show a raw public key (RFC 7250) and pin the other's; there are no certificates,
//! names, tickets, resumption or early data. The server says "accepted" in one byte after it has
//! checked the client's key, so that a client learns of a wrong key when it connects, not later.
//! rustls runs on buffers of ours: one copy of the plaintext a side, and ciphertext moves in large
//! reads and writes.

mod pin;
mod records;

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::{AlwaysResolvesClientRawPublicKeys, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage, UnbufferedServerConnection};
use rustls::{AlertDescription, ClientConfig, ServerConfig};

use super::pipe::Pipe;
use super::{CANCELLATION, Canceller, Identity, PublicKey, mismatch};
use crate::clock::Instant;
use crate::error::{Error, Result};
use pin::{Pin, certified, provider};
use records::{BUFFER, ByteBuffer, Step, Task, WRITE};

const PROTOCOL: &[u8] = b"duologue/1";
/// The server's first byte: the client's key is the one that it pins.
const ACCEPTED: u8 = 0x06;

/// Steps of one read: a peer that sends records without plaintext must not keep its reader from looking at the time.
pub(super) const STEPS: usize = 64;

/// TLS over another pipe.
pub struct TlsPipe<P> {
    pub(super) inner: P,
    connection: Connection,
    pin: Arc<Pin>,
    ours: PublicKey,
    incoming: ByteBuffer,
    outgoing: ByteBuffer,
    /// Plaintext for which nobody had room, and how much of it is taken.
    plain: Vec<u8>,
    taken: usize,
    peer_closed: bool,
    /// The server has said that it takes the client's key.
    accepted: bool,
    /// rustls reported an error: it must not be asked again.
    failed: bool,
    /// The peer's first bytes were those of a session in the open.
    met_plaintext: bool,
    /// The last read ended without plaintext although more may have come.
    more: bool,
}

enum Connection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

impl<P: Pipe> TlsPipe<P> {
    pub(super) fn client(inner: P, identity: &Identity, peer: PublicKey) -> Result<Self> {
        let (pin, provider) = (Arc::new(Pin::new(vec![peer])), Arc::new(provider()));
        let resolver = AlwaysResolvesClientRawPublicKeys::new(certified(identity));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(tls)?
            .dangerous()
            .with_custom_certificate_verifier(pin.clone())
            .with_client_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.enable_sni = false;
        config.resumption = rustls::client::Resumption::disabled();
        // Keys are compared, not names: this one appears nowhere.
        let name = ServerName::try_from("duologue.invalid").map_err(|_| Error::usage("no TLS name"))?;
        let connection = UnbufferedClientConnection::new(Arc::new(config), name).map_err(tls)?;
        Ok(Self::new(inner, Connection::Client(connection), pin, identity.public()))
    }

    /// The peer may be any of several, told apart by [`peer_key`](Self::peer_key).
    pub(super) fn server(inner: P, identity: &Identity, peers: &[PublicKey]) -> Result<Self> {
        let (pin, provider) = (Arc::new(Pin::new(peers.to_vec())), Arc::new(provider()));
        let resolver = AlwaysResolvesServerRawPublicKeys::new(certified(identity));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(tls)?
            .with_client_cert_verifier(pin.clone())
            .with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.send_tls13_tickets = 0;
        config.max_early_data_size = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        let connection = UnbufferedServerConnection::new(Arc::new(config)).map_err(tls)?;
        Ok(Self::new(inner, Connection::Server(connection), pin, identity.public()))
    }

    fn new(inner: P, connection: Connection, pin: Arc<Pin>, ours: PublicKey) -> Self {
        TlsPipe {
            inner,
            connection,
            pin,
            ours,
            incoming: ByteBuffer::new(BUFFER),
            outgoing: ByteBuffer::new(BUFFER),
            plain: Vec::new(),
            taken: 0,
            peer_closed: false,
            accepted: false,
            failed: false,
            met_plaintext: false,
            more: false,
        }
    }

    /// Goes on with the handshake; true when both parties have proved their keys.
    pub(super) fn advance(&mut self) -> Result<bool> {
        match self.try_advance() {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(e) => Err(self.explain(e)),
        }
    }

    /// The whole handshake, waiting.
    pub(super) fn meet(&mut self, until: Instant, canceller: &Canceller) -> Result<()> {
        let time = until.saturating_duration_since(Instant::now());
        while !self.advance()? {
            canceller.check()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Timeout { what: "TLS handshake", seconds: time.as_secs() });
            }
            self.wait(false, left.min(CANCELLATION)).map_err(Error::io("waiting for the peer"))?;
        }
        Ok(())
    }

    fn try_advance(&mut self) -> io::Result<()> {
        if let Connection::Client(_) = self.connection {
            let mut answer = [0];
            return match self.try_read(&mut answer)? {
                1 if answer == [ACCEPTED] && self.proven() => Ok(()),
                0 => Err(ErrorKind::UnexpectedEof.into()),
                _ => Err(invalid("the TLS server does not speak duologue")),
            };
        }
        while !self.proven() {
            match self.fill(&mut []) {
                // The last message of the handshake came, and nothing after it.
                Err(e) if e.kind() == ErrorKind::WouldBlock && self.proven() => break,
                moved => moved?,
            };
        }
        if !self.accepted {
            self.try_write(&[ACCEPTED])?;
            self.accepted = true;
        }
        self.push()
    }

    /// The handshake is over, with a pinned key and our protocol.
    fn proven(&self) -> bool {
        let state = self.state();
        !state.is_handshaking() && state.alpn_protocol() == Some(PROTOCOL) && self.peer_key().is_some()
    }

    /// The pinned key that the peer has shown.
    pub(super) fn peer_key(&self) -> Option<PublicKey> {
        let shown = PublicKey::from_spki(self.state().peer_certificates()?.first()?)?;
        self.pin.expected.contains(&shown).then_some(shown)
    }

    /// Says what a failed handshake means for the people who configured it.
    fn explain(&self, e: io::Error) -> Error {
        if let Some(offered) = self.pin.refused() {
            return Error::Incompatible {
                what: "the peer's key",
                ours: format!(
                    "{} (pinned)",
                    self.pin.expected.iter().map(PublicKey::to_string).collect::<Vec<_>>().join(" or ")
                ),
                theirs: format!("{offered} (shown)"),
                place: None,
            };
        }
        if self.met_plaintext {
            return mismatch::encryption(true);
        }
        match e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::AlertReceived(AlertDescription::CertificateUnknown)) => Error::Incompatible {
                what: "our key",
                ours: self.ours.to_string(),
                theirs: "another one: it pins a key that we did not show".into(),
                place: None,
            },
            Some(e) => Error::peer(format!("the TLS handshake failed: {e}")),
            None if is_end(&e) => Error::Closed("during the TLS handshake".into()),
            None => Error::io("the TLS handshake")(e),
        }
    }
}

impl<P: Pipe> Pipe for TlsPipe<P> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.more = false;
        for _ in 0..STEPS {
            let n = self.take_plain(into);
            if n > 0 {
                return Ok(n);
            }
            if self.peer_closed {
                return Ok(0);
            }
            match self.fill(into)? {
                0 => {}
                n => return Ok(n),
            }
        }
        self.more = true;
        Err(ErrorKind::WouldBlock.into())
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push()?;
        let n = bytes.len().min(WRITE);
        loop {
            match self.step(Task::Write(&bytes[..n]))? {
                Step::Done => break,
                Step::Closed => self.peer_closed = true,
                Step::Over => return Err(ErrorKind::BrokenPipe.into()),
                Step::NeedsMore => return Err(ErrorKind::WouldBlock.into()),
                Step::Again | Step::Plain(_) => {}
            }
        }
        match self.push() {
            Err(e) if e.kind() != ErrorKind::WouldBlock => Err(e),
            _ => Ok(n),
        }
    }

    fn try_flush(&mut self) -> io::Result<()> {
        self.push()
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        if self.more || !self.plain.is_empty() {
            return Ok(());
        }
        self.inner.wait(for_write || !self.outgoing.is_empty(), timeout)
    }

    fn close_write(&mut self) {
        while let Ok(Step::Again | Step::Plain(_) | Step::Closed) = self.step(Task::Close) {}
        // If this is not taken, the end of the stream says as much.
        let _ = self.push();
        self.inner.close_write();
    }

    fn close_may_lose_data(&self) -> bool {
        self.inner.close_may_lose_data()
    }
}

fn tls(e: rustls::Error) -> Error {
    Error::io("setting up TLS")(io::Error::other(e))
}

/// Whether the peer has closed the connection, in good order or not.
fn is_end(e: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, rustls::Error::General(why.into()))
}
