//! Both parties over a channel.

use super::method::{Linear, Tables};
use super::netlist::Netlist;
use super::run::{Evaluation, Garbling, Key, PeerKey, Steps};
use crate::guarded::{AT_ONCE, Guarded, KEPT, LATER, strange};
use crate::offer::Offer;
use crate::{Sizes, os_generator};
use duologue::channel::{Channel, Counters};
use duologue::{Error, Result};
use he::linear::Labels;
use kernels::generator::Generator;
use std::ops::ControlFlow;

/// Steps whose ciphertexts are under way before their answers are waited for.
const AHEAD: u64 = 8;

/// The party that holds the function, over a channel; [the module](super) has an example.
pub struct Alice<'a, S: Linear> {
    line: Guarded,
    netlist: &'a Netlist,
    offer: Offer,
    secrets: Generator,
    /// Bob's, which comes with the first run.
    key: Option<PeerKey<S>>,
    done: u32,
}

impl<'a, S: Linear> Alice<'a, S> {
    /// Offers a function, for so many runs.
    ///
    /// # Errors
    /// [`Error::Usage`] if these are no runs, or more than [`MOST_RUNS`](crate::MOST_RUNS), before anything is sent;
    /// [`Error::Incompatible`] if the data has another number of bits, or the peer offers a function too, or takes another
    /// method.
    pub fn connect(channel: Channel, netlist: &'a Netlist, runs: u32) -> Result<Self> {
        let mut id = [0; 32];
        os_generator()?.fill(&mut id);
        let offer = Offer::new(*netlist.sizes(), runs, id)?;
        let mut line = Guarded::new(channel);
        line.offer(&offer, S::METHOD)?;
        Ok(Alice { line, netlist, offer, secrets: os_generator()?, key: None, done: 0 })
    }

    /// Sets who sees how far a run is, in gates done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observe(observer);
    }

    /// Takes part in the next run that the peer asks for; false if it asks for none.
    ///
    /// # Errors
    /// [`Error::Peer`] if the peer sends what no honest party does, or asks for more runs than were offered.
    pub fn serve(&mut self) -> Result<bool> {
        let Alice { line, netlist, offer, secrets, key, done } = self;
        line.serve(offer.runs, done, |line, number, kind| {
            if kind == KEPT {
                return Err(strange(kind));
            }
            let key = match key {
                Some(key) => key,
                None => key.insert(PeerKey::read(line.channel.recv(S::KEY)?)?),
            };
            let evaluation = Evaluation::new(netlist, offer, number, key, secrets)?;
            serve(line, offer, kind, key, evaluation)
        })
    }

    /// Says goodbye: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(self) -> Result<Counters> {
        self.line.close()
    }
}

/// Alice's side of a run.
fn serve<S: Linear>(
    line: &mut Guarded,
    offer: &Offer,
    kind: u8,
    key: &mut PeerKey<S>,
    mut run: Evaluation<'_, S>,
) -> Result<()> {
    let steps = Steps::of::<S>(offer.sizes);
    let labels = S::Labels::BYTES * offer.sizes.inputs as usize;
    if kind == AT_ONCE {
        run.inputs(&line.channel.recv(labels)?)?;
    }
    let mut stored = Vec::new();
    for step in 0..steps.count() + AHEAD {
        if let Some(behind) = step.checked_sub(AHEAD) {
            let gates = steps.gates(behind);
            let tables = line.channel.recv((gates.end - gates.start) as usize * S::Tables::TABLE)?;
            if kind == AT_ONCE {
                run.chunk(&tables)?
            } else {
                stored.push(tables)
            }
            line.tell(gates.end, offer.sizes.gates)?;
        }
        if step < steps.count() {
            for count in steps.wires(step) {
                run.ciphertexts(key, &line.channel.recv(S::ciphertexts(count))?, count)?;
            }
            line.channel.send(&run.answers(key)?)?;
            line.channel.flush()?;
        }
    }
    if kind == LATER {
        run.inputs(&line.channel.recv(labels)?)?;
        stored.iter().try_for_each(|tables| run.chunk(tables))?;
    }
    line.channel.send(&run.finish()?)?;
    line.channel.flush()
}

/// The party that holds the data and learns the result, over a channel.
pub struct Bob<S: Linear> {
    line: Guarded,
    offer: Offer,
    secrets: Generator,
    /// Made when first used.
    key: Option<Key<S>>,
    done: u32,
}

/// A run that waits for the data: all tables are with the other party. Dropped without it, the session ends.
pub struct Garbled<'a, S: Linear> {
    bob: &'a mut Bob<S>,
    /// None once it is run.
    garbling: Option<Garbling<S>>,
}

