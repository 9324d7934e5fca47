//! Outputs of Yao: the lowest bits of the two labels of a wire are XOR shares of its value.
//!
//! Whoever learns an output gets the other's bits: the evaluator the garbler's permute bits, which may travel in setup,
//! the garbler the active labels' lowest bits. Of a shared output nothing is sent. No label is ever sent back.

use super::labels::Labels;
use super::labels::low_bits;
use super::{Evaluator, Garbler};
use crate::executor::cells;
use crate::executor::{Arg, Flow, Job, Made};
use crate::outbox::Outbox;
use crate::packed::{byte_len, pack, unpack};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Piece, Recipient, TaskKind};
use zeroize::Zeroizing;

/// Whether a party learns the output of a task; never if it is another task or shared.
pub(super) fn learns(job: &Job, party: Party) -> bool {
    matches!(job.task.kind, TaskKind::Output { recipient, .. } if recipient.includes(party))
}

/// An output at either party.
pub struct Opening {
    /// The lowest bits of this party's labels.
    ours: BitMatrix,
    /// The peer's, if they came in setup.
    theirs: Option<BitMatrix>,
    /// Whether ours are still to be sent.
    send: bool,
    sent: bool,
}

impl Opening {
    /// At the garbler: permute bits, which were `sent` in setup or go now.
    pub(super) fn of_garbler(garbler: &Garbler, job: &Job, ours: BitMatrix, sent: bool) -> Self {
        let send = !sent && learns(job, garbler.evaluator());
        Opening { ours, theirs: None, send, sent: false }
    }

    /// At the evaluator: the active labels' lowest bits, and the permute bits that came in setup, if any.
    pub(super) fn of_evaluator(
        evaluator: &Evaluator,
        job: &Job,
        wiring: &[Piece],
        args: &[Arg<'_, Labels>],
        theirs: Option<BitMatrix>,
    ) -> Self {
        let mut labels = evaluator.buffers.zeros(job.task.rows, job.task.lanes);
        for piece in wiring {
            if let Arg::Secret(arg) = args[piece.arg as usize] {
                cells::copy(&mut labels, arg, piece);
            }
        }
        let ours = low_bits(&labels, job.task.rows, job.task.lanes);
        Opening { ours, theirs, send: learns(job, evaluator.lengths.garbler), sent: false }
    }

    /// One exchange, then the value, a share, or nothing.
    pub(super) fn step(
        &mut self,
        job: &Job,
        party: Party,
        inbox: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Flow<Made<Labels>>> {
        let TaskKind::Output { recipient, .. } = job.task.kind else {
            return Err(Error::usage("not an output"));
        };
        let (rows, lanes) = (job.task.rows, job.task.lanes);
        if !self.sent {
            self.sent = true;
            if self.send {
                outbox.extend_from_slice(pack(&self.ours).bytes());
            }
            return Ok(Flow::Exchange);
        }
        Ok(Flow::Done(Made::Output(match recipient {
            Recipient::Shared => Some(self.ours.clone()),
            _ if !learns(job, party) => None,
            _ => {
                let theirs = self.theirs.take().unwrap_or_else(|| unpack(inbox, rows, lanes));
                Some(self.ours.xor(&theirs))
            }
        })))
    }
}

/// The permute bits of an output, which were stored.
pub(super) fn restore(job: &Job, read: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<BitMatrix> {
    let mut bytes = Zeroizing::new(vec![0; byte_len(job.bits())]);
    read(&mut bytes)?;
    Ok(unpack(&bytes, job.task.rows, job.task.lanes))
}

/// The garbler's permute bits of an output.
pub(super) fn permute_bits(garbler: &Garbler, job: &Job, wiring: &[Piece], args: &[Arg<'_, Labels>]) -> BitMatrix {
    let mut zeros = garbler.buffers.zeros(job.task.rows, job.task.lanes);
    for piece in wiring {
        match &args[piece.arg as usize] {
            Arg::Secret(arg) => cells::copy(&mut zeros, *arg, piece),
            Arg::Public(public) => cells::copy(&mut zeros, &garbler.lift_zeros(public), piece),
        }
    }
    low_bits(&zeros, job.task.rows, job.task.lanes)
}
