//! The lengths of GMW: setup sends nothing but correlations, online each layer is opened in one exchange.

use super::narrow::MOST_LANES;
use crate::Party;
use crate::correlation::Demand;
use crate::executor::{Exchange, Exchanges, Job, Lengths, PlanCache, Scheduling, StoredSize};
use crate::packed::byte_len;
use circuit::plan::Plan;
use circuit::program::{Owner, Recipient, TaskKind};
use std::sync::Arc;

/// The lengths of one party of a program.
pub(super) struct GmwLengths {
    pub party: Party,
    pub plans: PlanCache,
}

/// Bytes of each layer of a plan, each way.
struct Layers(Arc<Vec<usize>>);

impl Lengths for GmwLengths {
    fn scheduling(&self) -> Scheduling {
        Scheduling { one_way: false, side_by_side: true, cell_bits: 1 }
    }

    /// A COT each way for a vector, a triple for every other AND.
    fn demand(&self, job: &Job) -> Demand {
        let Some(plan) = &job.plan else { return Demand::NONE };
        let (lanes, cots) = (job.task.lanes as u64, (plan.vectors().len() * job.task.lanes) as u64);
        let triples = Demand::of_triples((plan.ands() - plan.vector_ands()) * lanes);
        triples + Demand::of_cots(Party::Alice, cots) + Demand::of_cots(Party::Bob, cots)
    }

    fn online(&self, job: &Job) -> Exchanges {
        match job.task.kind {
            TaskKind::Map { .. } => self.layers(job),
            TaskKind::Output { recipient, .. } if recipient != Recipient::Shared => {
                let to = |party| if recipient.includes(party) { byte_len(job.bits()) } else { 0 };
                Exchanges::few([Some(Exchange::new(to(self.party.peer()), to(self.party))), None])
            }
            _ => Exchanges::none(),
        }
    }

    /// Shares of inputs, and a triple for each AND.
    fn stored(&self, job: &Job) -> StoredSize {
        let bits = match job.task.kind {
            TaskKind::Input { owner: Owner::Party(_), .. } => job.bits() as u64,
            _ => 3 * job.ands(),
        };
        StoredSize { labels: bits.div_ceil(8), tables: 0 }
    }
}

impl GmwLengths {
    fn layers(&self, job: &Job) -> Exchanges {
        let Some(plan) = job.plan.as_ref().filter(|_| job.task.lanes > 0) else { return Exchanges::none() };
        let lanes = job.task.lanes;
        let bytes = |plan: &Plan| opened_rows(plan, lanes).map(|rows| byte_len(rows * lanes)).collect();
        let layers = self.plans.get(plan, lanes, |plan| Layers(Arc::new(bytes(plan))));
        Exchanges::many(layers.0.clone(), Exchange::new(1, 1))
    }
}

/// Rows of `lanes` bits that a party opens in each layer of a plan: d and e of every AND, but d once for a vector.
pub(super) fn opened_rows(plan: &Plan, lanes: usize) -> impl Iterator<Item = usize> {
    let mut vectors = if lanes > MOST_LANES { plan.vectors() } else { &[] }.iter().peekable();
    plan.layers().iter().map(move |layer| {
        let mut rows = 2 * layer.len();
        while let Some(vector) = vectors.next_if(|vector| vector.end <= layer.end) {
            rows -= vector.len() - 1;
        }
        rows
    })
}
