//! The least of many encrypted values and its index or argument, as calls.
//!
//! One party, the *server*, holds ciphertexts of Paillier's system; the other, the *client*, has the key. The server gets a
//! ciphertext of the least value and one of its argument, or of its index. What the protocols share is here: terms, keys,
//! ciphertexts as lanes, and the frame of a call (`Encrypted`), in whose setup the client's public key goes to the server.
//! A protocol implements `Protocol`, both roles in one file.
//!
//! | file | call | who learns what |
//! |---|---|---|
//! | `shares.rs` | `duologue:argmin-encrypted` | nobody anything |
//! | `boma/` | `duologue:argmin-boma` | the client the sizes of all differences that are compared |
//! | `erkin/` | `duologue:argmin-erkin` | nobody anything |
//!
//! **Security**: semi-honest parties. The server sees ciphertexts alone. The client sees plaintexts, so that whatever the
//! server sends is blinded, and re-randomised, since the client sees the randomness of ciphertexts, too.

mod boma;
mod ciphertexts;
mod erkin;
mod keys;
mod shares;
mod terms;
mod wide;

use super::layout::bits_of;
pub use ciphertexts::{lanes_of, numbers_of};
use ciphertexts::{own, own_ciphertexts, to_lanes};
use duologue::Result;
use duologue::call::{
    Call, CallLengths, CallProtocol, Calls, Context, Drawn, Exchange, OnlineStage, Outbox, SetupStage, Stage, Zeroizing,
};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{BitMatrix, Error, Party, bits};

use erkin::Erkin;
use he::paillier::{PublicKey, SecretKey};
use he::{Ciphertexts, Plaintexts};
pub use keys::Keys;
use keys::bytes_of_key;
use shares::Shares;
use std::sync::Arc;
pub use terms::{MOST_BITS, MOST_VALUES, Terms};

/// The protocols over ciphertexts, those that leak as well: who registers them asks for consent.
pub(crate) fn calls(keys: &Keys) -> Calls {
    Method::ALL.into_iter().fold(Calls::new(), |calls, method| calls.with(method.call(keys)))
}

/// A protocol over ciphertexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Ours, on shares.
    Duologue,
    /// BOMA, which tells the client the sizes of differences: only with [`Terms::leaky`].
    Boma,
    /// Erkin and others, with the comparison of Damgård, Geisler and Krøigaard.
    Erkin,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 3] = [Method::Duologue, Method::Boma, Method::Erkin];

    /// The call, with what this party has of the key.
    pub fn call(self, keys: &Keys) -> Arc<dyn CallProtocol> {
        match self {
            Method::Duologue => Arc::new(Encrypted::with(Shares, keys)),
            Method::Boma => Arc::new(Encrypted::with(boma::Boma, keys)),
            Method::Erkin => Arc::new(Encrypted::with(Erkin::new(keys), keys)),
        }
    }
}

/// What is public of a call.
#[derive(Clone)]
pub(crate) struct Job {
    pub terms: Terms,
    /// How many values there are.
    pub values: usize,
}

impl Job {
    fn of(call: &Call) -> Result<Job> {
        let values = call.args.first().map_or(0, |arg| arg.lanes as usize);
        Ok(Job { terms: Terms::from_bytes(&call.parameters)?, values })
    }

    pub fn server(&self) -> Party {
        self.terms.server
    }

    pub fn client(&self) -> Party {
        self.terms.server.peer()
    }

    /// Bits of an argument, or of an index.
    pub fn second_bits(&self) -> u32 {
        self.terms.argument.unwrap_or((bits_of(self.values) as u32).max(1))
    }
}

/// What the server hands in.
pub(crate) struct Inputs {
    pub values: Ciphertexts,
    /// None with an index.
    pub arguments: Option<Ciphertexts>,
}

/// What the server gets, a ciphertext each.
pub(crate) struct Found {
    pub least: Ciphertexts,
    /// Its argument or its index.
    pub second: Ciphertexts,
}

/// The server's online stage.
pub(crate) type ServerStage = Box<dyn Stage<Output = Found>>;

/// The client's online stage.
pub(crate) type ClientStage = Box<dyn Stage<Output = ()>>;

/// A protocol over ciphertexts. The client's public key is at the server when `setup` begins its exchanges, checked, and it
/// is in no length here.
pub(crate) trait Protocol: Send + Sync {
    /// The name of the call.
    fn name(&self) -> &'static str;

