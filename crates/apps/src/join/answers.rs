//! Figures as the learners get them.

use super::program::told_port;
use super::{Figure, MEAN_FRACTION, Query, What};
use duologue::{Error, Outputs, Result};
use std::fmt;

/// A figure of a group, or of all rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Fewer rows are behind it than the minimum; or it is a mean of none.
    Withheld,
    /// How many rows, or what they add up to.
    Whole(i64),
    /// A mean, as a multiple of 2⁻¹⁶.
    Mean(i128),
}

impl Query {
    /// Of each figure the answers for its groups, or one; nothing if this party learns none.
    ///
    /// # Errors
    /// [`Error::Usage`] if the outputs are not those of this query's program.
    pub fn answers(&self, outputs: &Outputs) -> Result<Option<Vec<Vec<Answer>>>> {
        match self.figures.iter().all(|figure| outputs.get(&figure.name).is_none()) {
            true => Ok(None),
            false => self.figures.iter().map(|figure| figure.answers(outputs)).collect::<Result<_>>().map(Some),
        }
    }
}

impl Figure {
    fn answers(&self, outputs: &Outputs) -> Result<Vec<Answer>> {
        let missing = || Error::usage("outputs of another program");
        let value = outputs.get(&self.name).ok_or_else(missing)?;
        let told = match self.least() {
            0 => vec![1; value.lanes()],
            _ => outputs.get(&told_port(self)).ok_or_else(missing)?.to_numbers::<u8>()?,
        };
        let answers: Vec<Answer> = match self.what {
            What::Mean(_) => value.to_numbers::<i128>()?.into_iter().map(Answer::Mean).collect(),
            // The most rows have the uppermost bit, which is no sign.
            What::Count => value.to_numbers::<u32>()?.into_iter().map(|rows| Answer::Whole(rows.into())).collect(),
            What::Sum(_) => value.to_numbers::<i64>()?.into_iter().map(Answer::Whole).collect(),
        };
        Ok(answers
            .into_iter()
            .zip(told)
            .map(|(answer, told)| if told == 1 { answer } else { Answer::Withheld })
            .collect())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Answer::Withheld => f.write_str("withheld"),
            Answer::Whole(number) => number.fmt(f),
            Answer::Mean(number) => {
                let unit = 1u128 << MEAN_FRACTION;
                let (whole, rest) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
                let sign = if number < 0 { "-" } else { "" };
                // Sixteen binary places are sixteen decimal ones.
                let rest = format!("{:016}", rest * 10u128.pow(MEAN_FRACTION) / unit);
                let rest = rest.trim_end_matches('0');
                write!(f, "{sign}{whole}{}{rest}", if rest.is_empty() { "" } else { "." })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_exact_decimals() {
        for (number, text) in [
            (0, "0"),
            (1 << 16, "1"),
            (-(1 << 15), "-0.5"),
            (1, "0.0000152587890625"),
            (-(3 << 16) - 1, "-3.0000152587890625"),
        ] {
            assert_eq!(Answer::Mean(number).to_string(), text);
        }
        assert_eq!([Answer::Withheld, Answer::Whole(-7)].map(|answer| answer.to_string()), ["withheld", "-7"]);
    }
}
