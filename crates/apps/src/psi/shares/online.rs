//! The online phase: receiver and sender, exchange by exchange.

use super::Carried;
use super::bins::{FUNCTIONS, Functions, Placed};
use super::layout::{Layout, Message};
use crate::psi::okvs::Rows;
use crate::psi::oprf::{self, KEY, Receiving, SEEDS, Sending};
use crate::vole::random;
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};
use duologue::{Error, Result};
use kernels::Block;
use std::ops::Range;

/// What F gives of a string: 128 bits of BLAKE3 under the call's key.
pub(super) fn mask(key: &[u8; KEY], value: Block, name: Block) -> Block {
    let mut input = [0; 32];
    input[..16].copy_from_slice(&value.to_bytes());
    input[16..].copy_from_slice(&name.to_bytes());
    Block::from_bytes(*blake3::keyed_hash(key, &input).as_bytes().first_chunk().expect("16 of 32 bytes"))
}

/// The rows of the sender's table under its seed.
pub(super) fn hint_rows(layout: &Layout, key: &[u8; KEY], seed: Block) -> Rows {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 PSI: hints");
    let seed = *hasher.update(key).update(&seed.to_bytes()).finalize().as_bytes();
    Rows::new(layout.hints, Block::from_bytes(*seed.first_chunk().expect("16 of 32 bytes")))
}

/// The party whose strings are in bins.
pub struct Receiver {
    layout: Layout,
    exchanges: Vec<(Message, Range<usize>)>,
    next: usize,
    seed: Block,
    placed: Placed,
    /// What stands for the strings in bins; none if a set is empty.
    names: Zeroizing<Vec<Block>>,
    oprf: Option<Receiving>,
    hint_seed: Block,
    /// The sender's table: sparse columns, then dense ones.
    hints: Vec<[u8; 16]>,
    /// Its own values, in bins.
    values: Vec<BitMatrix>,
}

/// The party that says of all its strings what is in their bins.
pub struct Sender {
    layout: Layout,
    exchanges: Vec<(Message, Range<usize>)>,
    next: usize,
    seed: Block,
    strings: Zeroizing<Vec<Block>>,
    /// None if a set is empty.
    oprf: Option<Sending>,
    /// Of each string its values, one after another above the bits of a tag.
    values: Zeroizing<Vec<Block>>,
    /// Of each bin the target, and above it the masks of values.
    targets: Zeroizing<Vec<Block>>,
    hint_seed: Block,
    hints: Zeroizing<Vec<Block>>,
}

fn own(layout: &Layout, us: Party, args: &[Option<BitMatrix>]) -> Result<Zeroizing<Vec<Block>>> {
    let strings = args.get(us as usize).and_then(Option::as_ref).ok_or_else(|| Error::usage("no strings"))?;
    debug_assert!([layout.placed, layout.hinted].contains(&strings.lanes()));
    Ok(oprf::strings(strings))
}

impl Receiver {
    pub fn new(layout: Layout, stored: Zeroizing<Vec<u8>>, args: &[Option<BitMatrix>]) -> Result<Receiver> {
        let (strings, exchanges) = (own(&layout, layout.receiver, args)?, layout.exchanges());
        let (mut seed, mut names, mut oprf) = (Block::ZERO, Zeroizing::default(), None);
        let key = stored.first_chunk().copied().unwrap_or_default();
        let (found, functions, placed) = place(&layout, &key, &strings)?;
        if !layout.is_empty() {
            (seed, names) = (found, placed.names(&functions, &strings));
            oprf = Some(Receiving::new(layout.shape, stored, &names)?);
        }
        let values = args.iter().skip(2).flatten().map(|value| in_bins(&layout, value, &placed)).collect();
        let (hints, hint_seed) = (Vec::new(), Block::ZERO);
        Ok(Receiver { layout, exchanges, next: 0, seed, placed, names, oprf, hint_seed, hints, values })
    }