    /// The version of what travels.
    fn version(&self) -> u32;

    /// Whether it can run on these terms.
    ///
    /// # Errors
    /// [`Error::Usage`] that says why not.
    fn check(&self, job: &Job) -> Result<()>;

    /// The lengths of one party.
    ///
    /// # Errors
    /// [`Error::Usage`] if the call is too large.
    fn lengths(&self, job: &Job, party: Party) -> Result<CallLengths>;

    /// Whether it looks at the Jacobi symbols of what it sends on of the server's ciphertexts, so that nobody does before.
    fn looks_at_symbols(&self) -> bool {
        false
    }

    /// Begins setup.
    ///
    /// # Errors
    /// If it cannot begin.
    fn setup(&self, job: &Job, context: &Context, keys: &Keys) -> Result<SetupStage>;

    /// Begins the server's online phase on the result of its setup.
    ///
    /// # Errors
    /// If it cannot begin.
    fn server(&self, job: &Job, key: PublicKey, setup: Zeroizing<Vec<u8>>, inputs: Inputs) -> Result<ServerStage>;

    /// Begins the client's online phase on the result of its setup.
    ///
    /// # Errors
    /// If it cannot begin.
    fn client(&self, job: &Job, key: Arc<SecretKey>, setup: Zeroizing<Vec<u8>>) -> Result<ClientStage>;
}

/// The least of encrypted values by a protocol. The parameters are [`Terms`].
///
/// Arguments: the server's n values, and without index its n arguments, each a ciphertext of 2T bits in a lane
/// ([`lanes_of`]). Results: the server's ciphertexts of the least value and of its argument or index.
struct Encrypted<P> {
    protocol: P,
    keys: Keys,
}

impl<P: Protocol> Encrypted<P> {
    /// The protocol with what this party has of the key.
    fn with(protocol: P, keys: &Keys) -> Self {
        Encrypted { protocol, keys: keys.clone() }
    }

    fn job(&self, call: &Call) -> Result<Job> {
        let job = Job::of(call)?;
        self.protocol.check(&job)?;
        Ok(job)
    }
}

impl<P: Protocol> Functionality for Encrypted<P> {
    fn name(&self) -> &str {
        self.protocol.name()
    }

    fn version(&self) -> u32 {
        self.protocol.version()
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        let terms = Terms::from_bytes(parameters)?;
        let port = CallPort { ty: bits(2 * terms.key_bits), holder: Holder::Party(terms.server) };
        let wanted = 1 + usize::from(terms.argument.is_some());
        if args.len() != wanted || args.iter().any(|arg| (arg.ty.width, arg.holder) != (port.ty.width, port.holder)) {
            let (width, server) = (port.ty.width, terms.server);
            return Err(Error::usage(format!("{wanted} arguments of {width} bits, ciphertexts that {server} holds")));
        }
        Ok(vec![port; 2])
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        let terms = Terms::from_bytes(parameters)?;
        let values = args.first().copied().unwrap_or(0);
        if args.iter().any(|&lanes| lanes != values) || !(1..=MOST_VALUES).contains(&values) {
            return Err(Error::usage(format!("1 to {MOST_VALUES} values, and as many arguments, not {args:?}")));
        }
        let job = Job { terms, values: values as usize };
        self.protocol.check(&job).map_err(|error| Error::usage(error.to_string()))?;
        Ok(vec![1, 1])
    }

    /// By decryption, which takes the private key: without it, and where a ciphertext is none, the results are zeros, which are
    /// no ciphertexts.
    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let plain = || -> Result<Vec<BitMatrix>> {
            let terms = Terms::from_bytes(parameters)?;
            let secret = self.keys.secret(&terms)?;
            let found = least(&secret, args)?;
            found.iter().map(|found| to_lanes(secret.public(), found)).collect()
        };
        let rows = args.first().map_or(0, BitMatrix::rows);
        plain().unwrap_or_else(|_| vec![BitMatrix::zeros(rows, 1); 2])
    }
}

