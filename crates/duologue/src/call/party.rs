//! One party of a call: moves the bytes of its stages, and holds them to their lengths.

use super::correlations::{domain, draw, nothing};
use super::{CallLengths, CallProtocol, CallRun, CallValue, Context, Exchange, Holder, Stage};
use crate::correlation::{Demand, Stock};
use crate::executor::{Link, Phase};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Call, CallPart};
use kernels::Block;
use std::sync::Arc;
use zeroize::Zeroizing;

/// One party's side of a call.
pub(crate) struct PartyCall {
    protocol: Arc<dyn CallProtocol>,
    call: Arc<Call>,
    context: Context,
    lengths: CallLengths,
    /// Of the COTs that this party sends.
    delta: Option<Zeroizing<Block>>,
    /// The result of setup.
    ready: Option<Zeroizing<Vec<u8>>>,
}

impl PartyCall {
    /// The call in the program of this number in a session.
    pub fn new(
        part: &CallPart,
        protocol: &Arc<dyn CallProtocol>,
        party: Party,
        session: &[u8; 32],
        program: u64,
    ) -> Result<Self> {
        let name = (protocol.name(), protocol.version());
        let context = Context { party, domain: domain(session, program, part.call.number, name) };
        let lengths = protocol.lengths(&part.call, party)?;
        let (protocol, call) = (protocol.clone(), part.call.clone());
        Ok(PartyCall { protocol, call, context, lengths, delta: None, ready: None })
    }

    /// Whether its setup draws COTs, for which both parties need Δ.
    pub fn takes_cots(&self) -> bool {
        let demand = self.demand();
        demand.cots_by_alice + demand.cots_by_bob > 0
    }

    pub fn set_delta(&mut self, delta: Block) {
        self.delta = Some(Zeroizing::new(delta));
    }

    fn departs(&self, why: String) -> Error {
        Error::usage(format!("the call of '{}' departs from its lengths: {why}", self.protocol.name()))
    }

    /// What the peer did, with the name and the phase of the call.
    fn named(&self, error: Error, phase: Phase) -> Error {
        let phase = if phase == Phase::Setup { "setup" } else { "the online phase" };
        let place = || format!("in {phase} of the call of '{}'", self.protocol.name());
        match error {
            Error::Peer(why) => Error::Peer(format!("{why}, {}", place())),
            Error::Closed(when) => Error::Closed(format!("{when}, {}", place()).into()),
            error => error,
        }
    }

    /// Steps a stage through all of its exchanges.
    fn drive<T>(
        &self,
        stage: Box<dyn Stage<Output = T>>,
        exchanges: &[Exchange],
        stock: &mut Stock,
        (link, phase): (&mut dyn Link, Phase),
    ) -> Result<T> {
        self.step_all(stage, exchanges, stock, (link, phase)).map_err(|error| self.named(error, phase))
    }

    fn step_all<T>(
        &self,
        mut stage: Box<dyn Stage<Output = T>>,
        exchanges: &[Exchange],
        stock: &mut Stock,
        (link, phase): (&mut dyn Link, Phase),
    ) -> Result<T> {
        let (mut inbox, mut outbox, mut left) = (Inbox::default(), Outbox::default(), demand(exchanges));
        for (number, exchange) in exchanges.iter().enumerate() {
            let drawn = if exchange.demand == Demand::NONE {
                nothing(self.context.party)
            } else {
                link.supply(stock, exchange.demand, left)?;
                left = left.missing_from(&exchange.demand);
                draw(stock, &exchange.demand, self.delta.as_deref(), &self.context.domain, number)?
            };
            stage.step(drawn, &inbox, &mut outbox)?;
            if outbox.len() != exchange.sent {
                let (bytes, sent) = (outbox.len(), exchange.sent);
                return Err(self.departs(format!("{bytes} bytes in exchange {number} in place of {sent}")));
            }
            link.give(&mut outbox)?;
            link.flush()?;
            link.receive(exchange.read, &mut inbox)?;
            link.progress(phase, number as u64 + 1, exchanges.len() as u64)?;
        }
        stage.finish(&inbox)
    }

    /// Whether this party has what it holds of these values, and nothing of those that the peer holds.
    fn check(&self, what: &str, values: &[CallValue], came: &[Option<BitMatrix>]) -> Result<()> {
        let held = |value: &CallValue| value.holder != Holder::Party(self.context.party.peer());
        let expected =
            values.iter().map(|value| held(value).then_some((value.ty.width as usize, value.lanes as usize)));
        let came = came.iter().map(|value| value.as_ref().map(|bits| (bits.rows(), bits.lanes())));
        if expected.eq(came) { Ok(()) } else { Err(self.departs(format!("its {what} have other shapes"))) }
    }
}

fn demand(exchanges: &[Exchange]) -> Demand {
    exchanges.iter().map(|exchange| exchange.demand).sum()
}

impl CallRun for PartyCall {
    fn demand(&self) -> Demand {
        demand(&self.lengths.setup)
    }

    fn stored(&self) -> u64 {
        self.lengths.stored as u64
    }

    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let stage = self.protocol.setup(&self.call, &self.context)?;
        let ready = self.drive(stage, &self.lengths.setup, stock, (link, Phase::Setup))?;
        self.restore(ready)
    }

    fn take_ready(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        self.ready.take()
    }

    fn restore(&mut self, stored: Zeroizing<Vec<u8>>) -> Result<()> {
        if stored.len() != self.lengths.stored {
            let why = format!("setup stores {} bytes in place of {}", stored.len(), self.lengths.stored);
            return Err(self.departs(why));
        }
        self.ready = Some(stored);
        Ok(())
    }

    fn online(
        &mut self,
        args: Vec<Option<BitMatrix>>,
        stock: &mut Stock,
        link: &mut dyn Link,
    ) -> Result<Vec<Option<BitMatrix>>> {
        self.check("arguments", &self.call.args, &args)?;
        let ready = self.take_ready().ok_or_else(|| Error::usage("a call goes online before its setup"))?;
        let stage = self.protocol.online(&self.call, self.context.party, ready, args)?;
        let results = self.drive(stage, &self.lengths.online, stock, (link, Phase::Online))?;
        self.check("results", &self.call.results, &results)?;
        Ok(results)
    }
}
