//! The lengths of Yao, in both timings.

use super::{LABEL, batch, output};
use crate::Party;
use crate::correlation::Demand;
use crate::executor::{Exchange, Exchanges, Job, Lengths, PlanCache, Scheduling, StoredSize};
use crate::packed::byte_len;
use crate::protocol::terms::Terms;
use circuit::program::{Owner, TaskKind};
use std::sync::Arc;

/// The lengths of one party of a program.
pub(crate) struct YaoLengths {
    pub party: Party,
    pub garbler: Party,
    /// Whether tables travel in setup.
    pub ahead: bool,
    /// Bytes of an AND's table.
    pub table: usize,
    pub plans: PlanCache,
}

/// ANDs of each chunk of a plan's tables, over all lanes.
struct Chunks(Arc<Vec<usize>>);

impl YaoLengths {
    pub fn new(terms: &Terms, party: Party, plans: &PlanCache) -> Self {
        let table = terms.garbling.table();
        YaoLengths { party, garbler: terms.garbler, ahead: terms.ahead, table, plans: plans.clone() }
    }

    fn garbles(&self) -> bool {
        self.party == self.garbler
    }

    /// Whether the evaluator holds bits of an input, alone or as a share: each takes a COT.
    pub fn takes_cots(&self, job: &Job) -> bool {
        matches!(job.task.kind, TaskKind::Input { owner, .. } if owner != Owner::Party(self.garbler)) && job.bits() > 0
    }

    /// An exchange in which the garbler sends some bytes, and the evaluator others.
    fn exchange(&self, garbler: usize, evaluator: usize) -> Exchange {
        let (sent, read) = if self.garbles() { (garbler, evaluator) } else { (evaluator, garbler) };
        Exchange::new(sent, read)
    }

    /// A map, chunk by chunk; `unit` is the exchange of one table.
    fn chunks(&self, job: &Job, unit: Exchange) -> Exchanges {
        let Some(plan) = job.plan.as_ref().filter(|_| job.task.lanes > 0) else { return Exchanges::none() };
        let lanes = job.task.lanes;
        let chunks = self.plans.get(plan, lanes, |plan| Chunks(Arc::new(batch::chunks(plan, lanes).collect())));
        Exchanges::many(chunks.0.clone(), unit)
    }
}

impl Lengths for YaoLengths {
    fn scheduling(&self) -> Scheduling {
        Scheduling { one_way: true, side_by_side: false, cell_bits: 128 }
    }

    /// The garbler sends S.
    fn opening(&self) -> Option<Exchange> {
        Some(self.exchange(LABEL, 0))
    }

    fn demand(&self, job: &Job) -> Demand {
        if self.takes_cots(job) { Demand::of_cots(self.garbler, job.bits() as u64) } else { Demand::NONE }
    }

    /// Ahead of time tables go to the evaluator, and the permute bits of what it learns.
    fn setup(&self, job: &Job) -> Exchanges {
        let table = self.exchange(self.table, 0);
        match job.task.kind {
            _ if !self.ahead => Exchanges::none(),
            TaskKind::Map { .. } if self.garbles() => self.chunks(job, table),
            TaskKind::Map { .. } => self.chunks(job, Exchange { tables: Some(self.table), ..table }),
            TaskKind::Output { .. } if output::learns(job, self.garbler.peer()) => {
                Exchanges::few([Some(self.exchange(byte_len(job.bits()), 0)), None])
            }
            _ => Exchanges::none(),
        }
    }

    /// Of an input masked bits go to the garbler, then labels to the evaluator if tables are ready. Of an output each
    /// party gets the other's bits if it learns the value, unless they came in setup.
    fn online(&self, job: &Job) -> Exchanges {
        let bytes = byte_len(job.bits());
        match job.task.kind {
            TaskKind::Input { .. } => {
                let masked = self.takes_cots(job).then(|| self.exchange(0, bytes));
                let labels = self.ahead.then(|| self.exchange(job.bits() * LABEL, 0));
                Exchanges::few([masked, labels])
            }
            TaskKind::Map { .. } if !self.ahead => self.chunks(job, self.exchange(self.table, 0)),
            TaskKind::Map { .. } if self.garbles() => Exchanges::none(),
            TaskKind::Map { .. } => self.chunks(job, Exchange { tables: Some(self.table), ..Exchange::default() }),
            TaskKind::Output { .. } => {
                let learns = |party| if output::learns(job, party) { bytes } else { 0 };
                let permute = if self.ahead { 0 } else { learns(self.garbler.peer()) };
                Exchanges::few([Some(self.exchange(permute, learns(self.garbler))), None])
            }
            _ => Exchanges::none(),
        }
    }

    /// | | garbler | evaluator |
    /// |---|---|---|
    /// | input bit that the evaluator holds, alone or as a share | B ⊕ q, 16 bytes | t, whose lowest bit is r, 16 bytes |
    /// | input bit of the garbler's own | B, 16 bytes | nothing |
    /// | AND | nothing | its table, 32 bytes, or 25 by three halves |
    /// | output | its permute bits, packed | those of what it learns, packed |
    fn stored(&self, job: &Job) -> StoredSize {
        let labels = match job.task.kind {
            _ if !self.ahead => 0,
            TaskKind::Input { .. } if self.garbles() || self.takes_cots(job) => job.bits() * LABEL,
            TaskKind::Output { .. } if self.garbles() || output::learns(job, self.party) => byte_len(job.bits()),
            _ => 0,
        };
        let tables = if self.ahead && !self.garbles() { job.ands() * self.table as u64 } else { 0 };
        StoredSize { labels: labels as u64, tables }
    }
}
