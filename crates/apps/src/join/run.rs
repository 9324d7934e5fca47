//! A query between two parties in a session.

use super::{MOST_ROWS, Own, Query};
use crate::psi::{PROBE, is_measured, silent_for};
use duologue::circuit::program::Recipient;
use duologue::circuit::{Binding, Party, Program, uint};
use duologue::cost::cost_with;
use duologue::data::uints;
use duologue::ot::Extension;
use duologue::{Error, Inputs, Options, Outcome, Result, Scheme, Session};

/// Bits of a number of rows.
const ROWS_BITS: u32 = 24;

/// Both numbers of rows: each party tells the other its own. They have the same query, or hear that they have not.
///
/// # Errors
/// [`Error::Usage`] if there are too many rows, before anything is sent; [`Error::Incompatible`] if the queries differ, and whatever a
/// run may end with.
pub fn trade(session: &mut Session, query: &Query, rows: u64) -> Result<[u64; 2]> {
    if rows > MOST_ROWS {
        return Err(Error::usage(format!("at most {MOST_ROWS} rows, not {rows}")));
    }
    let mut p = Program::new(query.name());
    for (name, party) in PARTIES {
        let rows = p.input(name, party, uint(ROWS_BITS), 1);
        p.output(name, Recipient::Both, rows);
    }
    let own = PARTIES[session.party() as usize].0;
    let inputs = Inputs::new().with(own, uints(ROWS_BITS as usize, &[rows])?);
    let outcome = session.run(&p.bind(&[])?, &Options::new(Scheme::Gmw), &inputs)?;
    let told = |(name, _)| outcome.outputs.get(name).and_then(|told| told.to_numbers::<u64>().ok()?.pop());
    let sizes = PARTIES.map(told).map(Option::unwrap_or_default);
    match sizes.iter().find(|&&size| size > MOST_ROWS) {
        Some(many) => Err(Error::peer(format!("it says that it has {many} rows: there are at most {MOST_ROWS}"))),
        None => Ok(sizes),
    }
}

const PARTIES: [(&str, Party); 2] = [("alice rows", Party::Alice), ("bob rows", Party::Bob)];

/// Computes a query with the peer, which has the same one and its own rows: what came of it, and the numbers of rows. In a session that makes
/// correlations already, OTs are made as these are. In a new one both parties [measure](Session::measure) the line if there are many rows, and
/// choose by it; what is measured depends on the numbers of rows and the session alone, so that any two programs that call this meet.
///
/// # Errors
/// [`Error::Usage`] if the rows are not those of the query, before anything is sent; else as [`trade`].
pub fn run(session: &mut Session, query: &Query, own: Own) -> Result<(Outcome, [u64; 2])> {
    own.check(query, session.party())?;
    // Trading the numbers of rows chooses a maker, too, but makes nothing by it.
    let had = session.maker_or_pools();
    let sizes = trade(session, query, own.strings.len() as u64)?;
    let inputs = own.inputs(query, session.party(), sizes)?;
    let (binding, gmw) = (query.program(sizes)?, Options::new(Scheme::Gmw));
    let maker = if had.is_some() { had } else { chosen(session, &binding, &gmw, sizes)? };
    Ok((session.run(&binding, &gmw.extension(maker), &inputs)?, sizes))
}

/// The maker for a new session; none is named for few rows.
fn chosen(session: &mut Session, binding: &Binding, gmw: &Options, sizes: [u64; 2]) -> Result<Option<Extension>> {
    if !is_measured(sizes) {
        return Ok(None);
    }
    let (line, demand) = (session.measure(PROBE)?, cost_with(binding, gmw, &crate::calls())?.demand);
    Ok(silent_for(sizes, Some((&line, &demand))))
}
