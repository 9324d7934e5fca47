//! Text of others as people see it: names in a program, and what a peer says.
//!
//! A program or a peer chooses its words. Characters that hide, move or turn around what stands beside them would make
//! the screen on which a user consents to a run lie, so they are shown by their numbers: `\u{202e}`. Letters that are
//! written from right to left are among them, since a terminal that knows them moves the digits that follow.

/// A text in one line, without characters that cannot be seen.
pub fn line(text: &str) -> String {
    escaped(text, hidden)
}

/// A text of several lines, without characters that cannot be seen.
pub fn lines(text: &str) -> String {
    escaped(text, |c| c != '\n' && hidden(c))
}

/// A name in a table or a list: as it is if it has letters, digits, `_`, `-` and `.` alone, else in quotes, so that
/// nothing in it can be taken for what stands beside it.
pub fn name(text: &str) -> String {
    let plain = |c: char| (c.is_alphanumeric() || "_-.".contains(c)) && !hidden(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' ' if quoted.ends_with(' ') => quoted.extend(c.escape_unicode()),
            c if hidden(c) => quoted.extend(c.escape_default()),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// JSON with the same strings, in which characters that cannot be seen are written by their numbers.
pub fn json(text: &str) -> String {
    let mut units = [0; 2];
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match hidden(c) {
            true => c.encode_utf16(&mut units).iter().for_each(|unit| safe += &format!("\\u{unit:04x}")),
            false => safe.push(c),
        }
    }
    safe
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Whether a character cannot be seen as what it is.
fn hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Letters and symbols that look like a space.
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => true,
        // Hebrew, Arabic and the other scripts that are written from right to left.
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' => true,
        '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}' => true,
        // Control and format characters, spaces of other widths, marks that join the letter before.
        c => c.escape_debug().len() > 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_cannot_imitate_what_stands_beside_them() {
        for (from, to) in [
            ("faces", "faces"),
            ("größe_2.b-1", "größe_2.b-1"),
            ("", r#""""#),
            ("a face", r#""a face""#),
            ("x  (you)", r#""x \u{20}(you)""#),
            ("a\u{202e}b", r#""a\u{202e}b""#),
            ("a\u{200b}", r#""a\u{200b}""#),
            ("a\u{a0}b\u{3000}", r#""a\u{a0}b\u{3000}""#),
            ("a\u{2800}b\u{3164}", r#""a\u{2800}b\u{3164}""#),
            ("\u{1b}[2J\n\u{9b}\u{7f}", r#""\u{1b}[2J\n\u{9b}\u{7f}""#),
            ("\u{5d0}1", r#""\u{5d0}1""#),
            ("e\u{301}", r#""e\u{301}""#),
            (r#"a" b\"#, r#""a\" b\\""#),
        ] {
            assert_eq!(name(from), to, "{from:?}");
        }
    }

    #[test]
    fn messages_keep_their_own_characters() {
        let ours = "the input 'a': 3 × uint(8) → 2⁶⁴, 5 µs … it's";
        assert_eq!(line(ours), ours);
        assert_eq!(line("a\nb\u{202e}"), "a\\nb\\u{202e}");
        assert_eq!(lines("a\nb\u{202e}\r"), "a\nb\\u{202e}\\r");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text: String) {
            prop_assert!(!line(&text).chars().any(hidden) && !name(&text).chars().any(hidden));
        }

        #[test]
        fn names_are_told_apart(a in "[a\\\\\" \u{202e}u{}0-2]{0,6}", b in "[a\\\\\" \u{202e}u{}0-2]{0,6}") {
            prop_assert_eq!(a == b, name(&a) == name(&b));
        }

        #[test]
        fn json_means_what_it_meant(text: String) {
            let before = serde_json::to_string(&text).unwrap();
            let after = json(&before);
            prop_assert!(!after.chars().any(hidden));
            prop_assert_eq!(serde_json::from_str::<String>(&after).unwrap(), text);
        }
    }
}
