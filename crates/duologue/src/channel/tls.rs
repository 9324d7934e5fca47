//! TLS 1.3 between two parties that know each other's public key.
//!
//! Both sides show a raw public key (RFC 7250) and pin the other's; there are no certificates,
//! names, tickets, resumption or early data. The server says "accepted" in one byte after it has
//! checked the client's key, so that a client learns of a wrong key when it connects, not later.
//! rustls runs on buffers of ours: one copy of the plaintext a side, and ciphertext moves in large
//! reads and writes.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, UnbufferedClientConnection};
use rustls::crypto::ring::cipher_suite;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage, UnbufferedServerConnection};
use rustls::sign::CertifiedKey;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, CommonState, DigitallySignedStruct, DistinguishedName,
    ServerConfig, SignatureScheme,
};

use super::pipe::Pipe;
use super::{Identity, PublicKey};
use crate::error::{Error, Result};

const PROTOCOL: &[u8] = b"duologue/1";
/// The server's first byte: the client's key is the one that it pins.
const ACCEPTED: u8 = 0x06;
/// Ciphertext held for reading, and for writing.
const BUFFER: usize = 256 << 10;
/// Plaintext encrypted at once; its records fit in [`BUFFER`].
const WRITE: usize = 128 << 10;

/// TLS over another pipe.
pub struct TlsPipe<P> {
    pub(super) inner: P,
    connection: Connection,
    pin: Arc<Pin>,
    ours: PublicKey,
    incoming: Slab,
    outgoing: Slab,
    /// Plaintext for which nobody had room, and how much of it is taken.
    plain: Vec<u8>,
    taken: usize,
    peer_closed: bool,
    greeted: bool,
    /// rustls reported an error: it must not be asked again.
    dead: bool,
}

enum Connection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

/// Ciphertext that was used, and what came of it.
type Processed = (usize, std::result::Result<Step, rustls::Error>);

/// What to do with the connection when it is ready for it.
enum Task<'a> {
    Read(&'a mut [u8]),
    Write(&'a [u8]),
    Close,
}

/// What the connection did.
enum Step {
    /// Plaintext came; so many bytes went to the reader, the rest is kept.
    Plain(usize),
    /// A `Write` or `Close` is done.
    Done,
    /// Something moved: ask again.
    Again,
    /// More ciphertext is needed.
    Starved,
    /// The peer has said goodbye.
    Closed,
    /// So have we: there is nothing left to do, however often one asks.
    Over,
}

// Meeting.
impl<P: Pipe> TlsPipe<P> {
    pub(super) fn client(inner: P, identity: &Identity, peer: PublicKey) -> Result<Self> {
        let (pin, provider) = (Arc::new(Pin::new(peer)), Arc::new(provider()));
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

    pub(super) fn server(inner: P, identity: &Identity, peer: PublicKey) -> Result<Self> {
        let (pin, provider) = (Arc::new(Pin::new(peer)), Arc::new(provider()));
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
            incoming: Slab::new(BUFFER),
            outgoing: Slab::new(BUFFER),
            plain: Vec::new(),
            taken: 0,
            peer_closed: false,
            greeted: false,
            dead: false,
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
    pub(super) fn meet(&mut self, until: Instant) -> Result<()> {
        let patience = until.saturating_duration_since(Instant::now());
        while !self.advance()? {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Timeout { what: "TLS handshake", seconds: patience.as_secs() });
            }
            self.inner
                .wait(!self.outgoing.is_empty(), left.min(Duration::from_secs(1)))
                .map_err(Error::io("waiting for the peer"))?;
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
        if !self.greeted {
            self.try_write(&[ACCEPTED])?;
            self.greeted = true;
        }
        self.push()
    }

    /// The handshake is over, with the pinned key and our protocol.
    fn proven(&self) -> bool {
        let state = self.state();
        let shown = state.peer_certificates().and_then(|keys| keys.first());
        !state.is_handshaking()
            && state.alpn_protocol() == Some(PROTOCOL)
            && shown.is_some_and(|key| key.as_ref() == self.pin.expected.to_spki())
    }

    /// Says what a failed handshake means for the people who configured it.
    fn explain(&self, e: io::Error) -> Error {
        if let Some(offered) = self.pin.refused() {
            return Error::Incompatible {
                what: "the peer's key",
                ours: format!("{} (pinned)", self.pin.expected),
                theirs: format!("{offered} (shown)"),
            };
        }
        match e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::AlertReceived(AlertDescription::CertificateUnknown)) => Error::Incompatible {
                what: "our key",
                ours: self.ours.to_string(),
                theirs: "another one: it pins a key that we did not show".into(),
            },
            Some(e) => Error::peer(format!("the TLS handshake failed: {e}")),
            None if e.kind() == ErrorKind::UnexpectedEof => Error::Closed("during the TLS handshake"),
            None => Error::io("the TLS handshake")(e),
        }
    }
}

