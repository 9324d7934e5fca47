//! Calls that tell a party more than their result: they run only where a party has consented.
//!
//! A program comes from anywhere, and what it calls does, too: so consent is no part of a program. It is what a session was
//! registered with. [`calls`](super::calls) know the meanings and the lengths of all calls, and refuse to run those that leak;
//! [`leaky_calls`](super::leaky_calls) run them. Each party decides for its own session: if one has not consented, there is no
//! run.

use duologue::call::{Call, CallLengths, CallProtocol, CallWork, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::BitMatrix;
use duologue::circuit::program::{CallPort, Functionality};
use duologue::{Error, Party, Result};
use std::sync::Arc;

/// Calls that leak by their names, with what they tell.
const LEAKS: [(&str, &str); 2] = [
    ("duologue:backtrack", "shows Bob the place of the least value"),
    ("duologue:argmin-boma", "tells the owner of the key the sizes of all differences that are compared"),
];

/// What a call of this name tells a party beside its result; of calls that leak nothing none.
pub fn leak_of(name: &str) -> Option<&'static str> {
    LEAKS.iter().find(|(leaky, _)| *leaky == name).map(|&(_, tells)| tells)
}

/// A call that leaks, where nobody has consented: what it means and what it takes is known, and it does not run.
pub(crate) struct Unconsented(Arc<dyn CallProtocol>);

impl Unconsented {
    /// The call itself if it leaks nothing.
    pub fn unless_harmless(call: &Arc<dyn CallProtocol>) -> Arc<dyn CallProtocol> {
        if leak_of(call.name()).is_some() { Arc::new(Unconsented(call.clone())) } else { call.clone() }
    }

    fn refuse<T>(&self) -> Result<T> {
        let (name, tells) = (self.name(), leak_of(self.name()).unwrap_or("leaks"));
        Err(Error::usage(format!(
            "the program calls '{name}', which {tells}: it runs only if both parties consent, by --leaky or \
             apps::leaky_calls"
        )))
    }
}

impl Functionality for Unconsented {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version()
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        self.0.results(parameters, args)
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        self.0.lanes(parameters, args)
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        self.0.evaluate(parameters, args)
    }
}

impl CallProtocol for Unconsented {
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths> {
        self.0.lengths(call, party)
    }

    fn work(&self, call: &Call) -> Option<CallWork> {
        self.0.work(call)
    }

    fn setup(&self, _: &Arc<Call>, _: &Context) -> Result<SetupStage> {
        self.refuse()
    }

    fn online(&self, _: &Arc<Call>, _: Party, _: Zeroizing<Vec<u8>>, _: Vec<Option<BitMatrix>>) -> Result<OnlineStage> {
        self.refuse()
    }
}