    fn read(&mut self, inbox: &[u8]) {
        match self.next.checked_sub(1).and_then(|last| self.exchanges.get(last)) {
            Some((Message::Dense, _)) => {
                let (seed, dense) = inbox.as_chunks().0.split_first().expect("a seed before the dense columns");
                self.hint_seed = Block::from_bytes(*seed);
                self.hints = vec![[0; 16]; self.layout.hints.sparse];
                self.hints.extend_from_slice(dense);
            }
            Some((Message::Sparse, part)) => {
                let to = &mut self.hints[part.clone()];
                let entries = inbox.chunks_exact(self.layout.entry);
                to.iter_mut().zip(entries).for_each(|(to, entry)| to[..entry.len()].copy_from_slice(entry));
            }
            _ => {}
        }
    }

    /// Of each bin the tag, and above it the shares of the sender's values.
    fn outcome(&self) -> Result<Zeroizing<Vec<u128>>> {
        let mut bins = Zeroizing::new(vec![Block::ZERO; self.layout.bins]);
        let Some(oprf) = &self.oprf else { return Ok(Zeroizing::new(vec![0; self.layout.bins])) };
        random()?.fill_blocks(&mut bins);
        let (key, values) = (oprf.key(), oprf.values(&self.names));
        let masks = values.iter().zip(self.names.iter()).map(|(&value, &name)| mask(&key, value, name));
        let mut sums: Zeroizing<Vec<Block>> = Zeroizing::new(masks.collect());
        hint_rows(&self.layout, &key, self.hint_seed).decode(&self.hints, &self.names, &mut sums);
        self.placed.0.iter().zip(sums.iter()).for_each(|(place, &sum)| bins[place.bin] = sum);
        Ok(Zeroizing::new(bins.iter().map(|bin| bin.get()).collect()))
    }
}

/// A seed under which all strings have bins.
fn place(layout: &Layout, key: &[u8; KEY], strings: &[Block]) -> Result<(Block, Functions, Placed)> {
    let mut random = random()?;
    for _ in 0..SEEDS {
        let seed = random.block();
        let functions = Functions::new(layout.bins, key, seed);
        if let Some(placed) = functions.place(strings) {
            return Ok((seed, functions, placed));
        }
    }
    Err(Error::usage(format!("under none of {SEEDS} seeds the strings have bins: this should not happen")))
}

/// A value of the receiver's strings in the order of bins.
fn in_bins(layout: &Layout, value: &BitMatrix, placed: &Placed) -> BitMatrix {
    let mut binned = BitMatrix::zeros(value.rows(), layout.bins);
    for bit in 0..value.rows() {
        placed.0.iter().for_each(|place| binned.set(bit, place.bin, value.get(bit, place.row)));
    }
    binned
}

impl Receiver {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) {
        self.read(inbox);
        match (self.exchanges.get(self.next), &self.oprf) {
            (Some((Message::Bins, _)), _) => outbox.extend_from_slice(&self.seed.to_bytes()),
            (Some((Message::Table, part)), Some(oprf)) => outbox.extend_from_slice(&oprf.write(part.clone())),
            _ => {}
        }
        self.next += 1;
    }

    pub(super) fn end(mut self, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox);
        let outcome = self.outcome()?;
        results(&self.layout, self.layout.receiver, &outcome, self.values)
    }
}

impl Stage for Receiver {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox);
        Ok(())
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.end(inbox)
    }
}

impl Sender {
    pub fn new(layout: Layout, stored: Zeroizing<Vec<u8>>, args: &[Option<BitMatrix>]) -> Result<Sender> {
        let (strings, exchanges) = (own(&layout, layout.receiver.peer(), args)?, layout.exchanges());
        let (oprf, values) =
            ((!layout.is_empty()).then(|| Sending::new(layout.shape, &stored)), joined(&layout, args)?);
        let mut targets = Zeroizing::new(vec![Block::new(u128::MAX); layout.bins]);
        if oprf.is_some() {
            random()?.fill_blocks(&mut targets);
        }
        let (seed, hint_seed, hints) = (Block::ZERO, Block::ZERO, Zeroizing::default());
        Ok(Sender { layout, exchanges, next: 0, seed, strings, oprf, values, targets, hint_seed, hints })
    }

