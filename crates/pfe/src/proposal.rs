//! What both parties say before there is a method: which ones they take, what Alice announces of her function under each, and
//! by what they choose.
//!
//! ```text
//! both   213 bytes: magic `duo-func`, version (2), role (1), whether a line is assumed (1), methods (4), bits in, bits out,
//!        runs (4 each), gates and additions under each of eight methods (8 each), gates a second by `dh` (8), the assumed
//!        line's round trip in microseconds and bits a second, 0 for any number (8 each), what the runs are for (1: 0 now,
//!        1 to be kept, 2 kept before), and of runs that were kept the folder's identity, else zeros (32)
//! ```
//!
//! The messages cross on the way. What a party may take is a set; a method is taken only if it is in both. Alice's message has
//! the sizes of her function under the methods of her set alone, and Bob's none.

use crate::offer::{Fields, MOST_BITS, MOST_GATES, check_runs};
use duologue::channel::{Channel, Link};
use duologue::{Error, Result};
use std::fmt;
use std::time::Duration;

const MAGIC: [u8; 8] = *b"duo-func";
const VERSION: u16 = 2;

/// Methods that a message has room for.
const ROOM: usize = 8;

/// Bytes of a message.
pub(crate) const PROPOSAL: usize = 8 + 2 + 1 + 1 + 4 + 3 * 4 + ROOM * 16 + 8 + 16 + 1 + 32;

/// A protocol for private functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// A universal circuit that Alice garbles.
    Universal,
    /// Diffie-Hellman labels.
    Dh,
    /// Katz and Malka's protocol with ElGamal.
    ElGamal,
    /// The same with the system of Brakerski, Fan and Vercauteren.
    Bfv,
    /// The same with Damgård, Jurik and Nielsen's form of Paillier's system.
    Djn,
}

impl Method {
    /// All that there are.
    pub const ALL: [Method; 5] = [Method::Universal, Method::Dh, Method::ElGamal, Method::Bfv, Method::Djn];

    /// The number by which parties know it.
    pub(crate) const fn number(self) -> usize {
        match self {
            Method::Universal => 0,
            Method::Dh => 1,
            Method::ElGamal => 2,
            Method::Bfv => 3,
            Method::Djn => 4,
        }
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Universal => "universal",
            Method::Dh => "dh",
            Method::ElGamal => "elgamal",
            Method::Bfv => "bfv",
            Method::Djn => "djn",
        }
    }

    /// Whether its bytes are linear in the gates: a dishonest Alice learns all data then, unseen.
    pub const fn is_linear(self) -> bool {
        !matches!(self, Method::Universal)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of methods.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Methods(u32);

impl Methods {
    /// Whether this one is in the set.
    pub const fn has(self, method: Method) -> bool {
        self.0 >> method.number() & 1 == 1
    }

    /// Those that are in both.
    pub fn and(self, other: Methods) -> impl Iterator<Item = Method> {
        Method::ALL.into_iter().filter(move |&method| self.has(method) && other.has(method))
    }
}

impl FromIterator<Method> for Methods {
    fn from_iter<I: IntoIterator<Item = Method>>(methods: I) -> Methods {
        Methods(methods.into_iter().fold(0, |set, method| set | 1 << method.number()))
    }
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.and(*self).map(Method::name).collect();
        if self.0 & !Methods::from_iter(Method::ALL).0 > 0 {
            names.push("others that this version does not know");
        }
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}

/// Sizes of a function under one method.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Gates, padding included; of a universal circuit copies too, and outputs not.
    pub gates: u64,
    /// Additions outside gates, of methods that have them.
    pub additions: u64,
}

/// What Alice announces of her function before a method is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announced {
    /// Input bits.
    pub inputs: u32,
    /// Output bits.
    pub outputs: u32,
    /// How often it may be run.
    pub runs: u32,
    counts: [Counts; ROOM],
}

impl Announced {
    /// A function of so many bits for so many runs.
    pub fn new(inputs: u32, outputs: u32, runs: u32) -> Announced {
        Announced { inputs, outputs, runs, counts: [Counts::default(); ROOM] }
    }

    /// The same, with its sizes under a method.
    pub fn with(mut self, method: Method, counts: Counts) -> Announced {
        self.counts[method.number()] = counts;
        self
    }

    /// Its sizes under a method.
    pub fn counts(&self, method: Method) -> Counts {
        self.counts[method.number()]
    }

