//! Tags: what the sender says of each of its strings, and how both parties sort and compare them.

use duologue::{Error, Result};
use kernels::Block;
use kernels::generator::Generator;
use zeroize::Zeroizing;

/// Bits of the number of a string beside its tag.
const NUMBER: u32 = 32;

/// The number of a tag that no string has.
const NOBODYS: u32 = u32::MAX;

/// Tags of a party's strings in ascending order, each with the number of its string.
pub struct Tags {
    /// The tag times 2³², and the number.
    sorted: Zeroizing<Vec<u128>>,
    /// Bytes of a tag.
    len: usize,
}

/// The tag of a string: the first bytes of BLAKE3 under the call's key, as a number.
fn tag(key: &[u8; 32], len: usize, value: Block, string: Block) -> u128 {
    let mut input = [0; 32];
    input[..16].copy_from_slice(&value.to_bytes());
    input[16..].copy_from_slice(&string.to_bytes());
    number(&blake3::keyed_hash(key, &input).as_bytes()[..len])
}

/// Little-endian bytes as a number.
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

impl Tags {
    /// The tags of strings with what they decode to.
    pub fn new(key: &[u8; 32], len: usize, values: &[Block], strings: &[Block]) -> Tags {
        let tags = values.iter().zip(strings).map(|(&value, &string)| tag(key, len, value, string));
        let mut sorted: Zeroizing<Vec<u128>> =
            Zeroizing::new(tags.zip(0..).map(|(tag, number)| tag << NUMBER | number).collect());
        sorted.sort_unstable();
        Tags { sorted, len }
    }

    /// Puts random tags in place of those that come again. Returns which strings lost theirs, with those that have it.
    pub fn make_distinct(&mut self, random: &mut Generator) -> Vec<(u32, u32)> {
        let mut again = Vec::new();
        loop {
            let (mut first, mut changed) = (None, false);
            for one in self.sorted.iter_mut() {
                match first {
                    Some(first) if first >> NUMBER == *one >> NUMBER => {
                        if *one as u32 != NOBODYS {
                            again.push((*one as u32, first as u32));
                        }
                        let mut bytes = Zeroizing::new(vec![0; self.len]);
                        random.fill(&mut bytes);
                        *one = number(&bytes) << NUMBER | u128::from(NOBODYS);
                        changed = true;
                    }
                    _ => first = Some(*one),
                }
            }
            if !changed {
                return again;
            }
            self.sorted.sort_unstable();
        }
    }

    /// Tags of some places as they travel.
    pub fn write(&self, places: std::ops::Range<usize>) -> Vec<u8> {
        let bytes = self.sorted[places].iter().map(|tag| (tag >> NUMBER).to_le_bytes());
        bytes.flat_map(|bytes| bytes.into_iter().take(self.len)).collect()
    }

    /// The number of the string whose tag is at a place.
    pub fn string(&self, place: usize) -> Option<usize> {
        let number = self.sorted[place] as u32;
        (number != NOBODYS).then_some(number as usize)
    }
}

/// The peer's tags, which are compared with ours as they come.
pub struct Comparison {
    tags: Tags,
    /// The place of the first of our tags that none of the peer's has reached.
    at: usize,
    last: Option<u128>,
}

impl Comparison {
    pub fn new(tags: Tags) -> Comparison {
        Comparison { tags, at: 0, last: None }
    }

    /// Reads the peer's next tags; calls `found` with the place of a tag among those, and the number of a string of ours that has it.
    ///
    /// # Errors
    /// [`Error::Peer`] if they do not ascend.
    pub fn read(&mut self, bytes: &[u8], mut found: impl FnMut(usize, usize)) -> Result<()> {
        for (place, tag) in bytes.chunks_exact(self.tags.len).map(number).enumerate() {
            if self.last.is_some_and(|last| last >= tag) {
                return Err(Error::peer("its tags do not ascend"));
            }
            self.last = Some(tag);
            let own = self.tags.sorted[self.at..].iter();
            self.at += own.clone().take_while(|&&own| own >> NUMBER < tag).count();
            let own = self.tags.sorted[self.at..].iter();
            own.take_while(|&&own| own >> NUMBER == tag).for_each(|&own| found(place, (own as u32) as usize));
        }
        Ok(())
    }
}