    /// The twin that masks no value, for a test.
    #[cfg(test)]
    pub(super) fn unmask(&mut self) {
        let tag = (1 << self.layout.tag) - 1;
        self.targets.iter_mut().for_each(|target| *target = Block::new(target.get() & tag));
    }

    fn read(&mut self, inbox: &[u8]) {
        match (self.next.checked_sub(1).and_then(|last| self.exchanges.get(last)), &mut self.oprf) {
            (Some((Message::Bins, _)), _) => {
                self.seed = Block::from_bytes(*inbox.first_chunk().expect("as many bytes as announced"));
            }
            (Some((Message::Table, part)), Some(oprf)) => oprf.read(part, inbox),
            _ => {}
        }
    }

    /// A seed and the table under it of all strings with all functions.
    fn prepare(&mut self) -> Result<()> {
        let (Some(oprf), mut random) = (self.oprf.take(), random()?) else { return Ok(()) };
        let [names, hints] = self.hints_of(&oprf);
        for _ in 0..SEEDS {
            let seed = random.block();
            let rows = hint_rows(&self.layout, &oprf.key, seed);
            if let Some(table) = rows.encode(&names, &hints, &mut random) {
                (self.hint_seed, self.hints) = (seed, Zeroizing::new(table));
                return Ok(());
            }
        }
        Err(Error::usage(format!("under none of {SEEDS} seeds the hints have a table: this should not happen")))
    }

    /// What stands for each string with each function, and what it shall decode to.
    fn hints_of(&self, oprf: &Sending) -> [Zeroizing<Vec<Block>>; 2] {
        let functions = Functions::new(self.layout.bins, &oprf.key, self.seed);
        let places = functions.places(&self.strings);
        let mut all = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(FUNCTIONS * self.strings.len())));
        let added = self.layout.added();
        for function in 0..FUNCTIONS {
            let names = functions.names(function, &self.strings);
            let values = oprf.values(&names);
            let masks = values.iter().zip(names.iter()).map(|(&value, &name)| mask(&oprf.key, value, name));
            let targets = places.iter().map(|places| self.targets[places[function] as usize]);
            let entries = targets.zip(self.values.iter()).map(|(to, &value)| entry_of(to, value, &added));
            all[1].extend(masks.zip(entries).map(|(mask, entry)| mask ^ entry));
            all[0].extend_from_slice(&names);
        }
        all
    }

    fn write(&self, message: Message, part: Range<usize>, outbox: &mut Outbox) {
        let (sparse, dense) = self.hints.split_at(self.layout.hints.sparse);
        match message {
            Message::Dense => {
                outbox.extend_from_slice(&self.hint_seed.to_bytes());
                outbox.extend_from_slice(bytemuck::cast_slice(dense));
            }
            _ => {
                let bytes = sparse[part].iter().flat_map(|entry| entry.to_bytes().into_iter().take(self.layout.entry));
                outbox.extend_from_slice(&bytes.collect::<Vec<u8>>());
            }
        }
    }
}

impl Layout {
    /// Whether a value is the receiver's.
    fn is_received(&self, how: Carried) -> bool {
        how.owner(self.receiver) == self.receiver
    }

    /// Where the sender's values lie above the bits of a tag.
    fn sent(&self) -> impl Iterator<Item = (Carried, u32, usize)> + '_ {
        let sent = self.values.iter().filter(|(how, _)| !self.is_received(*how));
        sent.scan(self.tag, |at, &(how, width)| Some((how, std::mem::replace(at, *at + width as u32), width)))
    }

    /// The bits of added values, in number and place.
    fn added(&self) -> Vec<(u32, u128)> {
        let added = self.sent().filter(|(how, ..)| matches!(how, Carried::Added(_)));
        added.map(|(_, at, width)| (at, low(width))).collect()
    }
}

/// So many ones.
fn low(width: usize) -> u128 {
    u128::MAX.checked_shr(128 - width as u32).unwrap_or(0)
}

