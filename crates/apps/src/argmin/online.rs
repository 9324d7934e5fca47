//! The online phase: message after message, part by part, and of a level of many values tile by tile.
//!
//! Tiles of a level are levels of their own, all under way at once: so that a part of them all is one message, of as many
//! exchanges.

use super::chain::Chain;
use super::compare::Comparisons;
use super::layout::{Layout, Level, Opening, Part, Piece};
use super::material::{Material, Stored};
use super::rows::Rows;
use super::select::{Selections, Values, Winners};
use crate::packed::{BitReader, BitWriter};
use duologue::Result;
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};

/// What a party begins with.
pub struct Begin {
    /// Its shares of the values, modulo 2^(l+1) or more.
    pub sums: Rows,
    /// Its shares of what is shared by XOR.
    pub strings: Rows,
    /// Alice's share of the result, if values stay shared by addition.
    pub least_share: Option<Rows>,
}

/// The online phase of one party.
pub struct Online {
    layout: Layout,
    party: Party,
    /// What setup stored, and how many sections belong to tiles that have begun.
    stored: Stored,
    used: usize,
    /// The shares that are compared, where they are not among the values.
    compared: Option<Rows>,
    /// What a level begins with, until its last tile has begun.
    values: Values,
    least_share: Option<Rows>,
    /// The tiles of a level.
    games: Vec<Game>,
    /// The next exchange.
    next: usize,
}

/// A tile under way.
struct Game {
    level: Level,
    /// Its values; in the end the least ones.
    values: Values,
    step: Step,
    /// The next section.
    section: usize,
    /// The receiver's masked leaves.
    masked: Option<Rows>,
    /// The halves of the opening.
    own: Option<Rows>,
    peer: Option<Rows>,
}

/// How far it is.
enum Step {
    Compare(Comparisons),
    /// With the triples of the bit.
    Chain(Chain, Rows),
    /// With the triples of the next level of ANDs.
    Winners(Winners, Rows),
    Select(Selections),
    Done,
}

impl Online {
    pub fn new(layout: Layout, party: Party, stored: Zeroizing<Vec<u8>>, begin: Begin) -> Online {
        let stored = Stored::new(&layout, party, stored);
        let Begin { sums, strings, least_share } = begin;
        let (sums, compared) = if layout.sums > 0 { (sums, None) } else { (Rows::zeros(0, sums.lanes()), Some(sums)) };
        let values = Values { sums, strings };
        Online { layout, party, stored, used: 0, compared, values, least_share, games: Vec::new(), next: 0 }
    }

    /// Begins a tile: of each pair of a group, the right value minus the left one.
    fn begin(&mut self, number: usize, tile: usize) {
        let tiles = &self.layout.tiles[number];
        let (from, level) = (tiles[tile].from, tiles[tile].level.clone());
        if tile == 0 {
            self.games = Vec::with_capacity(tiles.len());
        }
        let part = |rows: &Rows| rows.part(from, level.values);
        let values = Values { sums: part(&self.values.sums), strings: part(&self.values.strings) };
        let compared = self.compared.as_ref().map(part);
        if tile + 1 == tiles.len() {
            self.values = Values { sums: Rows::zeros(0, 0), strings: Rows::zeros(0, 0) };
        }
        let (step, section) = if self.layout.chains {
            let chain = Chain::new(&level, self.layout.bits, &values.strings);
            (Step::Chain(chain, Rows::zeros(0, 0)), self.used)
        } else {
            let differences = differences(&level, compared.as_ref().unwrap_or(&values.sums));
            let (section, material) = self.stored.section(self.used);
            let comparisons = Comparisons::new(&self.layout, &section, self.party, &differences, material);
            (Step::Compare(comparisons), self.used + 1)
        };
        self.used += self.layout.sections_of(number, &level).len();
        self.games.push(Game { level, values, step, section, masked: None, own: None, peer: None });
    }

    /// A chain begins with the first half of its first opening.
    fn begin_chain(&mut self, level: usize, opening: Opening, tile: usize) {
        if opening == Opening::Bit(0) && self.games.len() == tile {
            self.begin(level, tile);
        }
    }

    /// What this party says in a piece.
    fn say(&mut self, Piece { part, tile }: Piece) -> Rows {
        match part {
            Part::Masked(level) => {
                self.begin(level, tile);
                self.games[tile].comparisons().masked()
            }
            Part::Answers(_) => {
                let game = &mut self.games[tile];
                let masked = game.masked.take().unwrap_or_else(|| unreachable!("parts come in order"));
                game.comparisons().answer(&masked)
            }
            Part::Open(level, opening) => {
                self.begin_chain(level, opening, tile);
                let half = self.half(opening, tile);
                self.games[tile].own = Some(half.clone());
                self.open(opening, tile);
                half
            }
            Part::Least => {
                let mut least = self.values.sums.clone();
                if let Some(own) = &self.least_share {
                    least.subtract(own);
                }
                least
            }
        }
    }

    /// What the peer said in a piece.
    fn hear(&mut self, Piece { part, tile }: Piece, said: Rows) {
        match part {
            Part::Masked(level) => {
                self.begin(level, tile);
                self.games[tile].masked = Some(said);
            }
            Part::Answers(_) => self.games[tile].comparisons().choose(&said),
            Part::Open(level, opening) => {
                self.begin_chain(level, opening, tile);
                self.games[tile].peer = Some(said);
                self.open(opening, tile);
            }
            Part::Least => self.values.sums.add(&said),
        }
    }

