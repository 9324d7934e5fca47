//! Schedules of many keys side by side, word by word.
//!
//! A register of four words a lane holds the same word of four keys a lane. One `aesenclast` then substitutes the words
//! of as many keys as four registers hold, where a schedule in the layout of the cipher takes four; the rest of a round is two
//! XORs a word, and a transposition of 4 × 4 words gives the round keys.

use crate::backend::lanes::Lanes;

/// The schedules of the keys of four registers, under way: their words, or the keys themselves in registers of four lanes.
#[derive(Clone, Copy)]
pub(crate) struct Schedules<C: Lanes>([C::Reg; 4]);

impl<C: Lanes> Schedules<C> {
    #[inline(always)]
    pub(crate) fn new(cpu: C, keys: [C::Reg; 4]) -> Self {
        Schedules(if C::LANES == 4 { keys } else { cpu.transpose_words(keys) })
    }

    /// The next round keys, with this round constant.
    #[inline(always)]
    pub(crate) fn next(&mut self, cpu: C, constant: u32) -> [C::Reg; 4] {
        let words = &mut self.0;
        if C::LANES == 4 {
            // Sums of three in one instruction: a key by itself takes no longer, and less until it is there.
            for key in words.iter_mut() {
                *key = cpu.next_key(*key, constant);
            }
            return *words;
        }
        let substituted = cpu.substitute_words(words[3], constant);
        // The sums do not wait for the substitution, which the next one waits for.
        for i in 1..4 {
            words[i] = cpu.xor(words[i], words[i - 1]);
        }
        for word in words.iter_mut() {
            *word = cpu.xor(*word, substituted);
        }
        cpu.transpose_words(*words)
    }
}
