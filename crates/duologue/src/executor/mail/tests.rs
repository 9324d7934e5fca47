//! Boxes of strands, beside what `tests/loom.rs` shows of their threads. They stand here since loom compiles `mail.rs` too.

use super::mail::{Boxes, Mail, Place, Turn, Wire};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Result};
use std::time::Duration;

/// Bytes that a strand may have waiting each way, beside one box.
const ROOM: usize = 10_000;

/// Exchanges of strands that take turns, each of so many bytes one way.
struct Counting {
    strands: usize,
    size: usize,
    sends: bool,
    made: usize,
    most: usize,
    /// Boxes without enough memory for what came.
    grown: usize,
}

impl Wire for Counting {
    type Error = Error;

    fn next(&self) -> Option<Turn> {
        let [sent, read] = if self.sends { [self.size, 0] } else { [0, self.size] };
        (self.made < self.most).then_some(Turn { strand: self.made % self.strands, sent, read })
    }

    fn exchange(&mut self, outbox: &mut Outbox, inbox: &mut Inbox) -> Result<()> {
        outbox.clear();
        if !self.sends {
            self.grown += usize::from(inbox.capacity() < self.size);
            inbox.only(self.size);
        }
        self.made += 1;
        Ok(())
    }
}

/// One thread follows all strands; how many boxes it had to make larger, and how many there are in the end.
fn boxes_of(strands: usize, size: usize, sends: bool, most: usize) -> [usize; 2] {
    let wire = Counting { strands, size, sends, made: 0, most, grown: 0 };
    let boxes = (0..strands).map(|_| Boxes::default()).collect();
    let mail = Mail::new(wire, boxes, ROOM, Duration::ZERO);
    let (mut grown, mut left) = (0, vec![most / strands; strands]);
    while left.iter().any(|&left| left > 0) {
        mail.relay(&[]).unwrap();
        for (strand, left) in left.iter_mut().enumerate() {
            while *left > 0
                && let Some((inbox, mut outbox)) = mail.take(Place { strand, reads: !sends })
            {
                if sends {
                    grown += usize::from(outbox.capacity() < size);
                    outbox.only(size);
                }
                *left -= 1;
                mail.put(strand, (inbox, outbox));
            }
        }
    }
    mail.relay(&[]).unwrap();
    assert!(mail.is_over());
    let (wire, boxes) = mail.into_parts();
    [grown + wire.map_or(0, |wire| wire.grown), boxes.iter().map(Boxes::count).sum()]
}

/// As many boxes grow as may wait at once, and one or two a strand that are under way; then their memory serves for ever.
#[test]
fn few_boxes_grow_however_much_is_sent() {
    for (strands, size, sends) in
        [(1, 1000, true), (1, 1000, false), (3, 700, true), (3, 700, false), (2, 20_000, true)]
    {
        let most = strands * (ROOM.div_ceil(size) + 2);
        let [few, many] = [30, 3000].map(|exchanges| boxes_of(strands, size, sends, strands * exchanges));
        assert!(few[0] <= most && many == few, "{strands} strands, {size} bytes: {few:?} and {many:?}, {most} at most");
        assert!(many[1] <= most, "{many:?}");
    }
}