    /// This party's half of an opening.
    fn half(&mut self, opening: Opening, tile: usize) -> Rows {
        let game = &mut self.games[tile];
        if !matches!(opening, Opening::Nodes(_)) {
            let (_, material) = self.stored.section(game.section);
            game.arrive(opening, material, self.party);
        }
        match &game.step {
            Step::Compare(comparisons) => comparisons.nodes(),
            Step::Chain(chain, triples) => chain.half(triples, self.party),
            Step::Winners(winners, triples) => winners.ands(triples),
            Step::Select(selections) => selections.half(),
            Step::Done => Rows::zeros(0, 0),
        }
    }

    /// Ends an opening of which both halves are there. After the last one of a level its tiles are put together.
    fn open(&mut self, opening: Opening, tile: usize) {
        self.games[tile].open(&self.layout, self.party);
        let is_last = opening == Opening::Selection && tile + 1 == self.games.len();
        if is_last && matches!(self.games[tile].step, Step::Done) {
            let (sums, strings): (Vec<Rows>, Vec<Rows>) =
                self.games.drain(..).map(|game| (game.values.sums, game.values.strings)).unzip();
            self.values = Values { sums: Rows::of_parts(&sums), strings: Rows::of_parts(&strings) };
            self.compared = None;
        }
    }

    /// What came with the last exchange.
    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some(last) = self.next.checked_sub(1) else { return Ok(()) };
        let exchange = self.layout.exchanges[last].clone();
        if exchange.writer == self.party {
            return Ok(());
        }
        let mut bits = BitReader::new(inbox, self.layout.bits_of_exchange(&exchange))?;
        for piece in exchange.pieces {
            let (rows, lanes) = self.layout.shape_of_piece(piece);
            let mut said = Rows::zeros(rows, lanes);
            (0..rows).for_each(|row| said.row_mut(row).copy_from_slice(&bits.row(lanes)));
            self.hear(piece, said);
        }
        Ok(())
    }

    fn write(&mut self, outbox: &mut Outbox) {
        let exchange = self.layout.exchanges[self.next].clone();
        if exchange.writer != self.party {
            return;
        }
        let mut bits = BitWriter::default();
        for piece in exchange.pieces {
            let said = self.say(piece);
            (0..said.rows()).for_each(|row| bits.row(said.row(row), said.lanes()));
        }
        outbox.extend_from_slice(&bits.bytes());
    }
}

impl Game {
    fn comparisons(&mut self) -> &mut Comparisons {
        match &mut self.step {
            Step::Compare(comparisons) => comparisons,
            _ => unreachable!("parts come in order"),
        }
    }

    /// Goes on to the step of an opening, when all before it are done, with what it takes.
    fn arrive(&mut self, opening: Opening, material: Material, party: Party) {
        self.section += 1;
        let winners = match std::mem::replace(&mut self.step, Step::Done) {
            Step::Chain(chain, _) if matches!(opening, Opening::Bit(_)) => {
                self.step = Step::Chain(chain, material.slice(0, 3));
                return;
            }
            Step::Compare(comparisons) => Winners::new(&self.level, &comparisons.finish(), party),
            Step::Chain(chain, _) => Winners::new(&self.level, &chain.finish(), party),
            Step::Winners(winners, _) => winners,
            Step::Select(_) | Step::Done => return,
        };
        self.step = match opening {
            Opening::Selection => Step::Select(Selections::new(&self.level, &self.values, winners.finish(), material)),
            _ => Step::Winners(winners, material.slice(0, 3)),
        };
    }

    /// Ends an opening of which both halves are there.
    fn open(&mut self, layout: &Layout, party: Party) {
        if self.own.is_none() || self.peer.is_none() {
            return;
        }
        let (Some(mut opened), Some(peer)) = (self.own.take(), self.peer.take()) else { return };
        opened.xor(&peer);
        match std::mem::replace(&mut self.step, Step::Done) {
            Step::Compare(mut comparisons) => {
                comparisons.join(&opened, party);
                self.step = Step::Compare(comparisons);
            }
            Step::Chain(mut chain, triples) => {
                chain.join(&triples, &opened, party);
                self.step = Step::Chain(chain, triples);
            }
            Step::Winners(mut winners, triples) => {
                winners.join(&triples, &opened, party);
                self.step = Step::Winners(winners, triples);
            }
            Step::Select(selections) => self.values = selections.finish(layout, &self.level, &self.values, &peer),
            Step::Done => {}
        }
    }
}

/// Of each pair of a group, the right value minus the left one.
fn differences(level: &Level, values: &Rows) -> Rows {
    let [left, right] = level.sides();
    let mut differences = values.gather(&right);
    differences.subtract(&values.gather(&left));
    differences
}

impl Online {
    /// This party's share of the least value that stays shared by addition, after the last exchange.
    pub fn least(mut self, inbox: &[u8]) -> Result<Rows> {
        self.read(inbox)?;
        Ok(self.values.sums)
    }
}

impl Stage for Online {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        self.write(outbox);
        self.next += 1;
        Ok(())
    }

    /// The least value: shared by addition it is Bob's, who has what Alice's part leaves; shared by XOR both have a share. Then
    /// the argument or the index.
    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        let strings = &self.values.strings;
        let (value, second) = if self.layout.gives_least {
            ((self.party == Party::Bob).then(|| self.values.sums.to_matrix()), strings.clone())
        } else {
            let bits = self.layout.bits;
            (Some(strings.slice(0, bits).to_matrix()), strings.slice(bits, strings.rows() - bits))
        };
        let missing = self.layout.index.saturating_sub(second.rows());
        let mut second = second.then(&Rows::zeros(missing, 1));
        if self.layout.index > 0 {
            second = second.slice(0, self.layout.index);
        }
        Ok(vec![value, Some(second.to_matrix())])
    }
}
