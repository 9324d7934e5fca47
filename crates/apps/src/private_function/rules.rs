//! Rules that a text is searched for: which of the owner's patterns are in it.
//!
//! ```text
//! password=            # a pattern a line: printable ASCII but blanks, # and \, and \xNN for any byte
//! \x00\xffsecret
//! ```
//!
//! The input is `text`, of a fixed number of bytes; the output is `found`, a bit for each pattern in the order of the file.
//! Bob hears how many patterns there are.
//!
//! The patterns become one automaton over bytes (Aho and Corasick, *Efficient string matching*, CACM 1975), of which every
//! state stands for the longest beginning of a pattern that the text read so far ends in. In the circuit a bit says of each
//! state whether the automaton is in it, of which one is set: sums of these are XORs. With each byte a state is entered if
//! the automaton was in one that leads there by this byte, so that a state costs an AND for each class of bytes that lead to
//! it, which of these patterns is one, whatever number of states it comes from.

use super::{lines, words};
use duologue::circuit::{Bit, Bits, Builder, Circuit};
use std::collections::BTreeMap;

/// The most states of an automaton times the bytes of a text.
const MOST_WORK: usize = 1 << 24;

/// Patterns, which are their owner's secret.
pub struct Rules {
    patterns: Vec<Vec<u8>>,
}

impl Rules {
    /// The most bytes of a text.
    pub const MOST_BYTES: usize = 1 << 16;

    /// Reads patterns.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(text: &str) -> Result<Rules, String> {
        let patterns = lines(text).map(|(at, line)| match words(line)[..] {
            [pattern] => bytes_of(pattern).ok_or_else(|| format!("line {at}: '{pattern}' is no pattern")),
            _ => Err(format!("line {at}: one pattern a line, blanks as \\x20")),
        });
        let patterns = patterns.collect::<Result<Vec<_>, _>>()?;
        if patterns.is_empty() { Err("no pattern".into()) } else { Ok(Rules { patterns }) }
    }

    /// Whether each pattern is in a text.
    pub fn evaluate(&self, text: &[u8]) -> Vec<bool> {
        self.patterns.iter().map(|pattern| text.windows(pattern.len()).any(|part| part == pattern)).collect()
    }

    /// The automaton of the patterns.
    pub fn automaton(&self) -> Automaton {
        let (mut next, mut found): (Vec<BTreeMap<u8, u32>>, Vec<Vec<usize>>) = (vec![BTreeMap::new()], vec![vec![]]);
        for (rule, pattern) in self.patterns.iter().enumerate() {
            let mut state = 0;
            for &byte in pattern {
                let new = next.len() as u32;
                let to = *next[state].entry(byte).or_insert(new);
                if to == new {
                    next.push(BTreeMap::new());
                    found.push(vec![]);
                }
                state = to as usize;
            }
            found[state].push(rule);
        }
        complete(&next, found, self.patterns.len())
    }
}

/// The bytes of a pattern.
fn bytes_of(pattern: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), pattern.as_bytes());
    while let [first, after @ ..] = rest {
        (rest, _) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digit = |digit: &u8| char::from(*digit).to_digit(16);
                (after, bytes.push((16 * digit(high)? + digit(low)?) as u8))
            }
            (b'\\', _) => return None,
            (byte, after) if byte.is_ascii_graphic() => (after, bytes.push(*byte)),
            _ => return None,
        };
    }
    Some(bytes)
}

/// Says of every state and byte where it leads: from a state without such a way as from the longest end of it that is a state.
fn complete(tree: &[BTreeMap<u8, u32>], mut found: Vec<Vec<usize>>, rules: usize) -> Automaton {
    let mut next = vec![[0u32; 256]; tree.len()];
    let mut shorter = vec![0usize; tree.len()];
    let mut queue = std::collections::VecDeque::from([0]);
    while let Some(state) = queue.pop_front() {
        // The root leads to itself where it has no way, and all shorter states are complete before this one.
        let mut ways = if state == 0 { [0; 256] } else { next[shorter[state]] };
        for (&byte, &to) in &tree[state] {
            let to = to as usize;
            shorter[to] = if state == 0 { 0 } else { next[shorter[state]][usize::from(byte)] as usize };
            let also = found[shorter[to]].clone();
            found[to].extend(also);
            ways[usize::from(byte)] = to as u32;
            queue.push_back(to);
        }
        next[state] = ways;
    }
    Automaton { next, found, rules }
}