impl<S: Linear> Garbled<'_, S> {
    /// Evaluates the function on this data; once.
    ///
    /// # Errors
    /// As [`Bob::run`]. After data of another number of bits the run still waits.
    pub fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.bob.offer.takes(x)?;
        let garbling =
            self.garbling.take().ok_or_else(|| Error::usage("what was made ahead is for one run, which is done"))?;
        let labels = garbling.input_labels(x);
        self.bob.line.guarded(|line| line.channel.send(&labels))?;
        self.bob.end(garbling)
    }
}

impl<S: Linear> Drop for Garbled<'_, S> {
    /// The peer waits for labels: it would take whatever comes next for them.
    fn drop(&mut self) {
        if self.garbling.is_some() {
            self.bob.line.cancel("a run that was made ahead was dropped");
        }
    }
}

impl<S: Linear> Bob<S> {
    /// Hears what is offered to the holder of data of so many bits; of any number, if none is given.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the function takes another number of bits, or the peer has data too, or takes another method.
    pub fn connect(channel: Channel, inputs: impl Into<Option<u32>>) -> Result<Self> {
        let mut line = Guarded::new(channel);
        let offer = line.hear_offer(inputs.into(), S::METHOD, |offer| {
            match u64::from(offer.sizes.outputs) > offer.sizes.gates {
                true => Err(Error::peer("it offers a function of more outputs than gates")),
                false => Ok(()),
            }
        })?;
        Ok(Bob { line, offer, secrets: os_generator()?, key: None, done: 0 })
    }

    /// What is offered: look at it before the first run.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Sets who sees how far a run is, in gates done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observe(observer);
    }

    /// Refuses what is not the function of these sizes and so many runs; the session ends then.
    ///
    /// # Errors
    /// [`Error::Peer`].
    pub fn expect(&mut self, sizes: &Sizes, runs: u32) -> Result<()> {
        self.line.expect(&self.offer, sizes, runs)
    }

    /// Makes the key now, which the first run would do else.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn make_key(&mut self) -> Result<()> {
        if self.key.is_none() {
            self.key = Some(Key::generate(&mut self.secrets)?);
        }
        Ok(())
    }

    /// Evaluates the function on this data.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has other bits than announced, or no run is left; [`Error::Peer`] if the peer sends what no
    /// honest party does.
    pub fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.offer.takes(x)?;
        let garbling = self.garble(AT_ONCE, Some(x))?;
        self.end(garbling)
    }

    /// Does whatever needs no data, for one run, which has to follow: the session ends if what is returned is dropped first.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn prepare(&mut self) -> Result<Garbled<'_, S>> {
        let garbling = self.garble(LATER, None)?;
        Ok(Garbled { bob: self, garbling: Some(garbling) })
    }

    /// Asks for no more runs: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(mut self) -> Result<Counters> {
        self.line.end()?;
        self.line.close()
    }

    fn garble(&mut self, kind: u8, x: Option<&[bool]>) -> Result<Garbling<S>> {
        if self.done >= self.offer.runs {
            let why = format!("the function was offered for {} runs, which are done", self.offer.runs);
            return Err(Error::usage(why));
        }
        let Bob { line, offer, secrets, key, done } = self;
        line.guarded(|line| {
            line.channel.send(&[kind])?;
            let key = match key {
                Some(key) if *done > 0 => key,
                made => {
                    let key = match made.take() {
                        Some(key) => key,
                        None => Key::generate(secrets)?,
                    };
                    line.channel.send(key.public())?;
                    made.insert(key)
                }
            };
            let mut garbling = Garbling::new(offer, *done, key, secrets);
            if let Some(x) = x {
                line.channel.send(&garbling.input_labels(x))?;
            }
            exchange(line, offer, key, &mut garbling)?;
            *done += 1;
            Ok(garbling)
        })
    }

    fn end(&mut self, garbling: Garbling<S>) -> Result<Vec<bool>> {
        let outputs = S::Labels::BYTES * self.offer.sizes.outputs as usize;
        self.line.guarded(|line| garbling.finish(&line.channel.recv(outputs)?))
    }
}

/// Bob's side of a run but for labels.
fn exchange<S: Linear>(line: &mut Guarded, offer: &Offer, key: &mut Key<S>, run: &mut Garbling<S>) -> Result<()> {
    let steps = Steps::of::<S>(offer.sizes);
    for step in 0..steps.count() + AHEAD {
        if let Some(behind) = step.checked_sub(AHEAD) {
            let gates = steps.gates(behind);
            let answers = line.channel.recv(S::answers(2 * (gates.end - gates.start) as usize))?;
            line.channel.send(&run.chunk(key, &answers)?)?;
            line.tell(gates.end, offer.sizes.gates)?;
        }
        if step < steps.count() {
            run.ciphertexts(key)?.iter().try_for_each(|message| line.channel.send(message))?;
        }
        line.channel.flush()?;
    }
    Ok(())
}
