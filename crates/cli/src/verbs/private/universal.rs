//! Runs by a universal circuit, which Alice garbles.

use super::{Held, Terms};
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::progress;
use apps::universal::{Observer, ask, serve};
use duologue::channel::{Channel, Counters};
use duologue::{Error, Precomputation};

/// Alice: how many runs there were, and what travelled.
pub fn hold_function(
    held: &Held,
    channel: Channel,
    ahead: Precomputation,
    console: &Console,
) -> Result<(usize, Counters), Failure> {
    let function = held.nodes.as_ref().ok_or_else(|| Error::usage("no nodes were made of the function"))?;
    let (runs, counters) = serve(channel, ahead, function, held.function.runs, observer(console))?;
    Ok((runs as usize, counters))
}

/// Bob: the results of all runs, or of those before one that failed, and what travelled.
pub fn hold_data(
    data: &[Vec<bool>],
    terms: &Terms,
    channel: Channel,
    ahead: Precomputation,
    console: &Console,
) -> (Vec<Vec<bool>>, Result<Counters, Failure>) {
    let mut results = Vec::with_capacity(data.len());
    let size = terms.size();
    let end = size.and_then(|size| Ok(ask(channel, ahead, size, data, &mut results, observer(console))?));
    (results, end)
}

fn observer(console: &Console) -> Option<Observer> {
    let show = || -> Observer { Box::new(progress::bar("a private function".into())) };
    (!console.quiet()).then(show)
}
