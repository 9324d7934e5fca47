//! The lengths of masked GMW: products of masks in setup, a bit an AND online.

use super::layout::{Group, Layout};
use super::products::messages;
use crate::Party;
use crate::correlation::Demand;
use crate::executor::{Exchange, Exchanges, Job, Lengths, PlanCache, Scheduling, StoredSize};
use crate::packed::byte_len;
use circuit::optimise::fuse::{Fused, Layer, MOST_INPUTS};
use circuit::plan::Plan;
use circuit::program::{Owner, Recipient, TaskKind};
use std::sync::Arc;

/// The lengths of one party of a program.
pub(super) struct MaskedGmwLengths {
    pub party: Party,
    pub plans: PlanCache,
}

/// Bytes of each exchange of a map's setup, each way.
struct Messages(Arc<Vec<usize>>);

/// Bytes of each layer of a fused plan, each way.
struct Layers(Arc<Vec<usize>>);

impl MaskedGmwLengths {
    /// A plan with ANDs of up to four inputs.
    pub fn fused(&self, plan: &Arc<Plan>) -> Arc<Fused> {
        self.plans.get(plan, 0, |plan| Fused::new(plan, MOST_INPUTS))
    }

    /// An exchange in which this party sends what is for the peer, and the peer what is for this party.
    fn to(&self, bytes: impl Fn(Party) -> usize) -> Exchanges {
        Exchanges::few([Some(Exchange::new(bytes(self.party.peer()), bytes(self.party))), None])
    }
}

impl Lengths for MaskedGmwLengths {
    fn scheduling(&self) -> Scheduling {
        Scheduling { one_way: false, side_by_side: true, cell_bits: 1 }
    }

    fn demand(&self, job: &Job) -> Demand {
        let products = job.plan.as_ref().map_or(0, |plan| self.fused(plan).products());
        Demand::of_triples(products as u64 * job.task.lanes as u64)
    }

    /// Products of the masks of a map, and the masks of outputs for whoever learns them.
    fn setup(&self, job: &Job) -> Exchanges {
        let lanes = job.task.lanes;
        match (&job.task.kind, &job.plan) {
            (TaskKind::Map { .. }, Some(plan)) => {
                let fused = self.fused(plan);
                let bytes = self.plans.get(plan, lanes, |_| Messages(Arc::new(messages(&fused, lanes))));
                Exchanges::many(bytes.0.clone(), Exchange::new(1, 1))
            }
            (TaskKind::Output { recipient, .. }, _) if *recipient != Recipient::Shared => {
                self.to(|party| if recipient.includes(party) { byte_len(job.bits()) } else { 0 })
            }
            _ => Exchanges::none(),
        }
    }

    fn online(&self, job: &Job) -> Exchanges {
        match (&job.task.kind, &job.plan) {
            (TaskKind::Input { owner, .. }, _) => {
                self.to(|party| if *owner == Owner::Party(party) { 0 } else { byte_len(job.bits()) })
            }
            (TaskKind::Map { .. }, Some(plan)) if job.task.lanes > 0 => {
                let (lanes, fused) = (job.task.lanes, self.fused(plan));
                let bytes = || fused.layers().iter().map(|layer| layer_bytes(layer, lanes)).collect();
                let layers = self.plans.get(plan, lanes, |_| Layers(Arc::new(bytes())));
                Exchanges::many(layers.0.clone(), Exchange::new(1, 1))
            }
            _ => Exchanges::none(),
        }
    }

    /// Masks, and shares of their products.
    fn stored(&self, job: &Job) -> StoredSize {
        let planes = job.plan.as_ref().map_or(job.task.rows, |plan| self.fused(plan).planes());
        StoredSize { labels: ((planes * job.task.lanes) as u64).div_ceil(8), tables: 0 }
    }

    fn depths(&self, plan: &Arc<Plan>, inputs: &[u32]) -> Vec<u32> {
        self.fused(plan).depths(inputs)
    }
}

/// Bytes of a layer each way: each number of inputs is filled up to a byte.
fn layer_bytes(layer: &Layer, lanes: usize) -> usize {
    let layout = Layout::new(lanes);
    Group::of(layer).iter().map(|group| layout.bytes(group.ands)).sum()
}
