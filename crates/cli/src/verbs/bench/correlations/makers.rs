//! Measurements, grouped by the maker of correlations.

use super::figures::Kind;
use super::party::Measured;
use super::report::{CorrelationReport, MakerRow};
use duologue::ot::Extension;

/// A maker with what was measured of every kind, in the order of [`Kind::ALL`].
pub type Maker<'a> = (Extension, Vec<(&'a MakerRow, &'a Measured)>);

/// Groups what was measured by the maker.
pub fn makers(report: &CorrelationReport) -> Vec<Maker<'_>> {
    let mut makers: Vec<Maker<'_>> = Vec::new();
    let by_makers =
        report.measured.iter().zip(&report.figures).filter(|((figure, _), _)| Kind::ALL.contains(&figure.kind));
    for ((figure, measured), line) in by_makers {
        match makers.last_mut().filter(|(maker, _)| *maker == figure.maker) {
            Some((_, kinds)) => kinds.push((line, measured)),
            None => makers.push((figure.maker, vec![(line, measured)])),
        }
    }
    makers
}

/// The measurements of each maker's triples.
pub fn triples<'a>(makers: &[Maker<'a>]) -> Vec<(Extension, &'a Measured)> {
    makers.iter().map(|(maker, kinds)| (*maker, kinds[Kind::Triples as usize].1)).collect()
}