/// A deterministic automaton over bytes that says for each of several rules whether a state of it was entered. It begins in
/// state 0.
pub struct Automaton {
    /// For each state, where each byte leads.
    next: Vec<[u32; 256]>,
    /// For each state the rules that are found when it is entered.
    found: Vec<Vec<usize>>,
    rules: usize,
}

impl Automaton {
    /// The number of states.
    pub fn states(&self) -> usize {
        self.next.len()
    }

    /// Which rules are found in a text.
    pub fn evaluate(&self, text: &[u8]) -> Vec<bool> {
        let (mut state, mut all) = (0, vec![false; self.rules]);
        for &byte in text {
            state = self.next[state][usize::from(byte)] as usize;
            self.found[state].iter().for_each(|&rule| all[rule] = true);
        }
        all
    }

    /// The automaton on a text of so many bytes, as a circuit of `text` with `found`.
    ///
    /// # Errors
    /// If that is more than can be.
    pub fn circuit(&self, bytes: usize) -> Result<Circuit, String> {
        if bytes.saturating_mul(self.states()) > MOST_WORK {
            let states = self.states();
            return Err(format!("{states} states on {bytes} bytes, and their product is at most {MOST_WORK}"));
        }
        let mut c = Builder::new("rules");
        let text = c.bits("text", 8 * bytes as u32);
        let ways = self.ways();
        let (mut state, mut found) = (vec![Bit::FALSE; self.states()], vec![Bit::FALSE; self.rules]);
        state[0] = Bit::TRUE;
        for byte in text.0.chunks(8) {
            state = step(&mut c, &ways, &state, byte);
            for (rule, found) in found.iter_mut().enumerate() {
                let here = (0..self.states()).filter(|&at| self.found[at].contains(&rule)).map(|at| state[at]);
                let here = c.xor_all(here);
                *found = c.or(*found, here);
            }
        }
        c.output("found", &Bits(found));
        Ok(c.finish())
    }

    /// For each state but the first the ways into it: classes of bytes, with the states that they lead from.
    fn ways(&self) -> Vec<Vec<Way>> {
        let mut into = vec![BTreeMap::<u8, Vec<usize>>::new(); self.states()];
        for (from, next) in self.next.iter().enumerate() {
            for (byte, &to) in (0..=255).zip(next).filter(|(_, to)| **to > 0) {
                into[to as usize].entry(byte).or_default().push(from);
            }
        }
        let classes = |bytes: BTreeMap<u8, Vec<usize>>| {
            let mut ways: BTreeMap<Vec<usize>, Vec<u8>> = BTreeMap::new();
            bytes.into_iter().for_each(|(byte, from)| ways.entry(from).or_default().push(byte));
            ways.into_iter().map(|(from, bytes)| Way { from, bytes }).collect()
        };
        into.into_iter().skip(1).map(classes).collect()
    }
}

/// From one of some states by one of some bytes.
struct Way {
    from: Vec<usize>,
    bytes: Vec<u8>,
}

/// The states after a byte: of all but the first what leads into them, and the first if none of these is it.
fn step(c: &mut Builder, ways: &[Vec<Way>], state: &[Bit], byte: &[Bit]) -> Vec<Bit> {
    let mut next = vec![Bit::TRUE];
    for ways in ways {
        let mut entered = Bit::FALSE;
        for Way { from, bytes } in ways {
            let from = c.xor_all(from.iter().map(|&at| state[at]));
            let class = class(c, bytes, byte);
            let way = c.and(from, class);
            entered = c.xor(entered, way);
        }
        next.push(entered);
        next[0] = c.xor(next[0], entered);
    }
    next
}

/// Whether a byte is one of these.
fn class(c: &mut Builder, bytes: &[u8], byte: &[Bit]) -> Bit {
    let is = |value: u8, c: &mut Builder| {
        let bits = byte.iter().enumerate().rev().map(|(i, &bit)| if value >> i & 1 == 1 { bit } else { !bit });
        bits.fold(Bit::TRUE, |all, bit| c.and(all, bit))
    };
    if bytes.len() <= 128 {
        return bytes.iter().fold(Bit::FALSE, |any, &value| {
            let is = is(value, c);
            c.xor(any, is)
        });
    }
    let others: Vec<u8> = (0..=255).filter(|value| !bytes.contains(value)).collect();
    !class(c, &others, byte)
}
