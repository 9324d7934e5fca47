//! Conditions as people write them.
//!
//! ```text
//! condition   term { "or" term }            term   factor { "and" factor }
//! factor      "not" factor | "(" condition ")" | COLUMN SIGN CONSTANT
//! ```

use super::columns::{Cells, Columns};
use crate::failure::{Exit, Failure};
use apps::join::{Condition, Test};

/// How deep parentheses and 'not' may lie in others.
const MOST_DEPTH: usize = 60;

/// A word of a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    /// A name, a number, or `and`, `or`, `not`.
    Plain(String),
    /// Text in quotes.
    Quoted(String),
    Sign(&'static str),
    Open,
    Close,
}

/// Reads a condition.
pub fn read(text: &str, columns: &Columns) -> Result<Condition, Failure> {
    let mut reader = Reader { words: words(text)?, next: 0, columns };
    let condition = reader.condition(0)?;
    match reader.words.get(reader.next) {
        None => Ok(condition),
        Some(word) => Err(refuse(format!("{} follows a whole condition", shown(Some(word))))),
    }
}

fn refuse(why: String) -> Failure {
    let hint = "write conditions as in \"views >= 10 and not (region = 'north' or amount < 2.50)\"";
    Failure::new(Exit::CommandLine, format!("--where: {why}")).hint(hint)
}

fn shown(word: Option<&Word>) -> String {
    match word {
        None => "nothing".into(),
        Some(Word::Plain(word) | Word::Quoted(word)) => format!("'{}'", word.escape_debug()),
        Some(Word::Sign(sign)) => format!("'{sign}'"),
        Some(Word::Open) => "'('".into(),
        Some(Word::Close) => "')'".into(),
    }
}

fn words(text: &str) -> Result<Vec<Word>, Failure> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '(' => (Word::Open, 1),
            ')' => (Word::Close, 1),
            '\'' | '"' => quoted(rest, first)?,
            _ => match sign(rest) {
                Some((sign, length)) => (Word::Sign(sign), length),
                None => plain(rest)?,
            },
        };
        words.push(word);
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// A sign and its bytes; the longest that fits.
fn sign(text: &str) -> Option<(&'static str, usize)> {
    let signs = ["<=", ">=", "!=", "==", "<", ">", "="];
    let sign = signs.into_iter().find(|sign| text.starts_with(sign))?;
    Some((if sign == "==" { "=" } else { sign }, sign.len()))
}

/// Text in quotes, which are doubled inside.
fn quoted(text: &str, quote: char) -> Result<(Word, usize), Failure> {
    let (mut inside, mut chars) = (String::new(), text.char_indices().skip(1).peekable());
    while let Some((at, c)) = chars.next() {
        match (c == quote, chars.peek()) {
            (true, Some((_, again))) if *again == quote => _ = chars.next(),
            (true, _) => return Ok((Word::Quoted(inside), at + 1)),
            _ => {}
        }
        inside.push(c);
    }
    Err(refuse("a quote is not closed".into()))
}

fn plain(text: &str) -> Result<(Word, usize), Failure> {
    let ends = |c: char| !(c.is_alphanumeric() || "._-:+".contains(c));
    match text.find(ends).unwrap_or(text.len()) {
        0 => Err(refuse(format!("'{}' says nothing", text.chars().take(1).collect::<String>().escape_debug()))),
        length => Ok((Word::Plain(text[..length].into()), length)),
    }
}

struct Reader<'a> {
    words: Vec<Word>,
    next: usize,
    columns: &'a Columns,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<Word> {
        self.next += 1;
        self.words.get(self.next - 1).cloned()
    }

    /// Takes the next word if it is this one.
    fn takes(&mut self, word: &Word) -> bool {
        let found = self.words.get(self.next) == Some(word);
        self.next += usize::from(found);
        found
    }

    fn takes_plain(&mut self, word: &str) -> bool {
        self.takes(&Word::Plain(word.into()))
    }

    fn condition(&mut self, depth: usize) -> Result<Condition, Failure> {
        self.joined(depth, "or", Reader::term, Condition::Any)
    }

    fn term(&mut self, depth: usize) -> Result<Condition, Failure> {
        self.joined(depth, "and", Reader::factor, Condition::All)
    }

    fn joined(
        &mut self,
        depth: usize,
        word: &str,
        part: fn(&mut Self, usize) -> Result<Condition, Failure>,
        join: fn(Vec<Condition>) -> Condition,
    ) -> Result<Condition, Failure> {
        let mut parts = vec![part(self, depth)?];
        while self.takes_plain(word) {
            parts.push(part(self, depth)?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        // What parentheses join in the same way is one list.
        let is_any = matches!(join(Vec::new()), Condition::Any(_));
        let flat = parts.into_iter().flat_map(|part| match part {
            Condition::Any(inner) if is_any => inner,
            Condition::All(inner) if !is_any => inner,
            other => vec![other],
        });
        Ok(join(flat.collect()))
    }

    fn factor(&mut self, depth: usize) -> Result<Condition, Failure> {
        if depth > MOST_DEPTH {
            return Err(refuse(format!("conditions lie at most {MOST_DEPTH} deep in others")));
        }
        if self.takes_plain("not") {
            return Ok(Condition::Not(Box::new(self.factor(depth + 1)?)));
        }
        if !self.takes(&Word::Open) {
            return self.test();
        }
        let inner = self.condition(depth + 1)?;
        match self.take() {
            Some(Word::Close) => Ok(inner),
            other => Err(refuse(format!("expected ')', not {}", shown(other.as_ref())))),
        }
    }

    fn test(&mut self) -> Result<Condition, Failure> {
        let name = match self.take() {
            Some(Word::Plain(name) | Word::Quoted(name)) => name,
            other => return Err(refuse(format!("expected the name of a column, not {}", shown(other.as_ref())))),
        };
        let sign = match self.take() {
            Some(Word::Sign(sign)) => sign,
            other => {
                let why = format!(
                    "expected < <= = != >= or > behind '{}', not {}",
                    name.escape_debug(),
                    shown(other.as_ref())
                );
                return Err(refuse(why));
            }
        };
        let constant = match self.take() {
            Some(Word::Plain(text) | Word::Quoted(text)) => text,
            other => return Err(refuse(format!("expected a constant behind '{sign}', not {}", shown(other.as_ref())))),
        };
        let declared = self.columns.find(&name)?;
        if matches!(declared.cells, Cells::Text) && !["=", "!="].contains(&sign) {
            return Err(refuse(format!("{} is text, which is compared by = and != alone", declared.column)));
        }
        let value = declared.constant(&constant)?;
        Ok(Condition::Test(Test { column: declared.column.clone(), sign, value }))
    }
}
