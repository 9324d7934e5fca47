//! A batch file: correlations of one kind that were made together. An entry of the pool's folder.
//!
//! Its content is 16 bytes a COT (q or t); or the bits a, then b, then c of the triples, each in whole words of 64.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use kernels::Block;
use zeroize::{Zeroize, Zeroizing};

use super::DiskPool;
use super::kind::{CorrelationKind, each};
use crate::correlation::{Stock, Triples, bits::BitQueue};
use crate::ot::{Choices, Side};
use crate::storage::{Entry, EntryWriter, FileReader, Size};
use crate::{Error, Party, Result};

/// Whether the file of a batch has as many bytes as its correlations take, and no more of these than a file may have.
pub(super) fn check(entry: &Entry) -> std::result::Result<(), String> {
    let (kind, head) = (CorrelationKind::ALL[usize::from(entry.secret.kind)], &entry.secret);
    let fits = head.count <= kind.most() as u64 && head.bytes == kind.bytes(head.count as usize) as u64;
    fits.then_some(()).ok_or_else(|| format!("it claims {} correlations in {} bytes", head.count, head.bytes))
}

/// Writes the first correlations of `stock`, as many as one file takes: the entry, and the number after its last.
pub(super) fn write(
    folder: &DiskPool,
    (kind, first): (CorrelationKind, u64),
    batch: [u8; 32],
    stock: &mut Stock,
) -> Result<(EntryWriter, u64)> {
    let count = kind.available(stock).min(kind.most() as u64) as usize;
    let secret = kind.bytes(count) as u64;
    let size = Size { kind: kind as u8, first, count: count as u64, batch, secret, bulk: None };
    let mut writer = folder.write(&size)?;
    match kind.side(stock.party()) {
        Some(Side::Sender) => writer.secret(cast_slice(&Zeroizing::new(stock.draw_cot_sender(count)?)))?,
        Some(Side::Receiver) => {
            let Choices { mut bits, t } = stock.draw_cot_receiver(count)?;
            bits.zeroize();
            writer.secret(cast_slice(&Zeroizing::new(t)))?;
        }
        None => {
            let triples = stock.draw_triples(count)?;
            let written =
                [&triples.a, &triples.b, &triples.c].into_iter().try_for_each(|bits| writer.secret(cast_slice(bits)));
            erase(triples);
            written?;
        }
    }
    Ok((writer, first + count as u64))
}

/// Moves the correlations `range` of a batch into the stock.
pub(super) fn load(folder: &DiskPool, entry: &Entry, range: Range<u64>, stock: &mut Stock) -> Result<()> {
    let (kind, head) = (CorrelationKind::ALL[usize::from(entry.secret.kind)], &entry.secret);
    let (skip, len) = ((range.start - head.first) as usize, (range.end - range.start) as usize);
    let mut file = folder.read(entry)?.secret;
    match kind.side(stock.party()) {
        Some(side) => stock.put_cots(side, std::mem::take(&mut *words::<Block>(&mut file, skip, len)?)),
        None => {
            let triples = triples(&mut file, head.count as usize, skip, len)?;
            stock.put_triples(&triples);
            erase(triples);
        }
    }
    Ok(())
}

/// Writes the first correlations of a batch again, as a batch of their own in the place of this one, which is erased.
pub(super) fn shorten(folder: &mut DiskPool, party: Party, entry: &Entry, count: u64) -> Result<()> {
    let (kind, first, batch) =
        (CorrelationKind::ALL[usize::from(entry.secret.kind)], entry.secret.first, entry.secret.batch);
    let mut stock = Stock::new(party);
    load(folder, entry, first..first + count, &mut stock)?;
    let (shorter, _) = write(folder, (kind, first), batch, &mut stock)?;
    folder.add(vec![shorter])
}

/// `len` words of a file after the first `skip`.
fn words<T: Pod + Zeroize>(file: &mut FileReader, skip: usize, len: usize) -> Result<Zeroizing<Vec<T>>> {
    let mut words = Zeroizing::new(vec![T::zeroed(); len]);
    file.read((skip * size_of::<T>()) as u64, cast_slice_mut(&mut words))?;
    Ok(words)
}

/// `len` of the `count` triples in a file, after the first `skip`.
fn triples(file: &mut FileReader, count: usize, skip: usize, len: usize) -> Result<Triples> {
    let (from, to) = (skip / 64, (skip + len).div_ceil(64));
    let mut bits = |share: usize| {
        let words = words::<u64>(file, share * count.div_ceil(64) + from, to - from)?;
        let mut queue = BitQueue::with_capacity(64 * words.len());
        queue.push(&words, skip % 64 + len);
        queue.draw(skip % 64).zeroize();
        let bits = queue.draw(len);
        queue.destroy();
        Ok::<_, Error>(bits)
    };
    Ok(Triples { a: bits(0)?, b: bits(1)?, c: bits(2)?, len })
}

impl CorrelationKind {
    /// Our side in COTs of this kind; none for triples.
    fn side(self, us: Party) -> Option<Side> {
        match self {
            CorrelationKind::Triples => None,
            CorrelationKind::CotsByAlice if us == Party::Alice => Some(Side::Sender),
            CorrelationKind::CotsByBob if us == Party::Bob => Some(Side::Sender),
            _ => Some(Side::Receiver),
        }
    }

    fn available(self, stock: &Stock) -> u64 {
        each(&stock.available())[self as usize]
    }
}

fn erase(triples: Triples) {
    let Triples { mut a, mut b, mut c, .. } = triples;
    a.zeroize();
    b.zeroize();
    c.zeroize();
}