// Moving bytes.
impl<P: Pipe> TlsPipe<P> {
    /// Waits for nothing: returns when plaintext came or the handshake moved.
    fn fill(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.step(Task::Read(into))? {
            Step::Plain(n) => return Ok(n),
            Step::Closed | Step::Over => self.peer_closed = true,
            Step::Again | Step::Done => {}
            Step::Starved => {
                if let Err(e) = self.push()
                    && e.kind() != ErrorKind::WouldBlock
                {
                    return Err(e);
                }
                if self.incoming.bytes().len() > BUFFER / 2 {
                    return Err(invalid("a TLS message of absurd length"));
                }
                let room = self.incoming.room(BUFFER / 8);
                match self.inner.try_read(room)? {
                    0 => return Err(ErrorKind::UnexpectedEof.into()),
                    n => self.incoming.filled(n),
                }
            }
        }
        Ok(0)
    }

    fn step(&mut self, task: Task<'_>) -> io::Result<Step> {
        if self.dead {
            return Err(invalid("the TLS connection failed before"));
        }
        let (used, step) = self.process(task, true);
        self.incoming.consume(used);
        step.map_err(|e| {
            self.dead = true;
            // rustls has an alert for the peer; without it the end of the stream must do.
            while self.state().wants_write() {
                let _ = self.process(Task::Close, false);
            }
            let _ = self.push();
            io::Error::new(ErrorKind::InvalidData, e)
        })
    }

    /// One step of rustls, with the ciphertext that is here or none.
    fn process(&mut self, task: Task<'_>, read: bool) -> Processed {
        let TlsPipe { incoming, outgoing, plain, .. } = self;
        let ciphertext = if read { incoming.bytes() } else { &mut [] };
        match &mut self.connection {
            Connection::Client(c) => digest(c.process_tls_records(ciphertext), task, outgoing, plain),
            Connection::Server(c) => digest(c.process_tls_records(ciphertext), task, outgoing, plain),
        }
    }

    fn state(&self) -> &CommonState {
        match &self.connection {
            Connection::Client(c) => c,
            Connection::Server(c) => c,
        }
    }

    /// Hands ciphertext to the pipe below; `WouldBlock` if some remains.
    fn push(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            let n = self.inner.try_write(self.outgoing.bytes())?;
            self.outgoing.consume(n);
        }
        self.inner.try_flush()
    }

    fn kept(&mut self, into: &mut [u8]) -> usize {
        let rest = &self.plain[self.taken..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.plain.len() {
            self.plain.clear();
            self.taken = 0;
        }
        n
    }
}

/// Does what the state of a connection calls for.
fn digest<D>(
    status: UnbufferedStatus<'_, '_, D>,
    task: Task<'_>,
    outgoing: &mut Slab,
    plain: &mut Vec<u8>,
) -> Processed {
    let mut used = status.discard;
    let step = match (status.state, task) {
        (Err(e), _) => Err(e),
        (Ok(ConnectionState::ReadTraffic(mut traffic)), task) => {
            let mut into: &mut [u8] = if let Task::Read(into) = task { into } else { &mut [] };
            let mut moved = 0;
            while let Some(Ok(record)) = traffic.next_record() {
                used += record.discard;
                let n = record.payload.len().min(into.len());
                let (now, later) = std::mem::take(&mut into).split_at_mut(n);
                now.copy_from_slice(&record.payload[..n]);
                plain.extend_from_slice(&record.payload[n..]);
                (into, moved) = (later, moved + n);
            }
            Ok(Step::Plain(moved))
        }
        (Ok(ConnectionState::EncodeTlsData(mut data)), _) => {
            encode(|room| data.encode(room), outgoing);
            Ok(Step::Again)
        }
        (Ok(ConnectionState::TransmitTlsData(data)), _) => {
            // It lies in `outgoing`, whose order is the order on the wire.
            data.done();
            Ok(Step::Again)
        }
        (Ok(ConnectionState::WriteTraffic(mut traffic)), Task::Write(bytes)) => {
            match traffic.encrypt(bytes, outgoing.room(WRITE + WRITE / 64)) {
                Ok(n) => {
                    outgoing.filled(n);
                    Ok(Step::Done)
                }
                Err(e) => Err(rustls::Error::General(e.to_string())),
            }
        }
        (Ok(ConnectionState::WriteTraffic(mut traffic)), Task::Close) => {
            let written = traffic.queue_close_notify(outgoing.room(1024)).unwrap_or(0);
            outgoing.filled(written);
            Ok(Step::Done)
        }
        (Ok(ConnectionState::PeerClosed), _) => Ok(Step::Closed),
        (Ok(ConnectionState::Closed), _) => Ok(Step::Over),
        (Ok(_), _) => Ok(Step::Starved),
    };
    (used, step)
}

