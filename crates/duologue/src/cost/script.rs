//! The messages of every task, as lengths: what the protocols send, without the protocols.

use crate::Party;
use crate::correlation::Demand;
use crate::garble::{self, LABEL, TABLE};
use crate::gmw;
use crate::packed::byte_len;
use crate::protocol::Job;
use crate::terms::{Scheme, Terms};
use circuit::program::{Kind, Recipient};

/// Whose messages are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Gmw { party: Party },
    Garbler { party: Party, ahead: bool },
    Evaluator { party: Party, ahead: bool },
}

impl Role {
    pub fn of(party: Party, terms: &Terms) -> Role {
        let ahead = terms.ahead;
        match terms.scheme {
            Scheme::Gmw => Role::Gmw { party },
            Scheme::Yao if terms.garbler == party => Role::Garbler { party, ahead },
            Scheme::Yao => Role::Evaluator { party, ahead },
        }
    }

    pub fn demand(&self, job: &Job) -> Demand {
        match *self {
            Role::Gmw { .. } => gmw::demand(job),
            Role::Garbler { party, .. } => garble::input::demand(job, party),
            Role::Evaluator { party, .. } => garble::input::demand(job, party.peer()),
        }
    }

    /// Bytes of setup, sent and read.
    pub fn setup(&self, job: &Job) -> (usize, usize) {
        match *self {
            Role::Garbler { party, ahead: true } => (garble::ahead_bytes(job, party.peer()), 0),
            Role::Evaluator { party, ahead: true } => (0, garble::ahead_bytes(job, party)),
            _ => (0, 0),
        }
    }

    /// The exchanges of a task online, as sent and read.
    pub fn online(&self, job: &Job) -> Vec<(usize, usize)> {
        let bits = job.task.rows * job.task.lanes;
        match (&job.task.kind, *self) {
            (Kind::Input { .. }, Role::Gmw { .. }) => vec![],
            (Kind::Input { .. }, Role::Garbler { party, ahead }) => {
                input(job, party, ahead).map(|(up, down)| (down, up)).collect()
            }
            (Kind::Input { .. }, Role::Evaluator { party, ahead }) => input(job, party.peer(), ahead).collect(),
            (Kind::Map { .. }, Role::Gmw { .. }) => layers(job).map(|bytes| (bytes, bytes)).collect(),
            (Kind::Map { .. }, Role::Garbler { ahead: false, .. }) => chunks(job).map(|bytes| (bytes, 0)).collect(),
            (Kind::Map { .. }, Role::Evaluator { ahead: false, .. }) => chunks(job).map(|bytes| (0, bytes)).collect(),
            (Kind::Output { recipient, .. }, role) => role.output(*recipient, byte_len(bits)),
            _ => vec![],
        }
    }

    fn output(&self, recipient: Recipient, bytes: usize) -> Vec<(usize, usize)> {
        let learns = |party| recipient.includes(party);
        let when = |yes: bool| if yes { bytes } else { 0 };
        match *self {
            Role::Gmw { .. } if recipient == Recipient::Shared => vec![],
            Role::Gmw { party } => vec![(when(learns(party.peer())), when(learns(party)))],
            // The garbler's permute bits may have travelled in setup.
            Role::Garbler { party, ahead } => vec![(when(learns(party.peer()) && !ahead), when(learns(party)))],
            Role::Evaluator { party, ahead } => vec![(when(learns(party.peer())), when(learns(party) && !ahead))],
        }
    }
}

/// Bytes of each exchange of an input of Yao, from the evaluator and to it: masked bits, then labels if tables are
/// ready.
fn input(job: &Job, garbler: Party, ahead: bool) -> impl Iterator<Item = (usize, usize)> {
    let bits = job.task.rows * job.task.lanes;
    let masked = (garble::input::demand(job, garbler) != Demand::NONE).then_some((byte_len(bits), 0));
    masked.into_iter().chain(ahead.then_some((0, bits * LABEL)))
}

/// Bytes of each layer's opening.
fn layers(job: &Job) -> impl Iterator<Item = usize> {
    let lanes = job.task.lanes;
    let rows = job.plan.iter().filter(move |_| lanes > 0).flat_map(move |plan| gmw::opened_rows(plan, lanes));
    rows.map(move |rows| byte_len(rows * lanes))
}

/// Bytes of each chunk of tables.
fn chunks(job: &Job) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let plan = job.plan.as_ref().filter(|plan| job.task.lanes > 0 && next < plan.code().len())?;
        let (end, ands) = garble::chunk(plan, next, job.task.lanes);
        next = end;
        Some(ands * TABLE)
    })
}
