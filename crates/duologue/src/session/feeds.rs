//! The inputs of a run, as the executor takes them.

use super::{Prepared, Session};
use crate::data::Inputs;
use crate::executor::Feeds;
use crate::{Error, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, BoundPort, Owner};
use std::sync::Arc;

impl Session {
    /// The inputs that this party gives: its own, the public ones, and its shares.
    pub(super) fn feeds(&self, binding: &Binding, inputs: &Inputs) -> Result<Feeds> {
        inputs.check_owner(binding, self.party)?;
        inputs.feeds(binding, |owner| owner != Owner::Party(self.party.peer()))
    }

    /// The inputs of a prepared program. Public ones are not needed again, and may not be others.
    pub(super) fn feeds_after(&self, prepared: &Prepared, inputs: &Inputs) -> Result<Feeds> {
        let Prepared { binding, public, .. } = prepared;
        let differs = |(port, used): &(&BoundPort<Owner>, &Option<Arc<BitMatrix>>)| {
            used.is_some() && inputs.get(&port.name).is_some_and(|given| Some(given) != used.as_deref())
        };
        if let Some((port, _)) = binding.inputs().iter().zip(public).find(differs) {
            return Err(Error::usage(format!("the public input '{}' is not the one that setup used", port.name)));
        }
        inputs.check_owner(binding, self.party)?;
        inputs.feeds(binding, |owner| owner == Owner::Shared || owner == Owner::Party(self.party))
    }
}

/// What both parties compare of the public inputs.
pub(super) fn digest(public: &Feeds) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 public inputs");
    for input in public.iter().flatten() {
        hasher.update(&(input.rows() as u64).to_le_bytes());
        hasher.update(&(input.lanes() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(input.words()));
    }
    hasher.finalize()
}
