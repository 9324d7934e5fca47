//! A maker of correlations as flags and the configuration name it: one, or `auto`.

use duologue::ot::Extension;
use std::fmt;
use std::str::FromStr;

const AUTO: &str = "auto";

/// A maker, or none where it is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Maker(pub Option<Extension>);

impl FromStr for Maker {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            AUTO => Ok(Maker(None)),
            named => named
                .parse()
                .map(|maker| Maker(Some(maker)))
                .map_err(|why: duologue::Error| format!("{AUTO}, or a maker: {why}")),
        }
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(maker) => maker.fmt(f),
            None => f.write_str(AUTO),
        }
    }
}
