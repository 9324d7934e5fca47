//! A queue of secret bits, packed into words, from which any number of bits can be drawn.

use zeroize::Zeroize;

/// The number of consumed words from which on the rest is moved to the front.
const SLACK: usize = 1 << 12;

/// Bits in the order in which they were pushed; drawn bits are erased.
#[derive(Default)]
pub(super) struct BitQueue {
    words: Vec<u64>,
    /// Position of the first bit that is left.
    head: usize,
    /// Position after the last bit; the words hold nothing but zeros from there on.
    tail: usize,
}

impl BitQueue {
    /// A queue with memory for `len` bits: a queue that grows leaves copies of its bits behind.
    pub(super) fn with_capacity(len: usize) -> Self {
        // A push that does not begin at a word carries into one more.
        BitQueue { words: Vec::with_capacity(len.div_ceil(64) + 1), head: 0, tail: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.tail - self.head
    }

    /// Appends the first `len` bits of `bits`.
    pub(super) fn push(&mut self, bits: &[u64], len: usize) {
        let bits = &bits[..len.div_ceil(64)];
        match self.tail % 64 {
            0 => self.words.extend_from_slice(bits),
            shift => {
                let mut carry = self.words.pop().unwrap_or(0);
                for word in bits {
                    self.words.push(carry | word << shift);
                    carry = word >> (64 - shift);
                }
                self.words.push(carry);
            }
        }
        self.tail += len;
        truncate(&mut self.words, self.tail);
    }

    /// Takes the first `count` bits; the padding of the last word is zero.
    ///
    /// # Panics
    /// If there are fewer.
    pub(super) fn draw(&mut self, count: usize) -> Vec<u64> {
        assert!(count <= self.len(), "{count} bits drawn from {}", self.len());
        let (first, shift) = (self.head / 64, self.head % 64);
        let from = &self.words[first..(self.head + count).div_ceil(64).max(first)];
        let mut drawn: Vec<u64> = match shift {
            0 => from.to_vec(),
            _ => (0..count.div_ceil(64))
                .map(|i| from[i] >> shift | from.get(i + 1).map_or(0, |next| next << (64 - shift)))
                .collect(),
        };
        truncate(&mut drawn, count);
        self.erase(count);
        drawn
    }

    /// Clears the first `count` bits and now and then moves the rest to the front.
    fn erase(&mut self, count: usize) {
        let first = self.head / 64;
        self.head += count;
        let (consumed, shift) = (self.head / 64, self.head % 64);
        self.words[first..consumed].zeroize();
        if shift != 0 {
            self.words[consumed] &= !0 << shift;
        }
        if self.head == self.tail {
            self.words.clear();
            (self.head, self.tail) = (0, 0);
        } else if consumed >= SLACK && consumed >= self.words.len() / 2 {
            self.words.copy_within(consumed.., 0);
            let left = self.words.len() - consumed;
            self.words[left..].zeroize();
            self.words.truncate(left);
            (self.head, self.tail) = (shift, self.tail - 64 * consumed);
        }
    }

    pub(super) fn destroy(&mut self) {
        self.words.zeroize();
        (self.head, self.tail) = (0, 0);
    }
}

/// Cuts packed bits to `len` bits and clears the padding.
pub(crate) fn truncate(words: &mut Vec<u64>, len: usize) {
    words.truncate(len.div_ceil(64));
    if let (Some(last), shift @ 1..) = (words.last_mut(), len % 64) {
        *last &= !(!0 << shift);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn bit(words: &[u64], index: usize) -> bool {
        words[index / 64] >> (index % 64) & 1 == 1
    }

    proptest! {
        /// Against a queue of single bits: any pushes and draws, also with dirty padding.
        #[test]
        fn behaves_as_a_queue_of_bits(
            steps in prop::collection::vec((any::<bool>(), 0usize..700, any::<u64>()), 0..60),
        ) {
            let (mut queue, mut naive) = (BitQueue::default(), VecDeque::new());
            for (push, len, seed) in steps {
                if push {
                    let words: Vec<u64> =
                        (1..=len as u64 / 64 + 1).map(|i| seed.wrapping_mul(2 * i + 1)).collect();
                    queue.push(&words, len);
                    naive.extend((0..len).map(|i| bit(&words, i)));
                } else {
                    let len = len.min(naive.len());
                    let drawn = queue.draw(len);
                    prop_assert_eq!(drawn.len(), len.div_ceil(64));
                    for i in 0..64 * drawn.len() {
                        let expected = i < len && naive.pop_front().unwrap();
                        prop_assert_eq!(bit(&drawn, i), expected);
                    }
                }
                prop_assert_eq!(queue.len(), naive.len());
            }
        }
    }

    #[test]
    fn what_was_drawn_is_erased_to_the_bit() {
        let mut queue = BitQueue::default();
        queue.push(&[!0; 3], 192);
        queue.draw(70);
        assert_eq!(queue.words, [0, !0 << 6, !0]);
    }

    #[test]
    fn moves_the_rest_to_the_front_and_erases_what_was_drawn() {
        let mut queue = BitQueue::default();
        let words: Vec<u64> = (0..3 * SLACK as u64).map(|i| i | 1 << 63).collect();
        queue.push(&words, 64 * words.len());
        let mut index = 0;
        while queue.len() >= 64 * 5 {
            assert!(queue.draw(64 * 5)[..] == words[index..index + 5]);
            index += 5;
            assert!(queue.words[..queue.head / 64].iter().all(|&word| word == 0));
        }
        assert!(queue.words.len() < 2 * SLACK, "the queue never shrank");
    }
}
