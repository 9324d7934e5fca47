//! The kinds of correlations, and what files say in fields of fixed size.

use data_encoding::HEXLOWER;

use crate::Party;
use crate::correlation::Demand;

/// Numbers that no pool reaches; sums of two stay far from overflow.
pub(super) const LIMIT: u64 = 1 << 47;

/// Kinds of correlations, each with numbers of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    CotsByAlice,
    CotsByBob,
    Triples,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::CotsByAlice, Kind::CotsByBob, Kind::Triples];

    /// The most correlations of a lot: at most 4 MiB, as little memory as is read for a few of them.
    pub(super) fn most(self) -> usize {
        match self {
            Kind::Triples => 1 << 20,
            _ => 1 << 18,
        }
    }

    /// Bytes of so many.
    pub(super) fn bytes(self, count: usize) -> usize {
        match self {
            Kind::Triples => 24 * count.div_ceil(64),
            _ => 16 * count,
        }
    }

    pub(super) fn name(self) -> &'static str {
        ["cots-by-alice", "cots-by-bob", "triples"][self as usize]
    }

    pub(super) fn words(self) -> &'static str {
        ["correlated OTs by alice", "correlated OTs by bob", "triples"][self as usize]
    }

    /// The kind of a lot by the name of its file.
    pub(super) fn of(name: &str) -> Option<Kind> {
        let hex = |number: &str| number.len() == 12 && number.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        Kind::ALL.into_iter().find(|kind| {
            let number = name.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix('-'));
            number.is_some_and(hex)
        })
    }
}

/// The half of a pool that a file belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    pub identity: [u8; 32],
    pub party: Party,
}

impl Owner {
    /// Whether a file with this owner belongs to the pool of `ours`.
    pub(super) fn check(&self, ours: &Owner) -> Result<(), String> {
        if self.identity != ours.identity {
            return Err(format!("it belongs to the pool {}, not to {}", self.name(), ours.name()));
        }
        if self.party != ours.party {
            return Err(format!("it is {}'s half, not {}'s", self.party, ours.party));
        }
        Ok(())
    }

    /// Enough of the identity for people to tell pools apart.
    pub(super) fn name(&self) -> String {
        HEXLOWER.encode(&self.identity[..8])
    }
}

pub(super) fn each(demand: &Demand) -> [u64; 3] {
    [demand.cots_by_alice, demand.cots_by_bob, demand.triples]
}

pub(super) fn demand([cots_by_alice, cots_by_bob, triples]: [u64; 3]) -> Demand {
    Demand { cots_by_alice, cots_by_bob, triples }
}

pub(super) fn zip(a: [u64; 3], b: [u64; 3], with: impl Fn(u64, u64) -> u64) -> [u64; 3] {
    std::array::from_fn(|i| with(a[i], b[i]))
}

/// Reads fields of fixed size; bytes that are missing or too many are an error.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (field, rest) = self.0.split_first_chunk().ok_or("it is too short")?;
        self.0 = rest;
        Ok(*field)
    }

    pub(super) fn number(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn party(&mut self) -> Result<Party, String> {
        match self.take()? {
            [0] => Ok(Party::Alice),
            [1] => Ok(Party::Bob),
            [other] => Err(format!("there is no party {other}")),
        }
    }

    pub(super) fn zeros<const N: usize>(&mut self) -> Result<(), String> {
        if self.take::<N>()? == [0; N] { Ok(()) } else { Err("unused bytes are not zero".into()) }
    }

    pub(super) fn end(&self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err("it is too long".into()) }
    }
}
