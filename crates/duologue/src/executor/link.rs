//! What the executor asks of a session: bytes both ways, correlations, and somebody who watches.

use crate::correlation::{Demand, Stock};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Result};

/// The way to the peer. Any of a party's threads may use it.
pub(crate) trait Link: Send {
    /// Sends bytes, which may wait for [`flush`](Link::flush) or for the next receive.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;

    /// Sends all that an outbox holds, and empties it; its memory may be another's then.
    fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        self.send(outbox)?;
        outbox.clear();
        Ok(())
    }

    /// Lets nothing wait any longer.
    fn flush(&mut self) -> Result<()>;

    /// Reads exactly `count` bytes in place of what the inbox holds.
    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()>;

    /// Reads more of the exchange under way: what was sent since its first bytes were read belongs to the next exchange, and
    /// need not go out before.
    fn receive_more(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        self.receive(count, inbox)
    }

    /// Makes sure that `stock` has `demand`; `ahead` will be asked for later and may be made in the same exchange.
    fn supply(&mut self, stock: &mut Stock, demand: Demand, ahead: Demand) -> Result<()>;

    /// What opened a program and need not have come before; of several programs in their order.
    fn opening(&mut self) -> Result<Vec<u8>> {
        Err(Error::usage("nothing opens a program later"))
    }

    /// Whether it may send and receive while others compute.
    fn overlaps(&self) -> bool {
        true
    }

    /// ANDs done of all; an error cancels the run.
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> Result<()>;
}

/// No peer: for the plain protocol, which exchanges nothing.
pub(crate) struct NoPeer;

impl Link for NoPeer {
    fn send(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn receive(&mut self, _: usize, inbox: &mut Inbox) -> Result<()> {
        inbox.clear();
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, _: Demand, _: Demand) -> Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// A phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Before inputs are known.
    Setup,
    /// With inputs.
    Online,
}

/// How much may be under way at once; the parties agree on it, since it decides what shares a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Window {
    /// Bytes of cells that wait for their readers, beyond which no input is taken and no output waits.
    pub cells: usize,
    /// Bytes of maps.
    pub maps: usize,
}
