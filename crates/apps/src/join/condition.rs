//! Conditions on rows of a join.

use super::Column;
use duologue::circuit::Party;
use std::fmt;
use zeroize::Zeroizing;

/// Of each row whether something holds of it.
pub(super) type Rows = Zeroizing<Vec<bool>>;

/// A comparison of a party's column with a constant, which is public.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Test {
    /// The column.
    pub column: Column,
    /// `<`, `<=`, `=`, `!=`, `>=` or `>`.
    pub sign: &'static str,
    /// The constant, as the column's form has it.
    pub value: String,
}

impl Test {
    /// All comparisons there are.
    pub const SIGNS: [&'static str; 6] = ["<", "<=", "=", "!=", ">=", ">"];

    /// Whether a value that compares so with the constant passes.
    pub fn passes(&self, with_the_constant: std::cmp::Ordering) -> bool {
        match self.sign {
            "<" => with_the_constant.is_lt(),
            "<=" => with_the_constant.is_le(),
            "=" => with_the_constant.is_eq(),
            "!=" => with_the_constant.is_ne(),
            ">=" => with_the_constant.is_ge(),
            _ => with_the_constant.is_gt(),
        }
    }
}

/// A condition on a row of both tables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// A comparison.
    Test(Test),
    /// All of these hold.
    All(Vec<Condition>),
    /// At least one of these holds.
    Any(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
}

/// How deep conditions may lie in others.
const MOST_DEPTH: usize = 64;

/// The most tests of a condition.
const MOST_TESTS: usize = 1 << 10;

impl Condition {
    /// The party whose columns alone it is on.
    pub fn party(&self) -> Option<Party> {
        match self {
            Condition::Test(test) => Some(test.column.party),
            Condition::Not(inner) => inner.party(),
            Condition::All(parts) | Condition::Any(parts) => {
                let mut parties = parts.iter().map(Condition::party);
                let first = parties.next().flatten()?;
                parties.all(|party| party == Some(first)).then_some(first)
            }
        }
    }

    /// Its tests, in the order of its text.
    pub(super) fn tests(&self) -> Vec<&Test> {
        match self {
            Condition::Test(test) => vec![test],
            Condition::Not(inner) => inner.tests(),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().flat_map(Condition::tests).collect(),
        }
    }

    /// Of every row whether it holds, by what each of its tests says.
    pub(super) fn evaluate(&self, of: &impl Fn(&Test) -> Rows) -> Rows {
        match self {
            Condition::Test(test) => of(test),
            Condition::Not(inner) => {
                let mut rows = inner.evaluate(of);
                rows.iter_mut().for_each(|holds| *holds = !*holds);
                rows
            }
            Condition::All(parts) => joined(parts, of, |one, other| one & other),
            Condition::Any(parts) => joined(parts, of, |one, other| one | other),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match () {
            () if self.is_deeper(MOST_DEPTH) => Err(format!("conditions lie at most {MOST_DEPTH} deep in others")),
            () if self.tests().len() > MOST_TESTS => Err(format!("a condition has at most {MOST_TESTS} tests")),
            () if self.has_nothing() => Err("'and' and 'or' join something".into()),
            () => match self.tests().into_iter().find(|test| !Test::SIGNS.contains(&test.sign)) {
                Some(test) => Err(format!("'{}' compares nothing", test.sign.escape_debug())),
                None => Ok(()),
            },
        }
    }

    fn is_deeper(&self, than: usize) -> bool {
        let Some(rest) = than.checked_sub(1) else { return true };
        match self {
            Condition::Test(_) => false,
            Condition::Not(inner) => inner.is_deeper(rest),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(|part| part.is_deeper(rest)),
        }
    }

    /// Whether somewhere no conditions are joined.
    fn has_nothing(&self) -> bool {
        match self {
            Condition::Test(_) => false,
            Condition::Not(inner) => inner.has_nothing(),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.is_empty() || parts.iter().any(Condition::has_nothing)
            }
        }
    }
}

fn joined(parts: &[Condition], of: &impl Fn(&Test) -> Rows, join: fn(bool, bool) -> bool) -> Rows {
    let all = parts.iter().map(|part| part.evaluate(of));
    let both = |mut one: Rows, other: Rows| {
        one.iter_mut().zip(other.iter()).for_each(|(one, other)| *one = join(*one, *other));
        one
    };
    all.reduce(both).unwrap_or_default()
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.column, self.sign, self.value)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Condition], word: &str| {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            write!(f, "({})", parts.join(word))
        };
        match self {
            Condition::Test(test) => test.fmt(f),
            Condition::Not(inner) => write!(f, "not {inner}"),
            Condition::All(parts) => list(f, parts, " and "),
            Condition::Any(parts) => list(f, parts, " or "),
        }
    }
}
