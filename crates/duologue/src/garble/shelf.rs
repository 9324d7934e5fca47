//! Yao on a shelf: what each party keeps of a task between setup and online. The garbler's part stands above the
//! evaluator's.
//!
//! | | garbler | evaluator |
//! |---|---|---|
//! | input bit that the evaluator holds, alone or as a share | B ⊕ q, 16 bytes | t, whose lowest bit is r, 16 bytes |
//! | input bit of the garbler's own | B, 16 bytes | nothing |
//! | AND | nothing | its table, 32 bytes, or 25 by three halves |
//! | output | its permute bits, packed | those of what it learns, packed |

use super::input::{self, EvaluatorInput, GarblerInput};
use super::walk::Walk;
use super::{Evaluator, Garbled, Garbler, LABEL, Received, output};
use crate::Result;
use crate::cells::Labels;
use crate::correlation::Stock;
use crate::executor::Link;
use crate::executor::shelf::Shelved;
use crate::outbox::{Inbox, Outbox};
use crate::packed::{byte_len, pack, unpack};
use crate::prepared::{RunReader, RunWriter, StoredSize, TableReader};
use crate::protocol::{Arg, Job};
use circuit::program::Kind;
use kernels::Block;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes of tables that travel and are written at once.
const AT_ONCE: usize = 1 << 18;

/// Tables of a task that came ahead.
pub struct Tables(Place);

enum Place {
    /// In this session.
    Here(Inbox),
    /// In an earlier one.
    Shelf(TableReader),
}

impl Tables {
    pub(super) fn here(tables: &[u8]) -> Tables {
        let mut kept = Inbox::default();
        kept.extend_from_slice(tables);
        Tables(Place::Here(kept))
    }

    /// The next tables, of so many bytes each, and the instruction up to which they suffice.
    pub(super) fn next(&mut self, walk: &Walk, table: usize) -> Result<(usize, &[u8])> {
        match &mut self.0 {
            Place::Here(tables) => Ok((walk.end(), tables)),
            Place::Shelf(tables) => {
                let (end, ands) = walk.chunk();
                Ok((end, tables.next(ands * table)?))
            }
        }
    }
}

impl Shelved for Garbler {
    fn kept(&self, job: &Job) -> StoredSize {
        let bits = job.task.rows * job.task.lanes;
        let labels = match job.task.kind {
            Kind::Input { .. } => bits * LABEL,
            Kind::Output { .. } => byte_len(bits),
            _ => 0,
        };
        StoredSize { labels: labels as u64, tables: 0 }
    }

    fn prepare_to(
        &self,
        job: &Job,
        args: &[Arg<'_, Labels>],
        stock: &mut Stock,
        link: &mut dyn Link,
        making: &mut RunWriter,
    ) -> Result<Labels> {
        let mut outbox = Outbox::default();
        match &job.task.kind {
            Kind::Input { .. } => {
                let zeros = input::base_labels(&self.labels, &self.base, job, &self.spare);
                making.labels(bytemuck::cast_slice(GarblerInput::prepare(self, job, stock)?.sums().blocks()))?;
                Ok(zeros)
            }
            Kind::Map { .. } => {
                let mut walk = self.walk(job, args);
                while !walk.is_done() {
                    let chunk = walk.chunk();
                    self.garble(&mut walk, chunk, &job.public, &mut outbox);
                    link.send(&outbox)?;
                    outbox.clear();
                }
                Ok(self.made(&mut walk, &job.public))
            }
            Kind::Output { wiring, .. } => {
                outbox.extend_from_slice(pack(&output::permute_bits(self, job, wiring, args)).bytes());
                if output::learns(job, self.party.peer()) {
                    link.send(&outbox)?;
                }
                making.labels(&outbox)?;
                Ok(Labels::absent())
            }
            _ => Ok(Labels::absent()),
        }
    }

    fn restore(&self, job: &Job, run: &Arc<RunReader>, at: StoredSize) -> Result<Garbled> {
        Ok(match &job.task.kind {
            Kind::Input { .. } => {
                let mut sums = self.spare.zeros(job.task.rows, job.task.lanes);
                run.labels(at, bytemuck::cast_slice_mut(sums.blocks_mut()))?;
                Garbled::Input(GarblerInput::of_sums(sums))
            }
            Kind::Output { .. } => {
                let bytes = read(run, at, self.kept(job))?;
                Garbled::Permute(unpack(&bytes, job.task.rows, job.task.lanes))
            }
            _ => Garbled::Sent,
        })
    }
}

impl Shelved for Evaluator {
    fn kept(&self, job: &Job) -> StoredSize {
        let bits = job.task.rows * job.task.lanes;
        let labels = match job.task.kind {
            Kind::Input { .. } => input::demand(job, self.party.peer()).cots_by(self.party.peer()) as usize * LABEL,
            Kind::Output { .. } if output::learns(job, self.party) => byte_len(bits),
            _ => 0,
        };
        StoredSize { labels: labels as u64, tables: job.ands() * self.hash.table() as u64 }
    }

    fn prepare_to(
        &self,
        job: &Job,
        _: &[Arg<'_, Labels>],
        stock: &mut Stock,
        link: &mut dyn Link,
        making: &mut RunWriter,
    ) -> Result<Labels> {
        let (mut inbox, kept) = (Inbox::default(), self.kept(job));
        match job.task.kind {
            Kind::Input { .. } => {
                let choices = stock.draw_cot_receiver(kept.labels as usize / LABEL)?;
                making.labels(bytemuck::cast_slice(&Zeroizing::new(choices.t)))?;
            }
            Kind::Map { .. } => {
                let mut left = kept.tables as usize;
                while left > 0 {
                    link.receive(left.min(AT_ONCE), &mut inbox)?;
                    making.tables(&inbox)?;
                    left -= inbox.len();
                }
            }
            _ => {
                link.receive(kept.labels as usize, &mut inbox)?;
                making.labels(&inbox)?;
            }
        }
        Ok(Labels::absent())
    }

    fn restore(&self, job: &Job, run: &Arc<RunReader>, at: StoredSize) -> Result<Received> {
        let kept = self.kept(job);
        Ok(match &job.task.kind {
            Kind::Input { .. } => {
                let own = input::demand(job, self.party.peer()) != crate::correlation::Demand::NONE;
                let t = own.then(|| read_blocks(run, at, kept.labels as usize / LABEL)).transpose()?;
                Received::Input(EvaluatorInput::of_choices(t))
            }
            Kind::Map { .. } => Received::Tables(Tables(Place::Shelf(TableReader::new(run.clone(), at)))),
            _ if output::learns(job, self.party) => {
                Received::Permute(unpack(&read(run, at, kept)?, job.task.rows, job.task.lanes))
            }
            _ => Received::Later,
        })
    }
}

fn read(run: &RunReader, at: StoredSize, kept: StoredSize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; kept.labels as usize];
    run.labels(at, &mut bytes).map(|()| bytes)
}

fn read_blocks(run: &RunReader, at: StoredSize, count: usize) -> Result<Vec<Block>> {
    let mut blocks = vec![Block::ZERO; count];
    run.labels(at, bytemuck::cast_slice_mut(&mut blocks)).map(|()| blocks)
}
