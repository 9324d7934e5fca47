//! What the drivers of the two parties tell each other, in bytes.
//!
//! A message is a length of two bytes, little-endian, then a byte for its kind, then its fields; numbers are little-endian.
//!
//! | kind | message | fields |
//! |--:|---|---|
//! | 1 | a worker is free | |
//! | 2 | a free worker is gone | |
//! | 3 | an attempt begins | shard u32, attempt u32 |
//! | 4 | the sender's worker is ready | shard, attempt, its public key (32 bytes), its address (UTF-8) or nothing |
//! | 5 | the sender's worker is done | shard, attempt, microseconds u64, bytes sent u64, bytes received u64 |
//! | 6 | the sender's worker has failed | shard, attempt, reason u8 |
//! | 7 | all shards are finished: nothing follows | |
//! | 8 | the job has failed: nothing follows | |

use crate::channel::PublicKey;
use crate::{Error, Result};
use std::fmt;

/// The most bytes of a message's body.
pub const MOST_BODY: usize = 1 + 8 + 32 + MOST_ADDRESS;

/// The most bytes of a worker's address.
pub const MOST_ADDRESS: usize = 300;

/// A try at a shard. No two of a job have the same numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attempt {
    /// The shard, from 0 on.
    pub shard: u32,
    /// Which try at it, from 1 on.
    pub number: u32,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {}, attempt {}", self.shard, self.number)
    }
}

/// Where and as whom a party's worker is met in one attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Its key, which serves for this attempt alone.
    pub key: PublicKey,
    /// Where it listens, `host:port`; empty if it connects.
    pub address: String,
}

/// What an attempt took, as one party's worker saw it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Costs {
    /// Microseconds from the start of the attempt to its outputs on the disk.
    pub micros: u64,
    /// Bytes that the session sent.
    pub sent: u64,
    /// Bytes that the session received.
    pub received: u64,
    /// Microseconds that its run was predicted to take, if they were. Not told to the other driver, which has them of its own worker.
    pub predicted: Option<u64>,
}

/// Why a party's side of an attempt failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The worker, or the connection to it, was lost.
    WorkerLost,
    /// The workers lost each other.
    Connection,
    /// It took longer than the deadline.
    Deadline,
    /// The operating system refused: a disk that is full, say.
    Machine,
    /// An input cannot be used.
    Input,
    /// The other party's worker broke the protocol.
    Misbehaved,
    /// The workers do not agree on what to compute.
    Incompatible,
    /// No worker was free when the attempt began.
    NoWorker,
    /// The other party's side failed first.
    Other,
}

impl Reason {
    const ALL: [(u8, Reason, &'static str); 9] = [
        (1, Reason::WorkerLost, "its worker was lost"),
        (2, Reason::Connection, "its worker lost the other one"),
        (3, Reason::Deadline, "it took longer than the deadline"),
        (4, Reason::Machine, "its operating system refused"),
        (5, Reason::Input, "an input of it cannot be used"),
        (6, Reason::Misbehaved, "it says that the other party misbehaved"),
        (7, Reason::Incompatible, "its worker does not agree with the other one"),
        (8, Reason::NoWorker, "it had no free worker left"),
        (9, Reason::Other, "the other side failed"),
    ];

    /// Its number in a message.
    pub fn code(self) -> u8 {
        Self::ALL.iter().find(|(_, reason, _)| *reason == self).map_or(0, |(code, ..)| *code)
    }

    /// The reason of a number, if there is one.
    pub fn of_code(code: u8) -> Option<Reason> {
        Self::ALL.iter().find(|(known, ..)| *known == code).map(|(_, reason, _)| *reason)
    }

    /// Whether another attempt would end in the same way, or must not be made.
    pub fn is_final(self) -> bool {
        matches!(self, Reason::Input | Reason::Misbehaved | Reason::Incompatible)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.iter().find(|(_, reason, _)| reason == self);
        f.write_str(known.map_or("it gave no reason", |(_, _, text)| text))
    }
}

/// How a party's side of an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The outputs are on the disk.
    Done(Costs),
    /// There are none.
    Failed(Reason),
}

