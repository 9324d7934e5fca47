//! Random OT of one of n pads, from ⌈log₂ n⌉ random OTs: work and memory of the sender are linear in n.
//!
//! With the random OTs' messages k_i^0 and k_i^1 of 128 bits, of which the receiver has those of the bits of its choice c, the
//! pad of place x is made in two steps, of the lower and the upper half of the bits of x:
//!
//! ```text
//! low[u]  = H(0, u, k_i^{u_i} for all i of the lower half)
//! high[v] = H(1, v, k_i^{v_i} for all i of the upper half)
//! pad[x]  = H(2, x, low[x mod 2^h], high[x / 2^h])
//! ```
//!
//! So the sender hashes about 2√n times ⌈log₂ n⌉/2 messages, and then once a place. The idea of combining keys of a few OTs
//! is that of Naor and Pinkas, *Oblivious transfer and polynomial evaluation* (STOC 1999, §3.1 and §3.2).
//!
//! H is BLAKE3 keyed with a salt that is made of the call's domain, so that no other call has it. For every x ≠ c the receiver
//! lacks one message of 128 bits in low or high: **assuming** that H is a random oracle, all pads but its own look random
//! together.

use super::super::wide::{Wide, mask};
use duologue::call::{Drawn, Zeroizing};

/// Context of the salt.
const CONTEXT: &str = "duologue v1 argmin-boma: one of n pads";

/// Bytes of the salt, and of a message.
const SALT: usize = 32;
const MESSAGE: usize = 16;

/// Bytes that the sender stores with so many random OTs.
pub fn stored_by_sender(ots: usize) -> usize {
    SALT + 2 * MESSAGE * ots
}

/// Bytes that the receiver stores.
pub fn stored_by_receiver(ots: usize) -> usize {
    SALT + 8 + MESSAGE * ots
}

/// The salt and the messages: all k^0, then all k^1.
pub fn of_sender(domain: &[u8; 32], drawn: &Drawn) -> Zeroizing<Vec<u8>> {
    let messages = drawn.ots.sent.messages().concat();
    stored(domain, &[], messages.iter().map(|message| message.to_bytes()))
}

/// The salt, the choice and the messages.
pub fn of_receiver(domain: &[u8; 32], drawn: &Drawn) -> Zeroizing<Vec<u8>> {
    let received = &drawn.ots.received;
    let choice = received.choices().first().copied().unwrap_or(0).to_le_bytes();
    stored(domain, &choice, received.messages().iter().map(|message| message.to_bytes()))
}

fn stored(domain: &[u8; 32], choice: &[u8], messages: impl ExactSizeIterator<Item = [u8; 16]>) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(SALT + choice.len() + MESSAGE * messages.len()));
    bytes.extend_from_slice(&blake3::derive_key(CONTEXT, domain));
    bytes.extend_from_slice(choice);
    messages.for_each(|message| bytes.extend_from_slice(&message));
    bytes
}

/// All pads, as the sender has them.
pub struct SentPads<'a> {
    salt: &'a [u8; SALT],
    messages: [&'a [[u8; MESSAGE]]; 2],
}

impl<'a> SentPads<'a> {
    pub fn new(stored: &'a [u8]) -> Self {
        let (salt, messages) = stored.split_first_chunk().expect("a salt");
        let messages = messages.as_chunks().0;
        let (zero, one) = messages.split_at(messages.len() / 2);
        SentPads { salt, messages: [zero, one] }
    }

    /// For a receiver who says c ⊕ j: of every place i below `count` the pad of i ⊕ c ⊕ j, of so many bits.
    pub fn all(&self, said: u64, count: usize, bits: u32) -> Vec<Wide> {
        let (ots, half) = (self.messages[0].len(), self.messages[0].len() / 2);
        let [low, high] = [(0, 0..half), (1, half..ots)].map(|(step, ots)| {
            let keys = (0..1 << ots.len()).map(|x: u64| {
                let messages = ots.clone().map(|ot| &self.messages[(x >> (ot - ots.start) & 1) as usize][ot]);
                hash(self.salt, step, x, messages.map(|message| &message[..]))
            });
            keys.collect::<Vec<_>>()
        });
        let pad = |x: u64| [&low[x as usize & (low.len() - 1)][..], &high[(x >> half) as usize][..]];
        (0..count as u64)
            .map(|place| place ^ said)
            .map(|x| wide(&hash(self.salt, 2, x, pad(x).into_iter()), bits))
            .collect()
    }
}

/// One pad, as the receiver has it.
pub struct ReceivedPad<'a> {
    salt: &'a [u8; SALT],
    choice: u64,
    messages: &'a [[u8; MESSAGE]],
}

impl<'a> ReceivedPad<'a> {
    pub fn new(stored: &'a [u8]) -> Self {
        let (salt, rest) = stored.split_first_chunk().expect("a salt");
        let (choice, messages) = rest.split_first_chunk().expect("a choice");
        ReceivedPad { salt, choice: u64::from_le_bytes(*choice), messages: messages.as_chunks().0 }
    }

    /// What the receiver says to have the pad that the sender will take for a place.
    pub fn said(&self, place: u64) -> u64 {
        self.choice ^ place
    }

