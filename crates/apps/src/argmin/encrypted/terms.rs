//! The terms of a call over ciphertexts: what is in the digest of a program, and so what both parties compare.

use super::super::parameters::Direction;
use duologue::circuit::{Error, Party, Result};

/// The most values.
pub const MOST_VALUES: u64 = 1 << 20;

/// The most bits of a value, and of an argument.
pub const MOST_BITS: u32 = 128;

/// Bits of a key that a call can be bound to.
const KEY_BITS: std::ops::RangeInclusive<u32> = 256..=3072;

/// Bytes before the groups.
const HEAD: usize = 43;

/// What both parties agree on beside the number of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Who holds the ciphertexts and gets the result; the other party has the key that they are of.
    pub server: Party,
    /// T, the bits of the key's modulus.
    pub key_bits: u32,
    /// Its id, `PublicKey::id`.
    pub key: [u8; 32],
    /// l, the bits of a value.
    pub bits: u32,
    /// The bits of an argument, which is the result with the least value; none for its index.
    pub argument: Option<u32>,
    /// Statistical security in bits: of the whole run where `duologue` computes, of each number where others do.
    pub statistical: u32,
    /// Whether the parties agree to a protocol that tells one of them more than the result.
    pub leaky: bool,
    /// Which party sends the OTs of comparisons.
    pub direction: Direction,
    /// How many values of a level are compared with each other, as in [`Parameters`](super::super::Parameters).
    pub groups: Vec<u32>,
}

impl Terms {
    /// Pairs of values of `bits` bits, with the index of the least one or with arguments of so many bits, 40 bits of
    /// statistical security.
    pub fn new(server: Party, (key_bits, key): (u32, [u8; 32]), bits: u32, argument: Option<u32>) -> Terms {
        let direction = Direction::default();
        Terms { server, key_bits, key, bits, argument, statistical: 40, leaky: false, direction, groups: Vec::new() }
    }

    /// As bytes of a call. A number that has no place there becomes one that is refused when they are read.
    pub fn to_bytes(&self) -> Vec<u8> {
        let small = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        let argument = self.argument.map_or(0, |bits| if bits == 0 { u8::MAX } else { small(bits) });
        let mut bytes = vec![self.server as u8, self.leaky as u8, self.direction as u8, small(self.statistical)];
        bytes.extend(self.key_bits.to_le_bytes());
        bytes.extend(self.key);
        bytes.extend([small(self.bits), argument, 0]);
        bytes.extend(self.groups.iter().flat_map(|group| group.to_le_bytes()));
        bytes
    }

    /// From the bytes of a call.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are of no terms.
    pub fn from_bytes(bytes: &[u8]) -> Result<Terms> {
        let refuse = |why: &str| Err(Error::usage(format!("its terms {why}")));
        let Some((head, groups)) = bytes.split_first_chunk::<HEAD>() else {
            return refuse("are cut short");
        };
        let [server, leaky, direction, statistical, a, b, c, d, .., bits, argument, zero] = *head;
        let (Some(server), Some(leaky), Some(direction)) =
            (one_of(server, PARTIES), flag(leaky), one_of(direction, DIRECTIONS))
        else {
            return refuse("have a party, a direction of OTs or a consent that there is not");
        };
        let mut key = [0; 32];
        key.copy_from_slice(&head[8..40]);
        let (groups, rest) = groups.as_chunks();
        let groups: Vec<u32> = groups.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        let (key_bits, bits, argument) = (u32::from_le_bytes([a, b, c, d]), u32::from(bits), u32::from(argument));
        match () {
            () if zero != 0 || !rest.is_empty() => refuse("end within the size of a group"),
            () if !KEY_BITS.contains(&key_bits) || !key_bits.is_multiple_of(64) => {
                refuse("have a key that is not of 256 to 3072 bits, a multiple of 64")
            }
            () if !(1..=MOST_BITS).contains(&bits) || argument > MOST_BITS => {
                refuse("have values or arguments that are not of 1 to 128 bits")
            }
            () if !(40..=128).contains(&statistical) => {
                refuse("have a statistical security that is not of 40 to 128 bits")
            }
            () if groups.len() > 64 || groups.iter().any(|&group| group < 2) => {
                refuse("have at most 64 groups, of two values or more")
            }
            () => {
                let (statistical, argument) = (statistical.into(), Some(argument).filter(|&bits| bits > 0));
                Ok(Terms { server, key_bits, key, bits, argument, statistical, leaky, direction, groups })
            }
        }
    }
}

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];
const DIRECTIONS: [Direction; 2] = [Direction::Both, Direction::One];

fn one_of<T: Copy>(place: u8, all: [T; 2]) -> Option<T> {
    all.get(usize::from(place)).copied()
}

fn flag(byte: u8) -> Option<bool> {
    one_of(byte, [false, true])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms {
            leaky: true,
            statistical: 57,
            direction: Direction::One,
            groups: vec![3, 70_000],
            ..Terms::new(Party::Bob, (3072, std::array::from_fn(|i| i as u8)), 128, Some(7))
        }
    }

    #[test]
    fn terms_survive_their_bytes() {
        let index = Terms { argument: None, groups: Vec::new(), leaky: false, server: Party::Alice, ..terms() };
        for terms in [terms(), index] {
            assert_eq!(Terms::from_bytes(&terms.to_bytes()).unwrap(), terms);
        }
    }

    #[test]
    fn terms_that_cannot_be_are_refused_when_they_are_read() {
        for terms in [
            Terms { bits: 256 + 32, ..terms() },
            Terms { argument: Some(0), ..terms() },
            Terms { argument: Some(256 + 8), ..terms() },
            Terms { statistical: 256 + 40, ..terms() },
        ] {
            assert!(Terms::from_bytes(&terms.to_bytes()).is_err(), "{terms:?}");
        }
    }

    /// Terms come from files of others: whatever they are, there is an answer, and one way to write it.
    #[test]
    fn any_bytes_are_terms_or_refused() {
        let (good, mut taken, mut state) = (terms().to_bytes(), 0, 1_u64);
        for _ in 0..20_000 {
            let mut roll = |sides: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % sides
            };
            let mut bytes = good.clone();
            bytes.truncate(HEAD + roll(9));
            for _ in 0..roll(3) {
                let place = roll(bytes.len());
                bytes[place] = roll(256) as u8;
            }
            if let Ok(terms) = Terms::from_bytes(&bytes) {
                assert_eq!(terms.to_bytes(), bytes);
                taken += 1;
            }
        }
        assert!(taken > 1000, "{taken}");
    }

    #[test]
    fn other_bytes_are_refused_by_name() {
        let good = terms().to_bytes();
        let with = |place: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[place] = byte;
            bytes
        };
        for (bytes, why) in [
            (good[..HEAD - 1].to_vec(), "cut short"),
            (with(0, 2), "a party"),
            (with(1, 2), "a consent"),
            (with(2, 2), "a direction"),
            (with(3, 39), "statistical"),
            (with(3, 129), "statistical"),
            (with(4, 1), "a key"),
            (with(7, 1), "a key"),
            (with(40, 0), "1 to 128 bits"),
            (with(40, 129), "1 to 128 bits"),
            (with(41, 129), "1 to 128 bits"),
            (with(42, 1), "end within"),
            (good[..good.len() - 1].to_vec(), "end within"),
            (with(HEAD, 1), "groups"),
        ] {
            let error = Terms::from_bytes(&bytes).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
