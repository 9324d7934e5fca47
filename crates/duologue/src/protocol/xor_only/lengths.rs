//! The lengths of XOR-only: shares of outputs.

use crate::Party;
use crate::correlation::Demand;
use crate::executor::{Exchange, Exchanges, Job, Lengths, Scheduling};
use crate::packed::byte_len;
use crate::prepared::StoredSize;
use circuit::program::{Kind, Recipient};

/// The lengths of one party of a program.
pub(super) struct XorOnlyLengths {
    pub party: Party,
}

impl Lengths for XorOnlyLengths {
    fn scheduling(&self) -> Scheduling {
        Scheduling { one_way: false, side_by_side: true, cell_bits: 1 }
    }

    fn demand(&self, _: &Job) -> Demand {
        Demand::NONE
    }

    fn online(&self, job: &Job) -> Exchanges {
        match job.task.kind {
            Kind::Output { recipient, .. } if recipient != Recipient::Shared => {
                let to = |party| if recipient.includes(party) { byte_len(job.bits()) } else { 0 };
                Exchanges::few([Some(Exchange::new(to(self.party.peer()), to(self.party))), None])
            }
            _ => Exchanges::none(),
        }
    }

    fn stored(&self, _: &Job) -> StoredSize {
        StoredSize::default()
    }
}