    fn check(&self, methods: Methods) -> std::result::Result<(), String> {
        let bits = |count: u32| (1..=MOST_BITS).contains(&count);
        let unknown = |number: usize| methods.0 >> number & 1 == 0;
        let stray = self.counts.iter().enumerate().any(|(i, counts)| unknown(i) && *counts != Counts::default());
        match () {
            () if !bits(self.inputs) => Err(format!("{} input bits, and there are 1 to {MOST_BITS}", self.inputs)),
            () if !bits(self.outputs) => Err(format!("{} output bits, and there are 1 to {MOST_BITS}", self.outputs)),
            () if stray => Err("sizes under methods that it does not take".into()),
            () => {
                match self.counts.iter().find(|counts| counts.gates > MOST_GATES || counts.additions > 64 * MOST_GATES)
                {
                    Some(Counts { gates, additions }) => Err(format!("{gates} gates and {additions} additions")),
                    None => check_runs(self.runs),
                }
            }
        }
    }
}

/// What the runs are for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Data that is there.
    #[default]
    Now,
    /// To be kept in a folder by each party.
    Keep,
    /// They were kept, in the folders of this identity.
    Kept([u8; 32]),
}

impl Purpose {
    fn to_bytes(self) -> [u8; 33] {
        let mut bytes = [0; 33];
        match self {
            Purpose::Now => {}
            Purpose::Keep => bytes[0] = 1,
            Purpose::Kept(identity) => {
                bytes[0] = 2;
                bytes[1..].copy_from_slice(&identity);
            }
        }
        bytes
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Purpose::Now => f.write_str("for data that is there"),
            Purpose::Keep => f.write_str("to be prepared for later"),
            Purpose::Kept(identity) => {
                f.write_str("prepared, those of ")?;
                identity[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// What a party says of itself and, if it is Alice, of her function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The methods that it takes.
    pub methods: Methods,
    /// Alice's function; Bob has none.
    pub function: Option<Announced>,
    /// Gates a second that it would garble by [`Method::Dh`]; 0 if only one method is in its set.
    pub speed: u64,
    /// The line that the choice is made for, if it is not measured.
    pub assumed: Option<Link>,
    /// What the runs are for, both alike.
    pub purpose: Purpose,
}

/// What follows from both parties' proposals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreed {
    /// Alice's function.
    pub function: Announced,
    /// The methods that both take, at least one.
    pub methods: Vec<Method>,
    /// Gates a second by [`Method::Dh`], Alice's and Bob's.
    pub speeds: [u64; 2],
}

impl Proposal {
    /// Whether its own function can be announced: a peer would refuse it.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are too many bits, gates, additions or runs.
    pub fn check(&self) -> Result<()> {
        let why = |why| Error::usage(format!("no private function has {why}"));
        self.function.map_or(Ok(()), |function| function.check(self.methods)).map_err(why)
    }

    /// Trades proposals with the peer.
    ///
    /// # Errors
    /// As [`check`](Self::check), before anything is sent; [`Error::Incompatible`] if both parties have the function or both
    /// the data, if no method is in both sets, or if another line is assumed; [`Error::Peer`] if the peer proposes nothing.
    pub fn trade(&self, channel: &mut Channel) -> Result<Agreed> {
        self.meet(channel).inspect_err(|error| channel.abort_after(error))
    }

    fn meet(&self, channel: &mut Channel) -> Result<Agreed> {
        self.check()?;
        channel.send(&self.to_bytes())?;
        channel.flush()?;
        self.agree(&Proposal::from_bytes(&channel.recv(PROPOSAL)?)?)
    }

    fn agree(&self, theirs: &Proposal) -> Result<Agreed> {
        let what = |proposal: &Proposal| if proposal.function.is_some() { "the function" } else { "the data" };
        let differ = |what, ours: String, theirs: String| Err(Error::Incompatible { what, ours, theirs, place: None });
        let (function, ours_is_alices) = match (self.function, theirs.function) {
            (Some(function), None) => (function, true),
            (None, Some(function)) => (function, false),
            _ => {
                return differ("who is who", format!("we have {}", what(self)), format!("it has {} too", what(theirs)));
            }
        };
        if self.purpose != theirs.purpose {
            return differ("the runs", self.purpose.to_string(), theirs.purpose.to_string());
        }
        let methods: Vec<Method> = self.methods.and(theirs.methods).collect();
        if methods.is_empty() {
            return differ("the methods", self.methods.to_string(), theirs.methods.to_string());
        }
        if methods.len() > 1 && self.assumed != theirs.assumed {
            let shown = |line: Option<Link>| line.map_or("none: it is measured".into(), |line| line.to_string());
            return differ("the assumed line", shown(self.assumed), shown(theirs.assumed));
        }
        let speeds = if ours_is_alices { [self.speed, theirs.speed] } else { [theirs.speed, self.speed] };
        Ok(Agreed { function, methods, speeds })
    }

    /// The proposal as it travels.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let function = self.function.unwrap_or(Announced::new(0, 0, 0));
        let mut bytes = Vec::with_capacity(PROPOSAL);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([u8::from(self.function.is_none()), u8::from(self.assumed.is_some())]);
        for number in [self.methods.0, function.inputs, function.outputs, function.runs] {
            bytes.extend(number.to_le_bytes());
        }
        let counts = function.counts.into_iter().flat_map(|counts| [counts.gates, counts.additions]);
        let line =
            self.assumed.map_or([0; 2], |line| [line.round_trip.as_micros() as u64, line.bits_per_second.unwrap_or(0)]);
        counts.chain([self.speed]).chain(line).for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(self.purpose.to_bytes());
        bytes
    }

    /// Reads a proposal.
    ///
    /// # Errors
    /// [`Error::Peer`] if no party sends it, [`Error::Incompatible`] if another version does.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Proposal> {
        let mut fields = Fields(bytes);
        if fields.take()? != MAGIC {
            return Err(Error::peer("it does not evaluate private functions: both parties give `duologue private`"));
        }
        let version = u16::from_le_bytes(fields.take()?);
        crate::offer::same("the version of private functions", VERSION.into(), version.into())?;
        let [role, assumed] = fields.take()?;
        let [methods, inputs, outputs, runs] = numbers(&mut fields)?;
        let mut counts = [Counts::default(); ROOM];
        for counts in &mut counts {
            *counts = Counts { gates: fields.number()?, additions: fields.number()? };
        }
        let [speed, round_trip, bits] = [fields.number()?, fields.number()?, fields.number()?];
        let line = Link {
            round_trip: Duration::from_micros(round_trip),
            bits_per_second: Some(bits).filter(|&bits| bits > 0),
        };
        let [purpose] = fields.take()?;
        let identity = fields.take()?;
        let proposal = Proposal {
            methods: Methods(methods),
            function: (role == 0).then_some(Announced { inputs, outputs, runs, counts }),
            speed,
            assumed: (assumed == 1).then_some(line),
            purpose: match purpose {
                0 => Purpose::Now,
                1 => Purpose::Keep,
                _ => Purpose::Kept(identity),
            },
        };
        // Of everything there is one encoding: so Bob announces no function, and nothing is left over.
        if proposal.to_bytes() != bytes {
            return Err(Error::peer("its proposal is none"));
        }
        let why = |why| Error::peer(format!("it announces a function of {why}"));
        proposal.function.map_or(Ok(()), |function| function.check(proposal.methods)).map_err(why)?;
        Ok(proposal)
    }
}