    pub fn pad(&self, bits: u32) -> Wide {
        let half = self.messages.len() / 2;
        let (low, high) = self.messages.split_at(half);
        let part =
            |step, x, messages: &[[u8; MESSAGE]]| hash(self.salt, step, x, messages.iter().map(|message| &message[..]));
        let low_choice = self.choice & ((1 << half) - 1);
        let [low, high] = [part(0, low_choice, low), part(1, self.choice >> half, high)];
        wide(&hash(self.salt, 2, self.choice, [&low[..], &high[..]].into_iter()), bits)
    }
}

fn hash<'a>(salt: &[u8; SALT], step: u8, x: u64, parts: impl Iterator<Item = &'a [u8]>) -> Zeroizing<[u8; 32]> {
    let mut hasher = blake3::Hasher::new_keyed(salt);
    hasher.update(&[step]).update(&x.to_le_bytes());
    parts.for_each(|part| {
        hasher.update(part);
    });
    Zeroizing::new(*hasher.finalize().as_bytes())
}

/// The first bits of a hash.
fn wide(hash: &[u8; 32], bits: u32) -> Wide {
    let words: Vec<u64> = hash.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    Wide::new(&words).low(bits)
}

/// The number at a secret place: all are read.
pub fn at<'a>(numbers: impl Iterator<Item = &'a [u64]>, place: u64) -> Wide {
    let mut found = Zeroizing::new(Vec::new());
    for (i, number) in (0..).zip(numbers) {
        found.resize(number.len(), 0);
        let (_, differ) = 0_u64.overflowing_sub(place ^ i);
        let mask = mask(u64::from(!differ));
        found.iter_mut().zip(number).for_each(|(found, word)| *found |= word & mask);
    }
    Wide::new(&found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;
    use kernels::generator::Generator;
    use std::collections::HashSet;

    /// Stored bytes of both parties for a choice.
    fn dealt(ots: usize, choice: u64, seed: u128) -> [Vec<u8>; 2] {
        let mut dice = Generator::from_seed(Block::new(seed));
        let messages: [Vec<[u8; 16]>; 2] = [(); 2].map(|()| (0..ots).map(|_| dice.block().to_bytes()).collect());
        let chosen = (0..ots).map(|ot| messages[(choice >> ot & 1) as usize][ot]);
        let receiver = stored(&[7; 32], &choice.to_le_bytes(), chosen.collect::<Vec<_>>().into_iter());
        let sender = stored(&[7; 32], &[], messages.concat().into_iter());
        assert_eq!([sender.len(), receiver.len()], [stored_by_sender(ots), stored_by_receiver(ots)]);
        [sender.to_vec(), receiver.to_vec()]
    }

    fn bits_of(x: &Wide) -> Vec<u64> {
        (0..448).map(|bit| x.bit(bit)).collect()
    }

    #[test]
    fn the_receiver_has_the_pad_of_its_place_and_all_differ() {
        for (ots, count) in [(1, 2), (2, 3), (3, 8), (7, 100), (10, 1000), (17, 70_000)] {
            for place in [0, 1, count as u64 / 2, count as u64 - 1] {
                let choice = 0x015a_5a3c & ((1 << ots) - 1);
                let [sender, receiver] = dealt(ots, choice, 90 + ots as u128);
                let receiver = ReceivedPad::new(&receiver);
                let said = receiver.said(place);
                assert!(said < 1 << ots);
                let pads = SentPads::new(&sender).all(said, count, 72);
                assert!(bits_of(&pads[place as usize]) == bits_of(&receiver.pad(72)), "{ots} OTs, place {place}");
                assert_eq!(pads.iter().map(bits_of).collect::<HashSet<_>>().len(), count);
                assert!(pads.iter().all(|pad| pad.is_less(&Wide::power_of_two(72))));
            }
        }
    }

    /// What the receiver can make of its messages for every other place differs from the pad there: a twin that takes the same
    /// key for both values of one bit gives pads away.
    #[test]
    fn other_pads_take_a_message_that_the_receiver_lacks() {
        let (ots, choice) = (6, 0b10_1101);
        let [sender, receiver] = dealt(ots, choice, 97);
        let mut twin = sender.clone();
        // The twin: both messages of OT 0 are the one that the receiver has.
        let [zero, one] = [0, ots].map(|at| SALT + MESSAGE * at);
        let known = if choice & 1 == 1 { one } else { zero };
        let message: Vec<u8> = twin[known..known + MESSAGE].to_vec();
        [zero, one].iter().for_each(|&at| twin[at..at + MESSAGE].copy_from_slice(&message));
        // As if its choice had been another, with the messages that it has.
        let guessed = |x: u64| {
            let mut receiver = receiver.clone();
            receiver[SALT..SALT + 8].copy_from_slice(&x.to_le_bytes());
            bits_of(&ReceivedPad::new(&receiver).pad(168))
        };
        let given = |stored: &[u8]| {
            let pads = SentPads::new(stored).all(0, 1 << ots, 168);
            (0..1 << ots).filter(|&x| bits_of(&pads[x as usize]) == guessed(x)).collect::<Vec<u64>>()
        };
        assert_eq!(given(&sender), [choice]);
        assert_eq!(given(&twin), [choice & !1, choice | 1]);
    }

    #[test]
    fn a_secret_place_is_found() {
        let numbers: Vec<[u64; 2]> = (0..9).map(|i| [i, i * i]).collect();
        for place in 0..9 {
            let found = at(numbers.iter().map(|number| &number[..]), place);
            assert!(bits_of(&found) == bits_of(&Wide::new(&[place, place * place])));
        }
    }
}
