//! Text that both parties must have equal: names and values, a line each; the first that differs is named on both sides.

use crate::ot::silent::why_gone;
use crate::{Error, Result};
use circuit::program::Outline;

/// Names and values that both parties must have equal.
pub(crate) type Fields = Vec<(&'static str, String)>;

/// Terms that are read again: the protocol, who garbles and in which way, and how many lanes are computed at once.
pub(crate) const PROTOCOL: &str = "the protocol";
pub(crate) const GARBLER: &str = "who garbles";
pub(crate) const GARBLING: &str = "how ANDs are garbled";
pub(crate) const TILE: &str = "the lanes of a tile";

/// A term that is there only if it is not as usual, and how it is then.
pub(crate) const STRANDS: (&str, &str) = ("the number of strands", "1");
pub(crate) const PART: (&str, &str) = ("which part of which job", "no job");

/// The terms that may be missing.
const OPTIONAL: [(&str, &str); 2] = [STRANDS, PART];

/// The program's name and digest; and a field that is no term, but helps to tell where two programs differ. Whoever tells it
/// and whoever does not agree on all the same.
pub(crate) const PROGRAM: &str = "the program";
pub(crate) const STEPS: &str = "the steps of the program";

/// The name of the field that says which call a party makes. It comes first, so that parties that call for different things hear just that.
pub(crate) const CALL: &str = "what is called for";

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The most bytes of the peer's terms.
pub(crate) const MOST_BYTES: usize = 1 << 16;

/// Terms as they travel: a line for each.
pub(crate) fn encode(fields: &Fields) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| format!("{name}\t{}\n", value.escape_default()).into_bytes()).collect()
}

/// Compares the peer's terms with ours; the first difference is the error.
pub fn compare(ours: &[(&'static str, String)], theirs: &[u8]) -> Result<()> {
    let theirs = std::str::from_utf8(theirs).map_err(|_| Error::peer("its terms are not text"))?;
    let is_term = |name: Option<&str>| name != Some(STEPS);
    let mut lines = theirs.lines().filter(|line| is_term(line.split('\t').next()));
    for (name, value) in ours.iter().filter(|(name, _)| is_term(Some(name))) {
        let ours = value.escape_default().to_string();
        let line = lines.next().ok_or_else(|| Error::peer("its terms end too early"))?;
        let (their_name, theirs) = line.split_once('\t').ok_or_else(|| Error::peer("its terms have no values"))?;
        let incompatible =
            |what, ours, theirs| Err(Error::Incompatible { what, ours: readable(ours), theirs, place: None });
        if their_name != *name {
            let only = |whose: &str| OPTIONAL.into_iter().find(|&(optional, _)| optional == whose);
            return match (only(their_name), only(name)) {
                (Some((name, usual)), _) => incompatible(name, usual, readable(&printable(theirs))),
                (None, Some((name, usual))) => incompatible(name, &ours, usual.into()),
                (None, None) => Err(Error::peer("its terms are in another order")),
            };
        }
        if theirs != ours {
            return Err(Error::Incompatible {
                what: name,
                ours: readable(&ours),
                theirs: why_gone(theirs).unwrap_or_else(|| readable(&printable(theirs))),
                place: None,
            });
        }
    }
    match lines.next() {
        Some(_) => Err(Error::peer("it has more terms than we")),
        None => Ok(()),
    }
}

/// The outline of the peer's program, if its terms tell one.
pub(crate) fn outline(theirs: &[u8]) -> Option<Outline> {
    let mut lines = std::str::from_utf8(theirs).ok()?.lines();
    lines.find_map(|line| line.split_once('\t').filter(|(name, _)| *name == STEPS))?.1.parse().ok()
}

/// A value as people read it: its quotes stand for themselves, what cannot be seen stays escaped.
pub(crate) fn readable(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            ('\\', Some('\'' | '"')) => {}
            ('\\', Some('\\')) => text.extend(['\\'].into_iter().chain(rest.next())),
            _ => text.push(c),
        }
    }
    text
}

/// The peer's text, fit for a terminal.
fn printable(text: &str) -> String {
    text.chars().take(300).map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_without_escaped_quotes() {
        let fields = |value: &str| vec![("the program", value.to_string())];
        let why = compare(&fields("'add' 01"), &encode(&fields("'it\u{202e}s \"2\\\"' 02"))).unwrap_err().to_string();
        assert_eq!(
            why,
            "the parties do not agree on the program: ours is 'add' 01, theirs is 'it\\u{202e}s \"2\\\\\"' 02"
        );
    }

    #[test]
    fn what_a_peer_sends_instead_of_terms_stays_printable() {
        let theirs = "the program\t'\u{1b}[2J\u{202e}'\n";
        let why = compare(&[("the program", "'add'".into())], theirs.as_bytes()).unwrap_err().to_string();
        assert!(why.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{why}");
    }
}
