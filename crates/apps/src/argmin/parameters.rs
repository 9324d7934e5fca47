//! The parameters of a call: what is in the digest of a program, and so in the terms.

use duologue::circuit::{Error, Result};

/// The most bits of a value.
pub const MOST_BITS: u32 = 128;

/// The most bits of an argument.
pub const MOST_ARGUMENT: u32 = 1 << 12;

/// The most values, of both parties together.
pub const MOST_VALUES: u64 = 1 << 24;

/// The most comparisons of a call: each has a place in lists of those who are compared.
const MOST_COMPARISONS: u64 = 1 << 25;

/// The most comparisons for each value: groups of 64 on all levels take less, and what is larger is faster over no line.
const MOST_COMPARISONS_OF_A_VALUE: u64 = 32;

/// How the values are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Every value is the sum of a number of Alice's and one of Bob's, modulo 2^(l+1).
    Shared,
    /// Each party has values of its own, and knows them.
    Halves,
    /// Every value is the XOR of bits of Alice's and of Bob's.
    Strings,
}

/// Which party sends the OTs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// Both: the fewest OTs and messages.
    #[default]
    Both,
    /// One party all of them but one for each value that is left behind: for makers whose first few OTs in a direction
    /// cost little, such as `silent`.
    One,
}

/// What both parties agree on beside the types and the lanes of the values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// How the values are held.
    pub form: Form,
    /// Bits of the index of the least value, which is the result in place of an argument; 0 if arguments are given.
    pub index: u8,
    /// Which party sends the OTs.
    pub direction: Direction,
    /// How many values of a level are compared with each other, pair by pair, level by level; two on all further levels.
    /// With an index all but the last level that is needed must have a power of two.
    pub groups: Vec<u32>,
}

impl Parameters {
    /// An index of `index` bits, or for 0 arguments, by groups of two.
    pub fn new(form: Form, index: u8) -> Parameters {
        Parameters { form, index, direction: Direction::default(), groups: Vec::new() }
    }

    /// As bytes of a call.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [self.form as u8, self.index, self.direction as u8];
        head.into_iter().chain(self.groups.iter().flat_map(|group| group.to_le_bytes())).collect()
    }

    /// From the bytes of a call.
    ///
    /// # Errors
    /// [`Error::Usage`] if they are of no parameters.
    pub fn from_bytes(bytes: &[u8]) -> Result<Parameters> {
        let refuse = |why: &str| Err(Error::usage(format!("its parameters {why}")));
        let Some((&[form, index, direction], groups)) = bytes.split_first_chunk() else {
            return refuse("have three bytes at least");
        };
        let (groups, rest) = groups.as_chunks();
        let groups: Vec<u32> = groups.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
        let form = match form {
            0 => Form::Shared,
            1 => Form::Halves,
            2 => Form::Strings,
            _ => return refuse("have a form of values that there is not"),
        };
        let direction = match direction {
            0 => Direction::Both,
            1 => Direction::One,
            _ => return refuse("have a direction of OTs that there is not"),
        };
        match () {
            () if !rest.is_empty() => refuse("end within the size of a group"),
            () if index > 64 => refuse("have an index of more than 64 bits"),
            () if groups.len() > 64 || groups.iter().any(|&group| group < 2) => {
                refuse("have at most 64 groups, of two values or more")
            }
            () => Ok(Parameters { form, index, direction, groups }),
        }
    }

    /// The groups of the levels for so many values: never more than there are.
    pub fn levels(&self, values: usize) -> Vec<usize> {
        let (mut left, mut levels) = (values, Vec::new());
        let mut groups = self.groups.iter().map(|&group| group as usize).chain(std::iter::repeat(2));
        while left > 1 {
            let group = groups.next().map_or(2, |group| group.clamp(2, left));
            levels.push(group);
            left = left.div_ceil(group);
        }
        levels
    }

    /// Whether so many values can be compared.
    ///
    /// # Errors
    /// [`Error::Usage`] that says why not.
    pub fn check(&self, values: u64) -> Result<()> {
        let refuse = |why: String| Err(Error::usage(why));
        if !(1..=MOST_VALUES).contains(&values) {
            return refuse(format!("1 to {MOST_VALUES} values, not {values}"));
        }
        if self.index > 0 && self.index < 64 && values > 1 << self.index {
            return refuse(format!(
                "an index of {} bits for at most {} values, not {values}",
                self.index,
                1u64 << self.index
            ));
        }
        let levels = self.levels(if self.form == Form::Halves { 2 } else { values as usize });
        let (mut left, mut comparisons) = (values, 0);
        for &group in &levels {
            comparisons += left * (group as u64 - 1) / 2;
            left = left.div_ceil(group as u64);
        }
        let most = MOST_COMPARISONS.min(values.saturating_mul(MOST_COMPARISONS_OF_A_VALUE));
        let below = levels.split_last().map_or(&[][..], |(_, below)| below);
        match () {
            () if comparisons > most => {
                refuse(format!("at most {most} comparisons, not {comparisons}: make the groups smaller"))
            }
            () if self.index > 0 && below.iter().any(|group| !group.is_power_of_two()) => {
                refuse("an index needs powers of two as groups on all levels but the last".into())
            }
            () => Ok(()),
        }
    }
}
