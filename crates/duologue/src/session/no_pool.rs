//! Sessions without the feature `disk`, which have no pool.

use super::wire::Wire;
use crate::correlation::{Demand, Stock};
use crate::ot::Extension;
use crate::{Error, Result};

/// There is none.
pub(super) enum Pool {}

impl Wire {
    pub(super) fn maker_of_pool(&self) -> Option<Extension> {
        None
    }

    pub(super) fn left_in_pool(&self) -> Demand {
        Demand::NONE
    }

    pub(super) fn take_from_pool(&mut self, _: &mut Stock, _: Demand) -> Result<()> {
        Ok(())
    }
}

pub(super) fn never_again(_: &mut Option<Pool>, why: Error) -> Error {
    why
}