/// The first of the least values and its argument or index, encrypted anew.
fn least(secret: &SecretKey, args: &[BitMatrix]) -> Result<[Ciphertexts; 2]> {
    let decrypted = |lanes: &BitMatrix| -> Result<Zeroizing<Vec<u128>>> {
        let plain = secret.decrypt(&own_ciphertexts(secret.public(), lanes, true)?).map_err(own)?;
        plain.to_u128s().ok_or_else(|| duologue::Error::usage("a value of more than 128 bits"))
    };
    let values = decrypted(&args[0])?;
    let place = (0..values.len()).min_by_key(|&place| values[place]).unwrap_or(0);
    let second = match args.get(1) {
        Some(arguments) => decrypted(arguments)?[place],
        None => place as u128,
    };
    let mut random = ciphertexts::random()?;
    let mut encrypted = |number: u128| secret.encrypt(&Plaintexts::new(&[number]), &mut random).map_err(own);
    Ok([encrypted(values[place])?, encrypted(second)?])
}

impl<P: Protocol> CallProtocol for Encrypted<P> {
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths> {
        let job = self.job(call)?;
        let mut lengths = self.protocol.lengths(&job, party)?;
        let key = bytes_of_key(&job.terms);
        let (sent, read) = if party == job.client() { (key, 0) } else { (0, key) };
        lengths.setup.insert(0, Exchange { sent, read, ..Exchange::default() });
        lengths.stored += read;
        Ok(lengths)
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> Result<SetupStage> {
        let job = self.job(call)?;
        let inner = self.protocol.setup(&job, context, &self.keys)?;
        let key = if context.party == job.client() {
            Key::Sent(self.keys.secret(&job.terms)?.public().to_bytes())
        } else {
            Key::Awaited(self.keys.clone())
        };
        Ok(Box::new(Setup { job, key, inner, begun: false }))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        mut setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<OnlineStage> {
        let job = self.job(call)?;
        if party == job.client() {
            let stage = self.protocol.client(&job, self.keys.secret(&job.terms)?, setup)?;
            return Ok(Box::new(Client(stage)));
        }
        let rest = Zeroizing::new(setup.split_off(bytes_of_key(&job.terms)));
        let key = self.keys.restore(&setup, &job.terms)?;
        let mut held = args.into_iter().flatten();
        let any_symbol = self.protocol.looks_at_symbols();
        let mut next = || held.next().map(|lanes| own_ciphertexts(&key, &lanes, any_symbol)).transpose();
        let values = next()?.ok_or_else(|| duologue::Error::usage("the server has no ciphertexts"))?;
        let inputs = Inputs { values, arguments: next()? };
        let stage = self.protocol.server(&job, key.clone(), rest, inputs)?;
        Ok(Box::new(Server { key, stage }))
    }
}

/// The client's public key in setup.
enum Key {
    /// By the client, in the first exchange.
    Sent(Vec<u8>),
    /// The server has still to read it.
    Awaited(Keys),
    /// The server stores it.
    Read(Vec<u8>),
}

/// A setup that begins with the key.
struct Setup {
    job: Job,
    key: Key,
    inner: SetupStage,
    begun: bool,
}

impl Setup {
    /// What came for the protocol's own stage: at the beginning it was the key.
    fn inbox<'a>(&mut self, inbox: &'a [u8]) -> Result<&'a [u8]> {
        if let Key::Awaited(keys) = &self.key {
            keys.receive(inbox, &self.job.terms)?;
            self.key = Key::Read(inbox.to_vec());
            return Ok(&[]);
        }
        Ok(inbox)
    }
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            if let Key::Sent(key) = &self.key {
                outbox.extend_from_slice(key);
            }
            return Ok(());
        }
        let inbox = self.inbox(inbox)?;
        self.inner.step(drawn, inbox, outbox)
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let inbox = self.inbox(inbox)?;
        let rest = self.inner.finish(inbox)?;
        Ok(match self.key {
            Key::Read(key) => Zeroizing::new([&key[..], &rest[..]].concat()),
            _ => rest,
        })
    }
}

/// The server's online stage, whose result are lanes.
struct Server {
    key: PublicKey,
    stage: ServerStage,
}

impl Stage for Server {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.stage.step(drawn, inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        let found = self.stage.finish(inbox)?;
        [found.least, found.second].iter().map(|found| to_lanes(&self.key, found).map(Some)).collect()
    }
}

/// The client's online stage, which has no result.
struct Client(ClientStage);

impl Stage for Client {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.0.step(drawn, inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.0.finish(inbox)?;
        Ok(vec![None, None])
    }
}
