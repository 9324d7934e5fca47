//! Forms into which keys are brought before they are compared.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// What is done to a key before it is compared, at both parties alike. Each way has a version: with another meaning it gets another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Normalise {
    /// Nothing: keys are compared byte by byte.
    #[default]
    Nothing,
    /// For addresses of mail, version 1: blanks, tabs and ends of lines before and behind are dropped, and A to Z become a to z. It has one
    /// `@` with something on either side. All else stays: dots, what follows a `+`, and letters beyond ASCII.
    Email,
}

impl Normalise {
    /// The key as it is compared; none if it is no key of this kind.
    pub fn apply(self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self {
            Normalise::Nothing => (!key.is_empty()).then_some(Cow::Borrowed(key)),
            Normalise::Email => {
                let address = key.trim_ascii();
                let at = address.iter().position(|&byte| byte == b'@')?;
                let is_one = 0 < at && at + 1 < address.len() && !address[at + 1..].contains(&b'@');
                is_one.then(|| Cow::Owned(address.to_ascii_lowercase()))
            }
        }
    }

    /// What a key must be.
    pub fn expected(self) -> &'static str {
        match self {
            Normalise::Nothing => "a key, not an empty one",
            Normalise::Email => "an address with one '@'",
        }
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Normalise::Nothing => "as it is",
            Normalise::Email => "email 1",
        })
    }
}

impl FromStr for Normalise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "email" => Ok(Normalise::Email),
            _ => Err(format!("'{}' is no way to bring keys into one form: there is email", text.escape_debug())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_one() {
        let of = |key: &str| Normalise::Email.apply(key.as_bytes()).map(|key| String::from_utf8(key.into()).unwrap());
        for (key, expected) in [
            (" Ann@Example.ORG\r\n", Some("ann@example.org")),
            ("a.b+c@d", Some("a.b+c@d")),
            ("ÄB@ö.de", Some("Äb@ö.de")),
            ("a b@c", Some("a b@c")),
            ("@c", None),
            ("a@", None),
            ("a@b@c", None),
            ("ab", None),
            ("", None),
        ] {
            assert_eq!(of(key).as_deref(), expected, "{key}");
        }
        assert_eq!(Normalise::Nothing.apply(b" A").as_deref(), Some(&b" A"[..]));
        assert_eq!(Normalise::Nothing.apply(b""), None);
    }
}
