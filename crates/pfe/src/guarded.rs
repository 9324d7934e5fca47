//! A channel between both parties of a private function, and what every method says on it besides its runs: first messages,
//! which run comes next, the end.

use crate::Sizes;
use crate::offer::{ANY, HELLO, Hello, Offer, same};
use crate::proposal::Method;
use duologue::channel::{AbortCode, Channel, Counters};
use duologue::{Error, Result};
use std::ops::ControlFlow;

/// What Bob says first: a run at once, a run whose labels come after all tables, one of which the first half is kept or was
/// kept, or the end.
pub(crate) const AT_ONCE: u8 = 1;
pub(crate) const LATER: u8 = 2;
pub(crate) const KEPT: u8 = 3;
const END: u8 = 0;

/// What the parties may differ in.
const BITS: &str = "the bits of the data and of what the function takes";

/// Who sees how far a run is, in queries done and in all, and may end it.
type Observer = Box<dyn FnMut(u64, u64) -> ControlFlow<()> + Send>;

/// A channel that is told when its owner fails, and then does nothing more.
pub(crate) struct Guarded {
    pub(crate) channel: Channel,
    dead: Option<String>,
    observer: Option<Observer>,
}

impl Guarded {
    pub(crate) fn new(channel: Channel) -> Self {
        Guarded { channel, dead: None, observer: None }
    }

    /// Does some work; an error ends the line. The peer hears that we failed and nothing else: at which check, and of which
    /// gate, would be of the function or of the data.
    pub(crate) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(why) = &self.dead {
            return Err(Error::Dead(why.clone()));
        }
        self.dead = Some("a run was interrupted".into());
        let result = work(self);
        match &result {
            Ok(_) => self.dead = None,
            Err(error) => {
                self.dead = Some(error.to_string());
                let code = match error {
                    Error::Incompatible { .. } => AbortCode::Incompatible,
                    Error::Cancelled => AbortCode::Cancelled,
                    _ => AbortCode::Failed,
                };
                self.channel.abort(code, "");
            }
        }
        result
    }

    /// Ends the line between runs.
    pub(crate) fn cancel(&mut self, why: &str) {
        if self.dead.is_none() {
            self.dead = Some(why.into());
            self.channel.abort(AbortCode::Cancelled, "");
        }
    }

    /// Exchanges first messages.
    fn greet(&mut self, ours: &Hello, method: Method) -> Result<Hello> {
        self.channel.send(&ours.to_bytes(method))?;
        self.channel.flush()?;
        Hello::from_bytes(&self.channel.recv(HELLO)?, method)
    }

    /// Alice's first messages.
    pub(crate) fn offer(&mut self, offer: &Offer, method: Method) -> Result<()> {
        self.guarded(|line| match line.greet(&Hello::Offer(offer.clone()), method)? {
            Hello::Data { inputs: ANY } => Ok(()),
            Hello::Data { inputs } => same(BITS, offer.sizes.inputs.into(), inputs.into()),
            Hello::Offer(_) => Err(both("the function")),
        })
    }

    /// Bob's first messages, for data of so many bits, or of any number; `check` looks at what is offered.
    pub(crate) fn hear_offer(
        &mut self,
        inputs: Option<u32>,
        method: Method,
        check: impl FnOnce(&Offer) -> Result<()>,
    ) -> Result<Offer> {
        self.guarded(|line| match line.greet(&Hello::Data { inputs: inputs.unwrap_or(ANY) }, method)? {
            Hello::Offer(offer) => {
                check(&offer)?;
                inputs.map_or(Ok(()), |inputs| same(BITS, inputs.into(), offer.sizes.inputs.into()))?;
                Ok(offer)
            }
            Hello::Data { .. } => Err(both("the data")),
        })
    }

    /// Bob: refuses an offer of another function than was announced; the peer hears of it.
    pub(crate) fn expect(&mut self, offer: &Offer, sizes: &Sizes, runs: u32) -> Result<()> {
        self.guarded(|_| match (&offer.sizes, offer.runs) == (sizes, runs) {
            true => Ok(()),
            false => Err(Error::peer("it offers another function than it announced")),
        })
    }

    /// Alice: does the next run that Bob asks for, if there is one; `done` counts them, and `run` gets which kind it is.
    pub(crate) fn serve(
        &mut self,
        runs: u32,
        done: &mut u32,
        run: impl FnOnce(&mut Self, u32, u8) -> Result<()>,
    ) -> Result<bool> {
        self.guarded(|line| {
            let [kind] = line.receive()?;
            match kind {
                END => Ok(false),
                AT_ONCE | LATER | KEPT if *done >= runs => {
                    Err(Error::peer(format!("it asks for more than the {runs} runs offered")))
                }
                AT_ONCE | LATER | KEPT => {
                    run(line, *done, kind)?;
                    *done += 1;
                    Ok(true)
                }
                kind => Err(strange(kind)),
            }
        })
    }

    /// Bob: asks for no more runs.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.guarded(|line| {
            line.channel.send(&[END])?;
            line.channel.flush()
        })
    }

    /// Says goodbye: what travelled in all.
    pub(crate) fn close(mut self) -> Result<Counters> {
        self.guarded(|line| line.channel.finish())?;
        Ok(self.channel.counters())
    }

    pub(crate) fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    pub(crate) fn receive<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.channel.recv_into(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn tell(&mut self, done: u64, total: u64) -> Result<()> {
        match self.observer.as_mut().map_or(ControlFlow::Continue(()), |observer| observer(done, total)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

/// Bob asks for a run of a kind that is not done here.
pub(crate) fn strange(kind: u8) -> Error {
    Error::peer(format!("it asks for a run of kind {kind}"))
}

fn both(what: &str) -> Error {
    Error::Incompatible {
        what: "who is who",
        ours: format!("we have {what}"),
        theirs: format!("it has {what} too"),
        place: None,
    }
}