fn encode(mut into: impl FnMut(&mut [u8]) -> std::result::Result<usize, EncodeError>, outgoing: &mut Slab) {
    let mut room = 4096;
    loop {
        match into(outgoing.room(room)) {
            Ok(n) => return outgoing.filled(n),
            Err(EncodeError::InsufficientSize(e)) => room = e.required_size,
            Err(EncodeError::AlreadyEncoded) => return,
        }
    }
}

impl<P: Pipe> Pipe for TlsPipe<P> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.kept(into);
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
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push()?;
        let n = bytes.len().min(WRITE);
        loop {
            match self.step(Task::Write(&bytes[..n]))? {
                Step::Done => break,
                Step::Closed => self.peer_closed = true,
                Step::Over => return Err(ErrorKind::BrokenPipe.into()),
                Step::Starved => return Err(ErrorKind::WouldBlock.into()),
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
        if !self.plain.is_empty() {
            return Ok(());
        }
        self.inner.wait(for_write || !self.outgoing.is_empty(), timeout)
    }

    fn close_write(&mut self) {
        while let Ok(Step::Again | Step::Plain(_) | Step::Closed) = self.step(Task::Close) {}
        // The end of the stream says the same, less politely.
        let _ = self.push();
        self.inner.close_write();
    }

    fn loses_last_words(&self) -> bool {
        self.inner.loses_last_words()
    }
}

/// Checks that the peer shows the key that we expect, and that it holds it.
#[derive(Debug)]
struct Pin {
    expected: PublicKey,
    /// The key that was shown instead.
    refused: Mutex<Option<PublicKey>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    fn new(expected: PublicKey) -> Self {
        let algorithms = provider().signature_verification_algorithms;
        Pin { expected, refused: Mutex::new(None), algorithms }
    }

    fn check(&self, shown: &CertificateDer<'_>) -> std::result::Result<(), rustls::Error> {
        let shown = PublicKey::from_spki(shown).ok_or(CertificateError::BadEncoding)?;
        if shown == self.expected {
            return Ok(());
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        let why = Error::usage("another key is pinned");
        Err(CertificateError::Other(rustls::OtherError(Arc::new(why))).into())
    }

    fn refused(&self) -> Option<PublicKey> {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verify(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let spki = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &spki, signature, &self.algorithms)
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        self.check(key).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.verify(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> std::result::Result<ClientCertVerified, rustls::Error> {
        self.check(key).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.verify(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// 128 bits are the security of everything above: AES-128 comes first.
fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_AES_256_GCM_SHA384,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        ..rustls::crypto::ring::default_provider()
    }
}

fn certified(identity: &Identity) -> Arc<CertifiedKey> {
    let spki = CertificateDer::from(identity.public().to_spki());
    Arc::new(CertifiedKey::new(vec![spki], identity.signer()))
}

fn tls(e: rustls::Error) -> Error {
    Error::io("setting up TLS")(io::Error::other(e))
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, rustls::Error::General(why.into()))
}

/// Bytes between a start and an end in a buffer that grows rarely and is zeroed once.
struct Slab {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Slab {
    fn new(len: usize) -> Self {
        Slab { buffer: vec![0; len], start: 0, end: 0 }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    fn consume(&mut self, n: usize) {
        self.start += n;
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
    }

    /// The free end, of at least `min` bytes.
    fn room(&mut self, min: usize) -> &mut [u8] {
        if self.buffer.len() - self.end < min {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let len = self.buffer.len().max(self.end + min);
            self.buffer.resize(len, 0);
        }
        &mut self.buffer[self.end..]
    }

    fn filled(&mut self, n: usize) {
        self.end += n;
    }
}
