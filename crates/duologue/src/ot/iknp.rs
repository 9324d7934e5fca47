//! OT extension: from 128 base OTs to any number of correlated OTs, by AES and XOR alone.
//!
//! Ishai, Kilian, Nissim, Petrank: *Extending Oblivious Transfers Efficiently* (CRYPTO 2003, §3) in
//! the form of Asharov, Lindell, Schneider, Zohner (CCS 2013, §4), without its last step, the hash,
//! which the users of a COT apply or not. The sender holds Δ and one seed k_i^{Δ_i} a *plane* i of
//! 128, the receiver both seeds. G expands a seed to one bit for each COT:
//!
//! ```text
//! Sender                                       Receiver
//!                                              r = G(k_0^0) ⊕ G(k_0^1)       its choice bits
//!                                              T_i = G(k_i^0)
//!                             ◀── U_i ──       U_i = T_i ⊕ G(k_i^1) ⊕ r      for i = 1 … 127
//! Q_i = G(k_i^{Δ_i}) ⊕ Δ_i·U_i
//! ```
//!
//! so Q_i = T_i ⊕ Δ_i·r; COT j is column j: q_j = t_j ⊕ r_j·Δ. The choice bits are random anyway, so
//! plane 0 defines them: U_0 would be zero and is not sent. r is hidden from the sender by the seed
//! that it lacks in that plane. Δ_0 is always 1, as point-and-permute needs it, so 127 bits of Δ are
//! secret.
//!
//! **Assumes** AES-128 in counter mode as a generator. **Security**: semi-honest parties only (a
//! malicious receiver that uses different r in different planes learns bits of Δ); the types say so.
//! **Cost** of a batch: one message, 127·16 bytes for each 128 COTs begun, receiver to sender.
//!
//! **Layout** of the message, in chunks of 128 × 128 COTs that stay in the cache: for each chunk,
//! planes 1 to 127 in order, each with one bit a COT, bit j of a plane in byte ⌊j/8⌋, least
//! significant first. The last chunk, and so each of its planes, ends at a multiple of 128 COTs;
//! the surplus COTs are dropped. The seeds' streams run on from batch to batch and are never read
//! twice.

use kernels::{Block, generator::Generator, transpose::transpose_128};
use zeroize::Zeroize;

use super::{CotMaker, CotReceiver, CotSender, Harvest, ReceiverSeeds, SenderSeeds, check_length, setup::COUNT};
use crate::Result;

/// COTs that one transposition of 128 × 128 bits makes.
const TILE: usize = 128;
/// Tiles to a chunk: planes of 2 kB each, 256 kB in all.
const CHUNK: usize = 128;
/// Blocks from one plane to the next: a chunk and one cache line, so that the blocks of a tile do
/// not compete for a few sets of the cache.
const STRIDE: usize = CHUNK + 4;

/// Holds Δ; secure against a peer that follows the protocol.
pub struct SemiHonestSender {
    id: [u8; 32],
    delta: Block,
    planes: Vec<Generator>,
    rows: Vec<Block>,
    flying: Option<Harvest>,
    batches: u64,
}

/// Holds the choices; secure against a peer that follows the protocol.
pub struct SemiHonestReceiver {
    id: [u8; 32],
    planes: Vec<[Generator; 2]>,
    rows: Vec<Block>,
    flying: Option<Harvest>,
    batches: u64,
}

/// COTs of a batch at most.
const BATCH: u64 = 1 << 19;

impl SemiHonestSender {
    /// The extension that these seeds are for.
    pub fn new(seeds: SenderSeeds) -> Self {
        let planes = seeds.keys.iter().map(|&key| Generator::from_seed(key)).collect();
        let rows = vec![Block::ZERO; COUNT * STRIDE];
        Self { id: seeds.id, delta: seeds.delta, planes, rows, flying: None, batches: 0 }
    }
}

impl SemiHonestReceiver {
    /// The extension that these seeds are for.
    pub fn new(seeds: ReceiverSeeds) -> Self {
        let planes = seeds.pairs.iter().map(|&pair| pair.map(Generator::from_seed)).collect();
        let rows = vec![Block::ZERO; COUNT * STRIDE];
        Self { id: seeds.id, planes, rows, flying: None, batches: 0 }
    }
}

fn salt(id: &[u8; 32], batches: &mut u64, message: &[u8]) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 IKNP: salt");
    hasher.update(id).update(&batches.to_le_bytes()).update(message);
    *batches += 1;
    Block::from_bytes(hasher.finalize().as_bytes()[..16].try_into().expect("16 bytes"))
}

impl CotMaker for SemiHonestReceiver {
    fn batch(&self, wanted: u64) -> usize {
        wanted.min(BATCH) as usize
    }

    fn ready(&self) -> bool {
        self.idle()
    }