/// The target of a bin with masks above it, and the values of a string: added ones are added, the others XORed.
fn entry_of(target: Block, values: Block, added: &[(u32, u128)]) -> Block {
    let (target, values) = (target.get(), values.get());
    let entry = added.iter().fold(target ^ values, |entry, &(at, mask)| {
        let sum = (target >> at).wrapping_add(values >> at) & mask;
        entry & !(mask << at) | sum << at
    });
    Block::new(entry)
}

/// Of each string of the sender its values, one after another above the bits of a tag.
fn joined(layout: &Layout, args: &[Option<BitMatrix>]) -> Result<Zeroizing<Vec<Block>>> {
    let mut all = Zeroizing::new(vec![Block::ZERO; layout.hinted]);
    let ours = layout.values.iter().zip(args.iter().skip(2)).filter(|((how, _), _)| !layout.is_received(*how));
    for ((how, at, width), (_, value)) in layout.sent().zip(ours) {
        let value = value.as_ref().ok_or_else(|| Error::usage("no values"))?;
        let signed = |number: i64| number as i128 as u128 & low(width);
        let numbers: Zeroizing<Vec<u128>> = Zeroizing::new(match how {
            Carried::Added(_) => value.to_numbers::<i64>()?.into_iter().map(signed).collect(),
            Carried::Of(_) => value.to_numbers::<u128>()?,
        });
        // A value of no bits may lie behind all of them.
        let place = |number: u128| number.checked_shl(at).unwrap_or(0);
        all.iter_mut().zip(numbers.iter()).for_each(|(all, &number)| *all ^= Block::new(place(number)));
    }
    Ok(all)
}

impl Sender {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox);
        if let Some((message @ (Message::Dense | Message::Sparse), part)) = self.exchanges.get(self.next).cloned() {
            if message == Message::Dense {
                self.prepare()?;
            }
            self.write(message, part, outbox);
        }
        self.next += 1;
        Ok(())
    }

    pub(super) fn end(self) -> Result<Vec<Option<BitMatrix>>> {
        // What is added to a mask u is the sum of what the receiver has and −u.
        let added = self.layout.added();
        let shares = |target: &Block| {
            added.iter().fold(target.get(), |shares, &(at, mask)| {
                shares & !(mask << at) | ((shares >> at).wrapping_neg() & mask) << at
            })
        };
        let outcome = Zeroizing::new(self.targets.iter().map(shares).collect::<Vec<_>>());
        results(&self.layout, self.layout.receiver.peer(), &outcome, Vec::new())
    }
}

impl Stage for Sender {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox)
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.end()
    }
}

/// The results of a party in their order: tags and shares of values from its `outcome`, and its own `values` in bins.
fn results(layout: &Layout, us: Party, outcome: &[u128], values: Vec<BitMatrix>) -> Result<Vec<Option<BitMatrix>>> {
    let part = |at: u32, width: usize| {
        let low = |bin: &u128| bin.checked_shr(at).unwrap_or(0) & (u128::MAX >> (128 - width));
        let numbers: Zeroizing<Vec<u128>> = Zeroizing::new(outcome.iter().map(low).collect());
        BitMatrix::from_numbers(width, &numbers)
    };
    let tag = part(0, layout.tag as usize)?;
    let mut results = vec![None, None];
    results[us as usize] = Some(tag);
    let (mut places, mut values) = (layout.sent(), values.into_iter());
    for &(how, width) in &layout.values {
        if layout.is_received(how) {
            results.push(if us == layout.receiver { values.next() } else { None });
            continue;
        }
        let at = places.next().map_or(0, |(_, at, _)| at);
        let own = if width == 0 { BitMatrix::zeros(0, layout.bins) } else { part(at, width)? };
        match how {
            Carried::Of(_) => results.push(Some(own)),
            Carried::Added(_) => {
                let [ours, theirs] = [true, false].map(|receiver| (us == layout.receiver) == receiver);
                results.extend([ours.then(|| own.clone()), theirs.then_some(own)]);
            }
        }
    }
    Ok(results)
}
