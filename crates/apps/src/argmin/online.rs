//! The online phase: message after message, part by part.

use super::compare::Comparisons;
use super::layout::{Layout, Level, Opening, Part, Section};
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
    /// What setup stored, and how many bytes and sections of it are used.
    stored: Zeroizing<Vec<u8>>,
    sections: Vec<Section>,
    used: (usize, usize),
    /// The shares that are compared.
    compared: Rows,
    values: Values,
    least_share: Option<Rows>,
    game: Option<Game>,
    /// The next exchange.
    next: usize,
}

/// A level under way.
struct Game {
    level: Level,
    comparisons: Comparisons,
    step: Step,
    /// The receiver's masked leaves.
    masked: Option<Rows>,
    /// The halves of the opening.
    own: Option<Rows>,
    peer: Option<Rows>,
}

/// What follows the comparisons of a level.
enum Step {
    Compare,
    /// With the triples of the next level of ANDs.
    Winners(Winners, Rows),
    Select(Selections),
}

impl Online {
    pub fn new(layout: Layout, party: Party, stored: Zeroizing<Vec<u8>>, begin: Begin) -> Online {
        let sections = layout.sections();
        let nothing = Rows::zeros(0, begin.sums.lanes());
        let sums = if layout.sums > 0 { begin.sums.clone() } else { nothing };
        let values = Values { sums, strings: begin.strings };
        let (compared, least_share) = (begin.sums, begin.least_share);
        Online { layout, party, stored, sections, used: (0, 0), compared, values, least_share, game: None, next: 0 }
    }

    /// The next section of what setup stored.
    fn take(&mut self) -> (Section, Rows) {
        let (from, number) = self.used;
        let section = self.sections[number];
        let mut rows = Rows::zeros(self.layout.rows(&section, self.party), section.lanes);
        let size = 8 * rows.stride();
        for (row, bytes) in (0..rows.rows()).zip(self.stored[from..].chunks_exact(size.max(1))) {
            let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
            rows.row_mut(row).iter_mut().zip(words).for_each(|(to, word)| *to = word);
        }
        self.used = (from + size * rows.rows(), number + 1);
        (section, rows)
    }

    /// Begins a level: of each pair of a group, the right value minus the left one.
    fn begin(&mut self, level: usize) {
        let level = self.layout.levels[level].clone();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (from, size) in level.groups() {
            for (i, j) in (from..from + size).flat_map(|i| (i + 1..from + size).map(move |j| (i, j))) {
                left.push(i as u32);
                right.push(j as u32);
            }
        }
        let mut differences = self.compared.gather(&right);
        differences.subtract(&self.compared.gather(&left));
        let (section, material) = self.take();
        let comparisons = Comparisons::new(&self.layout, &section, self.party, &differences, material);
        self.game = Some(Game { level, comparisons, step: Step::Compare, masked: None, own: None, peer: None });
    }

    /// What this party says in a part.
    fn say(&mut self, part: Part) -> Rows {
        match part {
            Part::Masked(level) => {
                self.begin(level);
                self.game().comparisons.masked()
            }
            Part::Answers(_) => {
                let game = self.game();
                let masked = game.masked.take().unwrap_or_else(|| unreachable!("parts come in order"));
                game.comparisons.answer(&masked)
            }
            Part::Open(_, opening) => {
                let half = self.half(opening);
                self.game().own = Some(half.clone());
                self.open(opening);
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

    /// What the peer said in a part.
    fn hear(&mut self, part: Part, said: Rows) {
        match part {
            Part::Masked(level) => {
                self.begin(level);
                self.game().masked = Some(said);
            }
            Part::Answers(_) => self.game().comparisons.choose(&said),
            Part::Open(_, opening) => {
                self.game().peer = Some(said);
                self.open(opening);
            }
            Part::Least => self.values.sums.add(&said),
        }
    }

    fn game(&mut self) -> &mut Game {
        self.game.as_mut().unwrap_or_else(|| unreachable!("a level is under way"))
    }

    /// This party's half of an opening.
    fn half(&mut self, opening: Opening) -> Rows {
        self.arrive(opening);
        let game = self.game();
        match &game.step {
            Step::Compare => game.comparisons.nodes(),
            Step::Winners(winners, triples) => winners.ands(triples),
            Step::Select(selections) => selections.half(),
        }
    }

    /// Goes on to the step of an opening, when all before it are done.
    fn arrive(&mut self, opening: Opening) {
        if let Opening::Nodes(_) = opening {
            return;
        }
        let (_, material) = self.take();
        let party = self.party;
        let game = self.game();
        let winners = match std::mem::replace(&mut game.step, Step::Compare) {
            Step::Winners(winners, _) => winners,
            _ => Winners::new(&game.level, &game.comparisons.finish(), party),
        };
        let level = game.level.clone();
        let step = match opening {
            Opening::Selection => Step::Select(Selections::new(&level, &self.values, winners.finish(), material)),
            _ => Step::Winners(winners, material),
        };
        self.game().step = step;
    }

    /// Ends an opening of which both halves are there.
    fn open(&mut self, opening: Opening) {
        let party = self.party;
        let game = self.game();
        let (Some(_), Some(_)) = (&game.own, &game.peer) else { return };
        let (Some(mut opened), Some(peer)) = (game.own.take(), game.peer.take()) else { return };
        opened.xor(&peer);
        match (&mut game.step, opening) {
            (Step::Compare, _) => game.comparisons.join(&opened, party),
            (Step::Winners(winners, triples), _) => winners.join(triples, &opened, party),
            (Step::Select(_), _) => self.end(&peer),
        }
    }

    /// Ends a level.
    fn end(&mut self, peer: &Rows) {
        if let Some(Game { level, step: Step::Select(selections), .. }) = self.game.take() {
            self.values = selections.finish(&self.layout, &level, &self.values, peer);
            self.compared = self.values.sums.clone();
        }
    }

    /// What came with the last exchange.
    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some(last) = self.next.checked_sub(1) else { return Ok(()) };
        let message = self.layout.messages[last].clone();
        if message.writer == self.party {
            return Ok(());
        }
        let mut bits = BitReader::new(inbox, self.layout.bits_of(&message))?;
        for part in message.parts {
            let (rows, lanes) = self.layout.shape(part);
            let mut said = Rows::zeros(rows, lanes);
            (0..rows).for_each(|row| said.row_mut(row).copy_from_slice(&bits.row(lanes)));
            self.hear(part, said);
        }
        Ok(())
    }

    fn write(&mut self, outbox: &mut Outbox) {
        let message = self.layout.messages[self.next].clone();
        if message.writer != self.party {
            return;
        }
        let mut bits = BitWriter::default();
        for part in message.parts {
            let said = self.say(part);
            (0..said.rows()).for_each(|row| bits.row(said.row(row), said.lanes()));
        }
        outbox.extend_from_slice(&bits.bytes());
    }
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
        if !self.layout.gives_least {
            let bits = self.layout.bits;
            let parts = [strings.slice(0, bits), strings.slice(bits, strings.rows() - bits)];
            return Ok(parts.iter().map(|part| Some(part.to_matrix())).collect());
        }
        let value = (self.party == Party::Bob).then(|| self.values.sums.to_matrix());
        let missing = self.layout.index.saturating_sub(strings.rows());
        let mut argument = strings.clone().then(&Rows::zeros(missing, 1));
        if self.layout.index > 0 {
            argument = argument.slice(0, self.layout.index);
        }
        Ok(vec![value, Some(argument.to_matrix())])
    }
}
