//! What [`Session::correlate`](crate::Session::correlate) sends, counted without making anything.

use super::{PhaseExchange, Traffic, traffic, travel};
use crate::Party;
use crate::agreement;
use crate::channel::{Link, together};
use crate::correlation::{Demand, MakerExchange, MakerLengths, MakerTerm};
use crate::executor::Phase;
use crate::ot::Extension;
use crate::session::block_of;
use crate::session::fields;
use crate::session::fields::Moment;
use std::time::Duration;

/// A session that makes correlations one demand after another, in lengths alone.
#[derive(Clone, Debug)]
pub struct Correlating {
    extension: Extension,
    /// Of both parties.
    lengths: [MakerLengths; 2],
}

/// The cost of one demand.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Supply {
    /// Correlations that are made, perhaps more than are asked for.
    pub made: Demand,
    /// Parts in which they are made, one while another is sent.
    parts: u32,
    exchanges: [Vec<PhaseExchange>; 2],
}

impl Correlating {
    /// A new session with this maker.
    pub fn new(extension: Extension) -> Self {
        let lengths = [Party::Alice, Party::Bob].map(|party| MakerLengths::new(party, extension));
        Correlating { extension, lengths }
    }

    /// The next demand, whose correlations are taken away block by block; the first has the base OTs of what it calls for.
    pub fn correlate(&mut self, demand: Demand) -> Supply {
        let mut supply = Supply { made: Demand::NONE, parts: 1, exchanges: Default::default() };
        let terms =
            fields::correlations(&Moment::default(), fields::CORRELATIONS, &MakerTerm::new(self.extension), &demand);
        supply.exchange([4 + agreement::encode(&terms).len(); 2]);
        for (maker, exchanges) in self.lengths.iter_mut().zip(&mut supply.exchanges) {
            exchanges.extend(maker.base(&demand).into_iter().map(in_setup));
        }
        let mut left = demand;
        while left != Demand::NONE {
            let made = self.refill(block_of(&left), &mut supply);
            left = left.missing_from(&made);
            supply.made += made;
        }
        supply
    }

    fn refill(&mut self, demand: Demand, supply: &mut Supply) -> Demand {
        let mut made = Demand::NONE;
        for (maker, counted) in self.lengths.iter_mut().zip(&mut supply.exchanges) {
            let (exchanges, both) = maker.refill(demand);
            made = both;
            supply.parts = supply.parts.max(maker.parts());
            counted.extend(exchanges.into_iter().map(in_setup));
        }
        made
    }
}

fn in_setup(MakerExchange { sent, read, turn }: MakerExchange) -> PhaseExchange {
    PhaseExchange { phase: Phase::Setup, sent, read, turn }
}

impl Supply {
    /// Both parties send so much at once, Alice the first.
    fn exchange(&mut self, [alice, bob]: [usize; 2]) {
        self.exchanges[0].push(in_setup((alice, bob).into()));
        self.exchanges[1].push(in_setup((bob, alice).into()));
    }

    /// Bytes and rounds.
    pub fn traffic(&self) -> Traffic {
        traffic(&self.exchanges, Phase::Setup)
    }

    /// The time on the line alone, without computing.
    pub fn time(&self, line: &Link) -> Duration {
        travel([line; 2], &self.exchanges, Phase::Setup)
    }

    /// The time with so much computing, of which a part goes on while another part is sent if the maker allows it.
    pub fn time_with(&self, line: &Link, computing: Duration) -> Duration {
        together([Link { bits_per_second: None, ..*line }, *line].map(|line| self.time(&line)), computing, self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use crate::channel::Channel;
    use std::thread;

    /// Bytes that the first and the second demand of a session really take at Alice, and the correlations made.
    fn measured(extension: Extension, demand: Demand) -> [(u64, u64, Demand); 2] {
        let party = move |channel, party| {
            let mut session = Session::connect(channel, party).unwrap();
            [(); 2].map(|()| {
                let (mut made, before) = (Demand::NONE, session.counters());
                let spent = session.correlate(extension, demand, |stock| {
                    let block = stock.available();
                    made += block;
                    stock.draw_triples(block.triples as usize)?;
                    stock.draw_cot_sender(block.cots_by(stock.party()) as usize)?;
                    stock.draw_cot_receiver(block.cots_by(stock.party().peer()) as usize).map(drop)
                });
                spent.unwrap();
                let after = session.counters();
                (after.bytes_sent - before.bytes_sent, after.bytes_received - before.bytes_received, made)
            })
        };
        let (to_bob, to_alice) = Channel::pair();
        let bob = thread::spawn(move || party(to_alice, Party::Bob));
        let alice = party(to_bob, Party::Alice);
        bob.join().unwrap();
        alice
    }

    #[test]
    fn what_is_counted_is_what_a_session_sends() {
        // More than a block of triples; one direction has more than the other.
        let demand = Demand { cots_by_alice: 70_000, cots_by_bob: 1, triples: (1 << 20) + 77 };
        for extension in ["softspoken1", "softspoken4", "softspoken8", "silent16w", "silent18d", "silent"] {
            let Ok(extension) = extension.parse::<Extension>() else { continue };
            let mut session = Correlating::new(extension);
            for (sent, received, made) in measured(extension, demand) {
                let supply = session.correlate(demand);
                let counted = supply.traffic();
                assert_eq!(supply.made, made, "{extension}");
                // Numbers in the terms of a session that has drawn before have more digits.
                let close = |counted: u64, real: u64| real >= counted && real - counted < 100;
                assert!(close(counted.alice_to_bob, sent), "{extension}: {sent}, not {}", counted.alice_to_bob);
                assert!(close(counted.bob_to_alice, received), "{extension}: {received}, not {}", counted.bob_to_alice);
            }
        }
    }

    /// What a new session sends for COTs one way, base OTs in both directions included.
    #[test]
    fn little_is_sent_for_a_small_job_by_silent_ot() {
        let sent = |maker: &str, cots| {
            let mut session = Correlating::new(maker.parse().unwrap());
            let traffic = session.correlate(Demand::of_cots(Party::Alice, cots)).traffic();
            [traffic.alice_to_bob, traffic.bob_to_alice]
        };
        for (cots, each, both) in [(1 << 16, 45_000, 50_000), (80_000, 45_000, 50_000), (1 << 20, 55_000, 60_000)] {
            let [there, back] = sent("silent", cots);
            println!("{cots}: {there} + {back}");
            assert!(there.max(back) <= each && there + back <= both, "{cots}: {there} + {back}");
        }
        let [there, back] = sent("silent16w", 80_000);
        assert!(there + back > 400_000, "{there} + {back}");
    }

    #[test]
    fn a_line_takes_its_time() {
        let mut session = Correlating::new(Extension::DEFAULT);
        session.correlate(Demand::of_triples(1));
        let supply = session.correlate(Demand::of_triples(1 << 20));
        let line: Link = "100ms,100Mbit".parse().unwrap();
        let (traffic, seconds) = (supply.traffic(), supply.time(&line).as_secs_f64());
        let on_the_line = traffic.alice_to_bob as f64 * 8e-8 + traffic.rounds() as f64 * 0.05;
        assert!((seconds / on_the_line - 1.0).abs() < 0.01, "{seconds} s, not {on_the_line} s");
    }
}
