//! How a run is made, as the keyword arguments of Python say it.

use crate::errors::raised;
use duologue::channel::Link;
use duologue::cost::choice::Wish;
use duologue::ot::Extension;
use duologue::{Error, Garbling, Options, Party, Result, Scheme, Timing};
use pyo3::prelude::*;
use std::str::FromStr;

/// As words; none where nothing was said.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    protocol: String,
    wish: String,
    garbler: Option<String>,
    garbling: Option<String>,
    timing: String,
    share_from: Option<u64>,
    tile: Option<usize>,
    strands: usize,
    correlations: String,
    assume_link: Option<String>,
}

/// The protocol that is not named.
const AUTO: &str = "auto";

impl Settings {
    /// The protocol; none is what is chosen when the parties meet.
    pub fn scheme(&self) -> Result<Option<Scheme>> {
        if self.protocol == AUTO { Ok(None) } else { self.protocol.parse().map(Some) }
    }

    /// What the choice makes least.
    pub fn wish(&self) -> Result<Wish> {
        self.wish.parse()
    }

    /// The garbling, if it is told.
    pub fn garbling(&self) -> Result<Option<Garbling>> {
        parsed(self.garbling.as_deref())
    }

    /// The options of a run by this protocol.
    pub fn options(&self, scheme: Scheme) -> Result<Options> {
        let garbler = self.garbler.as_deref().map(party).transpose()?;
        let correlations = Some(&*self.correlations).filter(|maker| *maker != AUTO);
        let timing = match &*self.timing {
            AUTO => Timing::Auto,
            "ahead" => Timing::Ahead,
            "streamed" => Timing::Streamed,
            other => return Err(Error::usage(format!("'{other}' is no timing: write auto, ahead or streamed"))),
        };
        let options = Options::new(scheme).garbler(garbler).garbling(self.garbling()?.unwrap_or_default());
        let options = options.timing(timing).share_from(self.share_from).tile(self.tile).strands(self.strands);
        let options = options.extension(parsed::<Extension>(correlations)?);
        Ok(options.link(parsed::<Link>(self.assume_link.as_deref())?))
    }
}

/// Checks settings before anything is done with them.
#[pyfunction]
pub fn check_settings(settings: Settings) -> PyResult<()> {
    let check = || settings.scheme().and(settings.wish()).and(settings.options(Scheme::Yao));
    check().map(drop).map_err(raised)
}

fn parsed<T: FromStr<Err = Error>>(text: Option<&str>) -> Result<Option<T>> {
    text.map(str::parse).transpose()
}

/// A party by its name.
pub fn party(name: &str) -> Result<Party> {
    match name {
        "alice" => Ok(Party::Alice),
        "bob" => Ok(Party::Bob),
        _ => Err(Error::usage(format!("'{name}' is no party: write alice or bob"))),
    }
}
