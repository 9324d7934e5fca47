//! The online phase: receiver and sender, exchange by exchange.

use super::layout::{Layout, Message};
use super::oprf::{self, Receiving, Sending};
use super::tags::{Comparison, Tags};
use crate::vole::random;
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};
use duologue::{Error, Result};
use kernels::Block;
use std::ops::Range;

/// The party that encodes its strings, and learns.
pub struct Receiver {
    layout: Layout,
    exchanges: Vec<(Message, Range<usize>)>,
    next: usize,
    strings: Zeroizing<Vec<Block>>,
    /// None if a set is empty.
    oprf: Option<Receiving>,
    comparison: Option<Comparison>,
    found: BitMatrix,
    /// Which tags of the peer's are in both, if it learns that.
    theirs: BitMatrix,
}

/// The party that sends tags.
pub struct Sender {
    layout: Layout,
    exchanges: Vec<(Message, Range<usize>)>,
    next: usize,
    strings: Zeroizing<Vec<Block>>,
    /// None if a set is empty.
    oprf: Option<Sending>,
    tags: Option<Tags>,
    /// Strings that are equal to others, and these.
    again: Vec<(u32, u32)>,
    found: BitMatrix,
}

impl Receiver {
    pub fn new(layout: Layout, stored: Zeroizing<Vec<u8>>, own: &BitMatrix) -> Result<Receiver> {
        let [found, theirs] = [layout.encoded, layout.tagged].map(|lanes| BitMatrix::zeros(1, lanes));
        let (exchanges, strings) = (layout.exchanges(), oprf::strings(own));
        let oprf = (!layout.is_empty()).then(|| Receiving::new(layout.shape, stored, &strings)).transpose()?;
        Ok(Receiver { layout, exchanges, next: 0, strings, oprf, comparison: None, found, theirs })
    }

    /// The own tags: while the peer computes its.
    fn prepare(&mut self) {
        let Some(oprf) = &self.oprf else { return };
        let tags = Tags::new(&oprf.key(), self.layout.tag, &oprf.values(&self.strings), &self.strings);
        self.comparison = Some(Comparison::new(tags));
    }

    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some((Message::Tags, part)) = self.next.checked_sub(1).and_then(|last| self.exchanges.get(last)) else {
            return Ok(());
        };
        let Some(comparison) = &mut self.comparison else { return Ok(()) };
        comparison.read(inbox, |place, string| {
            self.found.set(0, string, true);
            self.theirs.set(0, part.start + place, true);
        })
    }
}

impl Receiver {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        match self.exchanges.get(self.next).cloned() {
            Some((Message::Table, part)) => {
                outbox.extend_from_slice(&self.oprf.as_ref().map(|oprf| oprf.write(part)).unwrap_or_default());
            }
            Some((Message::Tags, part)) if part.start == 0 => self.prepare(),
            Some((Message::Found, part)) => outbox.extend_from_slice(&packed(&self.theirs, part)),
            _ => {}
        }
        self.next += 1;
        Ok(())
    }

    pub(super) fn end(mut self, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        Ok(results(&self.layout, self.layout.receiver, self.found))
    }
}

impl Stage for Receiver {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.end(inbox)
    }
}

impl Sender {
    pub fn new(layout: Layout, stored: Zeroizing<Vec<u8>>, own: &BitMatrix) -> Sender {
        let (exchanges, strings) = (layout.exchanges(), oprf::strings(own));
        let oprf = (!layout.is_empty()).then(|| Sending::new(layout.shape, &stored));
        let found = BitMatrix::zeros(1, layout.tagged);
        Sender { layout, exchanges, next: 0, strings, oprf, tags: None, again: Vec::new(), found }
    }

    /// The tags of all strings, once the table is there.
    fn prepare(&mut self) -> Result<()> {
        let Some(oprf) = &self.oprf else { return Ok(()) };
        let mut tags = Tags::new(&oprf.key, self.layout.tag, &oprf.values(&self.strings), &self.strings);
        self.again = tags.make_distinct(&mut random()?);
        self.tags = Some(tags);
        Ok(())
    }

    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some((message, part)) = self.next.checked_sub(1).and_then(|last| self.exchanges.get(last)).cloned() else {
            return Ok(());
        };
        match message {
            Message::Table => self.oprf.iter_mut().for_each(|oprf| oprf.read(&part, inbox)),
            Message::Tags => {}
            Message::Found => self.read_found(part, inbox)?,
        }
        Ok(())
    }

    fn read_found(&mut self, part: Range<usize>, inbox: &[u8]) -> Result<()> {
        let bit = |place: usize| inbox.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1);
        if (part.len()..8 * inbox.len()).any(bit) {
            return Err(Error::peer("it finds tags that were not sent"));
        }
        let Some(tags) = &self.tags else { return Ok(()) };
        let found = part.clone().filter(|place| bit(place - part.start)).filter_map(|place| tags.string(place));
        found.for_each(|string| self.found.set(0, string, true));
        Ok(())
    }
}

impl Sender {
    pub(super) fn advance(&mut self, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        if let Some((Message::Tags, part)) = self.exchanges.get(self.next).cloned() {
            if part.start == 0 {
                self.prepare()?;
            }
            let written = self.tags.as_ref().map(|tags| tags.write(part)).unwrap_or_default();
            outbox.extend_from_slice(&written);
        }
        self.next += 1;
        Ok(())
    }

    pub(super) fn end(mut self, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        for &(string, first) in &self.again {
            let bit = self.found.get(0, first as usize);
            self.found.set(0, string as usize, bit);
        }
        Ok(results(&self.layout, self.layout.receiver.peer(), self.found))
    }
}

impl Stage for Sender {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.advance(inbox, outbox)
    }

    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.end(inbox)
    }
}

/// Bits of some lanes in bytes.
fn packed(bits: &BitMatrix, lanes: Range<usize>) -> Vec<u8> {
    let mut bytes = vec![0; lanes.len().div_ceil(8)];
    lanes
        .enumerate()
        .filter(|&(_, lane)| bits.get(0, lane))
        .for_each(|(place, _)| bytes[place / 8] |= 1 << (place % 8));
    bytes
}

/// The results of a party in their order: its own if it learns, and none of the peer's.
fn results(layout: &Layout, us: Party, found: BitMatrix) -> Vec<Option<BitMatrix>> {
    let mut found = Some(found);
    let learners = [Party::Alice, Party::Bob].into_iter().filter(|&party| layout.learns.includes(party));
    learners.map(|party| if party == us { found.take() } else { None }).collect()
}
