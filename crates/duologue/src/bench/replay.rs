//! A party by itself: the peer's messages were recorded, and what it sends is taken from it with its memory.

use super::{Both, Dealt, Took};
use crate::clock::Instant;
use crate::correlation::{Demand, Stock};
use crate::executor::{Link, Phase};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Outputs, Party, Result};
use std::collections::VecDeque;

/// Runs both parties so many times: the garbler, or Alice, on a record of a run in turns, and the other on what that
/// sends. One run more comes first, in which memory is taken from the system; from then on every box has room for the
/// longest message, so that none has to grow.
pub(super) fn repeat(both: &Both<'_>, runs: usize) -> Result<Vec<[Took; 2]>> {
    let first = both.terms.garbler;
    let recorded = both.in_turns(true)?.map(|party| party.read);
    let [mut spare_first, mut spare_other] = <[VecDeque<Outbox>; 2]>::default();
    let mut all = Vec::new();
    for _ in 0..=runs {
        let (alice, bob) = both.parties()?.into();
        let (ours, theirs) = if first == Party::Alice { (alice, bob) } else { (bob, alice) };
        let heard = VecDeque::from([boxed(&recorded[first as usize])]);
        let (took, sent) = play(both, first, ours, Replay::new(heard, &mut spare_first))?;
        let (other, answered) = play(both, first.peer(), theirs, Replay::new(sent, &mut spare_other))?;
        // What the other party has read is what the first one writes to next.
        spare_first.append(&mut spare_other);
        spare_other.extend(answered);
        [&mut spare_first, &mut spare_other].into_iter().for_each(widen);
        all.push(if first == Party::Alice { [took, other] } else { [other, took] });
    }
    Ok(all.split_off(1))
}

/// Makes all boxes as large as the largest.
fn widen(boxes: &mut VecDeque<Outbox>) {
    let most = boxes.iter().map(Outbox::capacity).max().unwrap_or(0);
    for narrow in boxes.iter_mut().filter(|one| one.capacity() < most) {
        narrow.only(most);
    }
}

fn boxed(bytes: &[u8]) -> Outbox {
    let mut made = Outbox::default();
    made.extend_from_slice(bytes);
    made
}

/// A party from its setup to its outputs, the time that it took online, and what it sent.
fn play(
    both: &Both<'_>,
    party: Party,
    (mut engine, mut stock): Dealt,
    mut link: Replay<'_>,
) -> Result<(Took, VecDeque<Outbox>)> {
    engine.setup(&mut stock, &mut link)?;
    let since = Instant::now();
    let ran = engine.online(&both.feeds[party as usize], &mut stock, &mut link)?;
    let took = since.elapsed();
    Ok(((took, Outputs::new(both.binding, ran.outputs)), link.sent))
}

/// The link to a record. Whatever has the length of a message changes hands with its memory, and is in no cache by the
/// time that the other party looks at it.
struct Replay<'a> {
    /// Messages to be read, and how many bytes of the first of them were.
    heard: VecDeque<Outbox>,
    at: usize,
    sent: VecDeque<Outbox>,
    /// Memory for what will be sent, the oldest first.
    spare: &'a mut VecDeque<Outbox>,
}

impl<'a> Replay<'a> {
    fn new(heard: VecDeque<Outbox>, spare: &'a mut VecDeque<Outbox>) -> Self {
        Replay { heard, at: 0, sent: VecDeque::new(), spare }
    }
}

impl Link for Replay<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.sent.push_back(boxed(bytes));
        }
        Ok(())
    }

    fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        if !outbox.is_empty() {
            let mut fresh = self.spare.pop_front().unwrap_or_default();
            fresh.clear();
            self.sent.push_back(std::mem::replace(outbox, fresh));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        if self.at == 0 && self.heard.front().is_some_and(|message| message.len() == count) {
            let before = self.heard.pop_front().map(|message| std::mem::replace(inbox, message));
            self.spare.extend(before);
            return Ok(());
        }
        let mut room = inbox.only(count);
        while !room.is_empty() {
            let message = self.heard.front().ok_or_else(|| Error::usage("a record ends too early"))?;
            let some = room.len().min(message.len() - self.at);
            room.split_off_mut(..some).expect("so much is there").copy_from_slice(&message[self.at..][..some]);
            self.at += some;
            if self.at == message.len() {
                self.at = 0;
                self.heard.pop_front();
            }
        }
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, _: Demand, _: Demand) -> Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}