fn numbers<const N: usize>(fields: &mut Fields<'_>) -> Result<[u32; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = u32::from_le_bytes(fields.take()?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn function() -> Announced {
        Announced::new(64, 32, 3)
            .with(Method::Universal, Counts { gates: 1_900, additions: 0 })
            .with(Method::Dh, Counts { gates: 1_000, additions: 6_000 })
    }

    fn alice(methods: &[Method]) -> Proposal {
        Proposal {
            methods: methods.iter().copied().collect(),
            function: Some(function()),
            speed: 11,
            assumed: None,
            purpose: Purpose::Now,
        }
    }

    fn bob(methods: &[Method]) -> Proposal {
        Proposal { function: None, speed: 7, ..alice(methods) }
    }

    #[test]
    fn both_parties_agree_alike() {
        let both = [Method::Universal, Method::Dh];
        for (ours, theirs, common) in
            [(&both[..], &both[..], &both[..]), (&both, &both[..1], &both[..1]), (&both[1..], &both, &both[1..])]
        {
            let (alice, bob) = (alice(ours), bob(theirs));
            let [at_alice, at_bob] = [alice.agree(&bob), bob.agree(&alice)].map(|agreed| agreed.unwrap());
            assert_eq!(at_alice, at_bob);
            assert_eq!((at_alice.methods, at_alice.speeds), (common.to_vec(), [11, 7]));
        }
    }

    #[test]
    fn what_differs_is_named() {
        let text = |ours: Proposal, theirs: Proposal| ours.agree(&theirs).unwrap_err().to_string();
        let methods = text(alice(&[Method::Universal]), bob(&[Method::Dh]));
        assert!(
            methods.contains("the methods") && methods.contains("universal") && methods.contains("dh"),
            "{methods}"
        );
        let roles = text(bob(&[Method::Dh]), bob(&[Method::Dh]));
        assert!(roles.contains("we have the data") && roles.contains("it has the data too"), "{roles}");
        let kept = Proposal { purpose: Purpose::Kept([0xab; 32]), ..alice(&[Method::Dh]) };
        for (ours, words) in [
            (kept, "those of abababababababab"),
            (Proposal { purpose: Purpose::Kept([0xac; 32]), ..kept }, "those of acac"),
            (Proposal { purpose: Purpose::Keep, ..kept }, "to be prepared for later"),
        ] {
            let purposes = text(ours, bob(&[Method::Dh]));
            assert!(purposes.contains(words) && purposes.contains("for data that is there"), "{purposes}");
            assert!(ours.agree(&Proposal { purpose: ours.purpose, ..bob(&[Method::Dh]) }).is_ok());
        }
        assert!(text(kept, Proposal { purpose: Purpose::Kept([1; 32]), ..bob(&[Method::Dh]) }).contains("0101"));
        let line = Some("10ms,1Mbit".parse().unwrap());
        let lines = text(Proposal { assumed: line, ..alice(&Method::ALL) }, bob(&Method::ALL));
        assert!(lines.contains("10ms,1Mbit") && lines.contains("measured"), "{lines}");
        let one = Proposal { assumed: line, ..alice(&Method::ALL) }.agree(&bob(&[Method::Dh]));
        assert!(one.is_ok(), "where there is one method nothing is chosen");
    }

    /// Who announces too much hears it from itself, not from a peer that takes it for misbehaviour.
    #[test]
    fn what_cannot_be_announced_is_not_sent() {
        let function = Announced::new(MOST_BITS + 1, 1, 1).with(Method::Dh, Counts { gates: 1, additions: 0 });
        let ours = Proposal { function: Some(function), ..alice(&[Method::Dh]) };
        let (mut channel, mut peer) = Channel::pair();
        let many = Announced::new(1, 1, crate::MOST_RUNS + 1);
        let too_many = Proposal { function: Some(many), ..ours }.check().unwrap_err();
        assert!(matches!(&too_many, Error::Usage(why) if why.contains("1048577 runs")), "{too_many}");
        let error = ours.trade(&mut channel).unwrap_err();
        assert!(matches!(&error, Error::Usage(why) if why.contains("1048577 input bits")), "{error}");
        assert!(matches!(peer.recv(1), Err(Error::Aborted(_))), "nothing came before the end");
    }

    #[test]
    fn proposals_travel_as_described() {
        let mut sent = alice(&[Method::Dh]);
        sent.function = Some(Announced::new(0x0102, 1, 5).with(Method::Dh, Counts { gates: 9, additions: 8 }));
        sent.assumed = Some(Link { round_trip: Duration::from_millis(1), bits_per_second: None });
        let mut bytes = b"duo-func\x02\0\0\x01\x02\0\0\0\x02\x01\0\0\x01\0\0\0\x05\0\0\0".to_vec();
        for number in [0u64, 0, 9, 8].into_iter().chain([0; 12]).chain([11, 1000, 0]) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.push(2);
        bytes.extend([9; 32]);
        sent.purpose = Purpose::Kept([9; 32]);
        assert_eq!((bytes.len(), sent.to_bytes()), (PROPOSAL, bytes.clone()));
        assert_eq!(Proposal::from_bytes(&bytes).unwrap(), sent);
    }

    #[test]
    fn what_no_party_sends_is_refused() {
        let refused = |change: fn(&mut Vec<u8>), words: &str| {
            let mut bytes = alice(&Method::ALL).to_bytes();
            change(&mut bytes);
            let error = Proposal::from_bytes(&bytes).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            error
        };
        let version = refused(|bytes| bytes[8] = 9, "the version");
        assert!(matches!(version, Error::Incompatible { .. }));
        for error in [
            refused(|bytes| bytes[0] = b'D', "does not evaluate private functions"),
            refused(|bytes| bytes.truncate(20), "too short"),
            refused(|bytes| bytes.push(0), "its proposal is none"),
            refused(|bytes| bytes[10] = 1, "its proposal is none"),
            refused(|bytes| bytes[11] = 2, "its proposal is none"),
            refused(|bytes| bytes[12] = 1, "methods that it does not take"),
            refused(|bytes| bytes[16..20].fill(0), "0 input bits"),
            refused(|bytes| bytes[23] = 9, "output bits"),
            refused(|bytes| bytes[24..28].fill(0), "0 runs, and there are 1 to 1048576"),
            refused(|bytes| bytes[24..28].fill(0xff), "4294967295 runs"),
            refused(|bytes| bytes[180] = 3, "its proposal is none"),
            refused(|bytes| bytes[181] = 1, "its proposal is none"),
            refused(|bytes| bytes[32] = 1, "gates"),
        ] {
            assert!(matches!(error, Error::Peer(_)), "{error}");
        }
    }

    proptest! {
        /// Whatever comes is refused or is what would be sent.
        #[test]
        fn every_text_is_a_proposal_or_none(mut bytes: Vec<u8>, known in any::<bool>()) {
            if known {
                bytes.resize(PROPOSAL, 0);
                bytes[..12].copy_from_slice(&alice(&[]).to_bytes()[..12]);
            }
            if let Ok(proposal) = Proposal::from_bytes(&bytes) {
                prop_assert_eq!(proposal.to_bytes(), bytes);
            }
        }
    }
}
