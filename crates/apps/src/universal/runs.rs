//! Runs of one private function over a channel, one after the other, as `duologue private` makes them.
//!
//! ```text
//! Bob → Alice   how many runs (4)
//! both          a session, and in it a call for each run: Alice garbles anew each time
//! ```
//!
//! What the function's sizes are both know before; the session's terms hold them to it.

use super::{Universal, arguments, parameters};
use circuit::universal::{Nodes, Size};
use duologue::channel::{AbortCode, Channel, Counters};
use duologue::circuit::program::Functionality;
use duologue::circuit::{self, Party, bits};
use duologue::{Error, Options, Outcome, Precomputation, Progress, Result, Scheme, Session};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Who sees how far a run is and may end it.
pub type Observer = Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>;

/// Alice: garbles her function as often as Bob asks, at most so many times. How many runs there were, and what travelled.
///
/// # Errors
/// [`Error::Peer`] if Bob asks for none or for more, and what a call gives.
pub fn serve(
    mut channel: Channel,
    precomputation: Precomputation,
    function: &Nodes,
    most: u32,
    observer: Option<Observer>,
) -> Result<(u32, Counters)> {
    let mut runs = [0; 4];
    channel.recv_into(&mut runs)?;
    let runs = u32::from_le_bytes(runs);
    if !(1..=most).contains(&runs) {
        channel.abort(AbortCode::Failed, "");
        return Err(Error::peer(format!("it asks for {runs} runs of the {most} offered")));
    }
    let mut session = begin(channel, precomputation, Party::Alice, observer)?;
    for _ in 0..runs {
        call(&mut session, function.size(), Some(function), None)?;
    }
    end(session).map(|counters| (runs, counters))
}

/// Bob: appends the results of a function of this size, for each input; what travelled. Those before a run that failed are
/// there too.
///
/// # Errors
/// [`Error::Usage`] if there is no input or one of another number of bits, and what a call gives.
pub fn ask(
    mut channel: Channel,
    precomputation: Precomputation,
    size: Size,
    inputs: &[Vec<bool>],
    results: &mut Vec<Vec<bool>>,
    observer: Option<Observer>,
) -> Result<Counters> {
    let runs = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
    if runs == 0 || inputs.iter().any(|input| input.len() != size.inputs as usize) {
        return Err(Error::usage(format!("data of {} bits for each run, and at least one run", size.inputs)));
    }
    channel.send(&runs.to_le_bytes())?;
    let mut session = begin(channel, precomputation, Party::Bob, observer)?;
    for input in inputs {
        let outcome = call(&mut session, size, None, Some(input))?;
        let result = outcome.outputs.get("0").map(|value| value.lane(0));
        results.push(result.ok_or_else(|| Error::usage("a call that gives bob no result"))?);
    }
    end(session)
}

fn begin(
    channel: Channel,
    precomputation: Precomputation,
    party: Party,
    observer: Option<Observer>,
) -> Result<Session> {
    let mut session = Session::connect_with(channel, party, precomputation)?;
    session.register(Arc::new(Universal));
    if let Some(observer) = observer {
        session.observe(observer);
    }
    Ok(session)
}

fn call(session: &mut Session, size: Size, function: Option<&Nodes>, input: Option<&Vec<bool>>) -> Result<Outcome> {
    let functionality: Arc<dyn Functionality> = Arc::new(Universal);
    let args = arguments(size, function, input.map(Vec::as_slice));
    session.call(&functionality, &parameters(&[bits(size.outputs)]), args, &Options::new(Scheme::Gmw))
}

fn end(session: Session) -> Result<Counters> {
    let counters = session.counters();
    session.close().map(|()| counters)
}