    fn begin(&mut self, harvest: Harvest) -> Result<()> {
        self.flying = Some(harvest);
        Ok(())
    }

    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        let Self { id, planes, rows, flying, batches } = self;
        let Some(harvest) = flying else { return Ok(()) };
        let (count, begin) = (harvest.len(), outbox.len());
        let mut all = vec![Block::ZERO; count.next_multiple_of(TILE)];
        for t in all.chunks_mut(CHUNK * TILE) {
            let r = expand_pairs(planes, rows, t.len() / TILE, outbox);
            rows[..r.len()].copy_from_slice(&r);
            columns(rows, t);
        }
        harvest.slot().received(salt(id, batches, &outbox[begin..]), &all[..count]);
        all.zeroize();
        Ok(())
    }

    fn expect(&self) -> usize {
        0
    }

    fn receive(&mut self, inbox: &[u8]) -> Result<Option<Harvest>> {
        check_length("COT", inbox, 0)?;
        Ok(self.flying.take())
    }

    fn idle(&self) -> bool {
        self.flying.is_none()
    }
}

impl CotReceiver for SemiHonestReceiver {}

impl CotSender for SemiHonestSender {
    fn delta(&self) -> Block {
        self.delta
    }
}

impl CotMaker for SemiHonestSender {
    fn batch(&self, wanted: u64) -> usize {
        wanted.min(BATCH) as usize
    }

    fn ready(&self) -> bool {
        self.idle()
    }

    fn begin(&mut self, harvest: Harvest) -> Result<()> {
        self.flying = Some(harvest);
        Ok(())
    }

    fn send(&mut self, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn expect(&self) -> usize {
        self.flying.as_ref().map_or(0, |harvest| message_len(harvest.len()))
    }

    fn receive(&mut self, inbox: &[u8]) -> Result<Option<Harvest>> {
        check_length("COT", inbox, self.expect())?;
        let Some(mut harvest) = self.flying.take() else { return Ok(None) };
        let (mut planes, _) = inbox.as_chunks::<16>();
        let mut all = vec![Block::ZERO; harvest.len().next_multiple_of(TILE)];
        for q in all.chunks_mut(CHUNK * TILE) {
            let chunk = planes.split_off(..(COUNT - 1) * (q.len() / TILE)).unwrap_or(&[]);
            self.expand(chunk, q.len() / TILE);
            self.rows[..q.len() / TILE].fill(Block::ZERO);
            columns(&self.rows, q);
        }
        let salt = salt(&self.id, &mut self.batches, inbox);
        let count = harvest.len();
        harvest.slot().sent(salt, self.delta, &all[..count]);
        all.zeroize();
        Ok(Some(harvest))
    }

    fn idle(&self) -> bool {
        self.flying.is_none()
    }
}

/// Writes T_i to the rows and U_i to the outbox, for one chunk; returns r.
fn expand_pairs(planes: &mut [[Generator; 2]], rows: &mut [Block], tiles: usize, outbox: &mut Vec<u8>) -> Vec<Block> {
    let mut r = vec![Block::ZERO; tiles];
    let mut u = [Block::ZERO; CHUNK];
    for (plane, [zero, one]) in planes.iter_mut().enumerate() {
        let t = &mut rows[plane * STRIDE..][..tiles];
        let u = &mut u[..tiles];
        zero.fill_blocks(t);
        one.fill_blocks(u);
        if plane == 0 {
            xor_into(u, t);
            r.copy_from_slice(u);
        } else {
            u.iter_mut().zip(&*t).zip(&r).for_each(|((u, &t), &r)| *u ^= t ^ r);
            outbox.extend_from_slice(bytemuck::cast_slice(u));
        }
    }
    r
}

impl SemiHonestSender {
    /// Writes Q_i to the rows, for one chunk.
    fn expand(&mut self, u: &[[u8; 16]], tiles: usize) {
        for (plane, generator) in self.planes.iter_mut().enumerate() {
            let row = &mut self.rows[plane * STRIDE..][..tiles];
            generator.fill_blocks(row);
            if plane == 0 {
                continue;
            }
            let mask = Block::mask(self.delta.get() >> plane & 1 == 1);
            let u = &u[(plane - 1) * tiles..][..tiles];
            row.iter_mut().zip(u).for_each(|(q, &u)| *q ^= Block::from_bytes(u) & mask);
        }
    }
}

fn xor_into(to: &mut [Block], from: &[Block]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to ^= from);
}

/// The columns of the rows: `out` becomes the COTs of a chunk.
fn columns(rows: &[Block], out: &mut [Block]) {
    // Four tiles at a time: whole cache lines of each row.
    for (group, out) in out.chunks_mut(4 * TILE).enumerate() {
        let (tiles, _) = out.as_chunks_mut::<TILE>();
        for (plane, row) in rows.chunks_exact(STRIDE).enumerate() {
            for (tile, &block) in tiles.iter_mut().zip(&row[4 * group..]) {
                tile[plane] = block;
            }
        }
        tiles.iter_mut().for_each(transpose_128);
    }
}

pub(crate) fn message_len(count: usize) -> usize {
    count.div_ceil(TILE) * (COUNT - 1) * 16
}

impl Drop for SemiHonestSender {
    fn drop(&mut self) {
        self.delta.zeroize();
        self.rows.zeroize();
    }
}

impl Drop for SemiHonestReceiver {
    fn drop(&mut self) {
        self.rows.zeroize();
    }
}

#[cfg(test)]
mod tests;