/// One message of a driver to the other party's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// One more worker is free.
    Free,
    /// A free worker was lost.
    Gone,
    /// An attempt begins: both drivers give it a worker.
    Begin(Attempt),
    /// The sender's worker is ready.
    Ready(Attempt, Offer),
    /// The sender's side has ended.
    Ended(Attempt, Verdict),
    /// All shards are finished: nothing follows.
    Finished,
    /// The job has failed: nothing follows.
    Failed,
}

impl Message {
    /// The message with its length before it.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Message::Free => body.push(1),
            Message::Gone => body.push(2),
            Message::Begin(attempt) => put(&mut body, 3, attempt),
            Message::Ready(attempt, offer) => {
                put(&mut body, 4, attempt);
                body.extend(offer.key.as_bytes());
                body.extend(offer.address.as_bytes());
            }
            Message::Ended(attempt, Verdict::Done(costs)) => {
                put(&mut body, 5, attempt);
                [costs.micros, costs.sent, costs.received].iter().for_each(|n| body.extend(n.to_le_bytes()));
            }
            Message::Ended(attempt, Verdict::Failed(reason)) => {
                put(&mut body, 6, attempt);
                body.push(reason.code());
            }
            Message::Finished => body.push(7),
            Message::Failed => body.push(8),
        }
        [&(body.len() as u16).to_le_bytes()[..], &body].concat()
    }

    /// Reads the body of a message.
    ///
    /// # Errors
    /// [`Error::Peer`] if it is none.
    pub fn decode(body: &[u8]) -> Result<Message> {
        let (&kind, mut rest) = body.split_first().ok_or_else(|| Error::peer("its message to our driver is empty"))?;
        let message = match kind {
            1 => Message::Free,
            2 => Message::Gone,
            3 => Message::Begin(attempt(&mut rest)?),
            4 => {
                let attempt = attempt(&mut rest)?;
                let key = PublicKey::from_bytes(take(&mut rest)?);
                let key = key.map_err(|_| Error::peer("the key of its worker is none"))?;
                let address = address(std::mem::take(&mut rest))?;
                Message::Ready(attempt, Offer { key, address })
            }
            5 => {
                let attempt = attempt(&mut rest)?;
                let mut number = || take(&mut rest).map(u64::from_le_bytes);
                let costs = Costs { micros: number()?, sent: number()?, received: number()?, predicted: None };
                Message::Ended(attempt, Verdict::Done(costs))
            }
            6 => {
                let (attempt, [code]) = (attempt(&mut rest)?, take(&mut rest)?);
                let reason = Reason::of_code(code).ok_or_else(|| Error::peer("it gave a reason that is none"))?;
                Message::Ended(attempt, Verdict::Failed(reason))
            }
            7 => Message::Finished,
            8 => Message::Failed,
            kind => return Err(Error::peer(format!("it sent our driver a message of kind {kind}, which is none"))),
        };
        if rest.is_empty() { Ok(message) } else { Err(Error::peer("its message to our driver is too long")) }
    }
}

fn put(body: &mut Vec<u8>, kind: u8, attempt: &Attempt) {
    body.push(kind);
    body.extend(attempt.shard.to_le_bytes());
    body.extend(attempt.number.to_le_bytes());
}

fn attempt(rest: &mut &[u8]) -> Result<Attempt> {
    Ok(Attempt { shard: u32::from_le_bytes(take(rest)?), number: u32::from_le_bytes(take(rest)?) })
}

/// The next bytes.
pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (taken, left) =
        rest.split_first_chunk::<N>().ok_or_else(|| Error::peer("its message to our driver is too short"))?;
    *rest = left;
    Ok(*taken)
}

/// An address is text that fits a terminal, since it is shown when nobody is there: a host and a port, or nothing.
fn address(bytes: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MOST_ADDRESS);
    let text = text.filter(|text| text.chars().all(|c| c.is_ascii_graphic()));
    let text = text.filter(|text| text.is_empty() || has_port(text));
    text.map(String::from).ok_or_else(|| Error::peer("the address of its worker is none"))
}

fn has_port(address: &str) -> bool {
    let port = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
    address.rsplit_once(':').is_some_and(port)
}
