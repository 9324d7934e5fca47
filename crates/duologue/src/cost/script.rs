//! The messages of every task, as lengths: what the protocols send, without the protocols.

use crate::Party;
use crate::correlation::Demand;
use crate::executor::Job;
use crate::packed::byte_len;
use crate::protocol::gmw;
use crate::protocol::masked_gmw::{self, Fusions};
use crate::protocol::terms::{Scheme, Terms};
use crate::protocol::yao::{self, LABEL};
use circuit::program::{Kind, Owner, Recipient};

/// Whose messages are counted.
pub(super) enum Role {
    Gmw {
        party: Party,
    },
    Masked {
        party: Party,
        fusions: Fusions,
    },
    /// With the bytes of an AND's table.
    Garbler {
        party: Party,
        ahead: bool,
        table: usize,
    },
    Evaluator {
        party: Party,
        ahead: bool,
        table: usize,
    },
}

impl Role {
    pub fn of(party: Party, terms: &Terms) -> Role {
        let (ahead, table) = (terms.ahead, terms.garbling.table());
        match terms.scheme {
            Scheme::Gmw => Role::Gmw { party },
            Scheme::Masked => Role::Masked { party, fusions: Fusions::default() },
            Scheme::Yao if terms.garbler == party => Role::Garbler { party, ahead, table },
            Scheme::Yao => Role::Evaluator { party, ahead, table },
        }
    }

    pub fn demand(&self, job: &Job) -> Demand {
        match *self {
            Role::Gmw { .. } => gmw::demand(job),
            Role::Masked { ref fusions, .. } => fusions.demand(job),
            Role::Garbler { party, .. } => yao::input::demand(job, party),
            Role::Evaluator { party, .. } => yao::input::demand(job, party.peer()),
        }
    }

    /// The exchanges in which setup of a task is completed, as sent and read.
    pub fn answers(&self, job: &Job) -> Vec<(usize, usize)> {
        let Role::Masked { party, fusions } = self else { return Vec::new() };
        match (&job.task.kind, &job.plan) {
            (Kind::Map { .. }, Some(plan)) => {
                let messages = masked_gmw::messages(&fusions.of(plan).fused, job.task.lanes);
                messages.into_iter().map(|bytes| (bytes, bytes)).collect()
            }
            (Kind::Output { recipient, .. }, _) => {
                masks_of(*recipient, *party, byte_len(job.task.rows * job.task.lanes))
            }
            _ => Vec::new(),
        }
    }

    /// Bits that a task keeps from setup until it runs, where they are counted task by task.
    pub fn kept(&self, job: &Job) -> u64 {
        let Role::Masked { fusions, .. } = self else { return 0 };
        let planes = job.plan.as_ref().map_or(job.task.rows, |plan| fusions.of(plan).fused.planes());
        (planes * job.task.lanes) as u64
    }

    /// Bytes of setup without answers, sent and read.
    pub fn setup(&self, job: &Job) -> (usize, usize) {
        match *self {
            Role::Garbler { party, ahead: true, table } => (yao::ahead_bytes(job, party.peer(), table), 0),
            Role::Evaluator { party, ahead: true, table } => (0, yao::ahead_bytes(job, party, table)),
            _ => (0, 0),
        }
    }

    /// The exchanges of a task online, as sent and read.
    pub fn online(&self, job: &Job) -> Vec<(usize, usize)> {
        let bits = job.task.rows * job.task.lanes;
        match (&job.task.kind, self) {
            (Kind::Input { .. }, Role::Gmw { .. }) | (Kind::Output { .. }, Role::Masked { .. }) => vec![],
            (Kind::Input { owner, .. }, Role::Masked { party, .. }) => {
                let by = |who: Party| if *owner == Owner::Party(who.peer()) { 0 } else { byte_len(bits) };
                vec![(by(*party), by(party.peer()))]
            }
            (Kind::Map { .. }, Role::Masked { fusions, .. }) => opened(job, fusions),
            (Kind::Input { .. }, &Role::Garbler { party, ahead, .. }) => {
                input(job, party, ahead).map(|(up, down)| (down, up)).collect()
            }
            (Kind::Input { .. }, &Role::Evaluator { party, ahead, .. }) => input(job, party.peer(), ahead).collect(),
            (Kind::Map { .. }, Role::Gmw { .. }) => layers(job).map(|bytes| (bytes, bytes)).collect(),
            (Kind::Map { .. }, &Role::Garbler { ahead: false, table, .. }) => {
                chunks(job, table).map(|bytes| (bytes, 0)).collect()
            }
            (Kind::Map { .. }, &Role::Evaluator { ahead: false, table, .. }) => {
                chunks(job, table).map(|bytes| (0, bytes)).collect()
            }
            (Kind::Output { recipient, .. }, role) => role.output(*recipient, byte_len(bits)),
            _ => vec![],
        }
    }

    fn output(&self, recipient: Recipient, bytes: usize) -> Vec<(usize, usize)> {
        let learns = |party| recipient.includes(party);
        let when = |yes: bool| if yes { bytes } else { 0 };
        match *self {
            Role::Masked { .. } => vec![],
            Role::Gmw { .. } if recipient == Recipient::Shared => vec![],
            Role::Gmw { party } => vec![(when(learns(party.peer())), when(learns(party)))],
            // The garbler's permute bits may have travelled in setup.
            Role::Garbler { party, ahead, .. } => vec![(when(learns(party.peer()) && !ahead), when(learns(party)))],
            Role::Evaluator { party, ahead, .. } => vec![(when(learns(party.peer())), when(learns(party) && !ahead))],
        }
    }
}

/// Bytes of each exchange of an input of Yao, from the evaluator and to it: masked bits, then labels if tables are
/// ready.
fn input(job: &Job, garbler: Party, ahead: bool) -> impl Iterator<Item = (usize, usize)> {
    let bits = job.task.rows * job.task.lanes;
    let masked = (yao::input::demand(job, garbler) != Demand::NONE).then_some((byte_len(bits), 0));
    masked.into_iter().chain(ahead.then_some((0, bits * LABEL)))
}

/// Shares of an output's mask, which go to whoever learns the output.
fn masks_of(recipient: Recipient, party: Party, bytes: usize) -> Vec<(usize, usize)> {
    let to = |who: Party| if recipient.includes(who) { bytes } else { 0 };
    if recipient == Recipient::Shared { Vec::new() } else { vec![(to(party.peer()), to(party))] }
}

/// Bytes of each layer of a fused plan.
fn opened(job: &Job, fusions: &Fusions) -> Vec<(usize, usize)> {
    let Some(plan) = job.plan.as_ref().filter(|_| job.task.lanes > 0) else { return Vec::new() };
    let fusion = fusions.of(plan);
    let bytes = fusion.fused.layers().iter().map(|layer| masked_gmw::layer_bytes(layer, job.task.lanes));
    bytes.map(|bytes| (bytes, bytes)).collect()
}

/// Bytes of each layer's opening.
fn layers(job: &Job) -> impl Iterator<Item = usize> {
    let lanes = job.task.lanes;
    let rows = job.plan.iter().filter(move |_| lanes > 0).flat_map(move |plan| gmw::opened_rows(plan, lanes));
    rows.map(move |rows| byte_len(rows * lanes))
}

/// Bytes of each chunk of tables.
fn chunks(job: &Job, table: usize) -> impl Iterator<Item = usize> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let plan = job.plan.as_ref().filter(|plan| job.task.lanes > 0 && next < plan.code().len())?;
        let (end, ands) = yao::chunk(plan, next, job.task.lanes);
        next = end;
        Some(ands * table)
    })
}
