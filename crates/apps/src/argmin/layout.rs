//! Levels, sections and messages of a call, and the lengths that follow: public terms alone.
//!
//! Setup makes *sections*, one for each kind of correlation of each level, with a lane for each comparison, AND or selection;
//! online takes them in the same order. A *part* is what one party says to the other in one step, and a message is all parts
//! in a row of one party. A level of many groups is cut into *tiles*, which are small levels themselves: a part is said tile
//! by tile, in an exchange each, so that nothing is held of a whole level but shares and what setup stored.

use super::parameters::{Direction, Form, Parameters};
use duologue::call::{Call, CallLengths, Exchange};
use duologue::circuit::Party;
use duologue::correlation::Demand;
use duologue::{Error, Result};

/// Bits of a leaf of a comparison.
pub const LEAF: usize = 2;

/// Random OTs of one exchange of setup, about, each with what it grows to: some ten megabytes.
const CHUNK: usize = 1 << 17;

/// Bits that a random OT has when it is made.
const BITS_OF_OT: usize = 128;

/// Bits of the longest part of a tile, about.
const TILE: usize = 1 << 22;

/// Bits that a call stores between setup and online at each party, at most: a gigabyte.
const MOST_STORED: u64 = 1 << 33;

/// All that is public of a call.
#[derive(Clone)]
pub struct Layout {
    /// Bits of a value, l.
    pub bits: usize,
    /// Values that the tournament begins with.
    pub values: usize,
    /// Rows that a selection carries modulo 2^sums: of values that stay shared by addition, else none. What is compared are
    /// their lowest bits.
    pub sums: usize,
    /// Rows that it carries by XOR from the beginning: arguments, and values that are shared by XOR.
    pub strings: usize,
    /// Bits of the index; 0 with arguments.
    pub index: usize,
    pub direction: Direction,
    /// Whether strings are compared, by a chain of ANDs.
    pub chains: bool,
    /// The party that is the last to open.
    pub last: Party,
    /// Whether Alice gives Bob her part of the least value.
    pub gives_least: bool,
    pub levels: Vec<Level>,
    /// The tiles of each level.
    pub tiles: Vec<Vec<Tile>>,
    pub messages: Vec<Message>,
    /// What travels in each exchange.
    pub exchanges: Vec<Pieces>,
}

/// One level of the tournament.
#[derive(Clone)]
pub struct Level {
    /// The party that sends the OTs of the comparisons.
    pub sender: Party,
    /// The party that says its half of the first opening first.
    pub opener: Party,
    /// Values at its beginning.
    pub values: usize,
    /// Values that are compared with each other. Of what is left over one rests, more are a smaller group.
    pub group: usize,
    /// Digits of the index that are secret already, in bits.
    pub digits: usize,
}

/// What is opened by both parties in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// A level of the tree of a comparison.
    Nodes(usize),
    /// A bit of the chain of a comparison of strings.
    Bit(usize),
    /// A level of the ANDs that find the least of a group.
    Ands(usize),
    /// The selection of the least.
    Selection,
}

/// What one party says to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The receiver's masked leaves.
    Masked(usize),
    /// The sender's answers.
    Answers(usize),
    /// One party's half of an opening.
    Open(usize, Opening),
    /// What Alice adds to Bob's share of the least value.
    Least,
}

/// Parts in a row of one party.
#[derive(Clone)]
pub struct Message {
    pub writer: Party,
    pub parts: Vec<Part>,
}

/// A part as far as it is about one tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub part: Part,
    pub tile: usize,
}

/// Pieces of one party that travel together.
#[derive(Clone)]
pub struct Pieces {
    pub writer: Party,
    pub pieces: Vec<Piece>,
}

/// Some groups of a level, as a level of their own.
#[derive(Clone)]
pub struct Tile {
    /// The first of its values.
    pub from: usize,
    pub level: Level,
}

/// The kind of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Compare,
    Ands,
    Select,
}

/// Correlations of one kind for one tile of a level.
#[derive(Clone, Copy)]
pub struct Section {
    pub kind: Kind,
    /// The party that sends the OTs of the level's comparisons.
    pub sender: Party,
    pub lanes: usize,
    /// Rows that it carries, of a selection.
    pub carried: usize,
}

/// Lanes of a section that one exchange of setup makes.
#[derive(Clone, Copy)]
pub struct Chunk {
    pub section: usize,
    pub from: usize,
    pub lanes: usize,
}

impl Layout {
    /// The layout of a call whose parameters, types and lanes were checked.
    pub fn new(call: &Call, parameters: &Parameters) -> Layout {
        let lanes = |arg: usize| call.args.get(arg).map_or(0, |arg| arg.lanes as usize);
        let width = |arg: usize| call.args.get(arg).map_or(0, |arg| arg.ty.width as usize);
        let index = usize::from(parameters.index);
        let (bits, values, sums, strings) = match parameters.form {
            Form::Shared => (width(0) - 1, lanes(0), width(0), width(3)),
            Form::Halves => (width(0), 2, 0, width(0) + index.max(width(2))),
            Form::Strings => (width(0), lanes(0), 0, width(0) + width(1)),
        };
        let (gives_least, chains) = (parameters.form == Form::Shared, parameters.form == Form::Strings);
        let index = if parameters.form == Form::Halves { 0 } else { index };
        let direction = parameters.direction;
        let layout = Layout { strings, index, chains, gives_least, ..Layout::empty(bits, values, sums, direction) };
        layout.with_levels(&parameters.levels(values))
    }

    /// The layout of values that stay shared by addition modulo 2^sums, of which the lowest `bits` are compared, one more is
    /// zero, and all are selected.
    pub fn of_sums(
        bits: usize,
        values: usize,
        sums: usize,
        direction: Direction,
        groups: &[usize],
        last: Party,
    ) -> Layout {
        Layout { last, ..Layout::empty(bits, values, sums, direction) }.with_levels(groups)
    }

    /// One level alone, to count what it takes.
    pub fn of_level(bits: usize, carried: usize, level: Level, direction: Direction) -> Layout {
        let mut layout = Layout::empty(bits, level.values, carried, direction);
        layout.levels = vec![level];
        layout.with_messages()
    }

    fn empty(bits: usize, values: usize, sums: usize, direction: Direction) -> Layout {
        Layout {
            bits,
            values,
            sums,
            strings: 0,
            index: 0,
            direction,
            chains: false,
            last: Party::Alice,
            gives_least: false,
            levels: Vec::new(),
            tiles: Vec::new(),
            messages: Vec::new(),
            exchanges: Vec::new(),
        }
    }

    fn with_levels(mut self, groups: &[usize]) -> Layout {
        self.levels = self.with_senders(groups);
        self.with_messages()
    }

    fn with_messages(mut self) -> Layout {
        self.tiles = (0..self.levels.len()).map(|level| self.tiles_of(level)).collect();
        self.messages = self.messages();
        self.exchanges = self.exchanges();
        self
    }

    /// The tiles of a level. All but the last have a multiple of 64 groups, so that their lanes fill words; each has a pair.
    fn tiles_of(&self, number: usize) -> Vec<Tile> {
        let level = &self.levels[number];
        let most = (TILE / self.bits_of_group(number)).max(64) / 64 * 64 * level.group;
        let values = |from| if level.values - from <= most + 1 { level.values - from } else { most };
        let tile = |from| Tile { from, level: Level { values: values(from), ..level.clone() } };
        (0..level.values.max(2) - 1).step_by(most).map(tile).collect()
    }

    /// Bits of a whole group of a level in the longest part: the answers, or an opening of the comparison or of the selection.
    fn bits_of_group(&self, number: usize) -> usize {
        let group = self.levels[number].group;
        let compared = if self.chains { 2 } else { 6 * self.leaves() - 3 };
        (compared * pairs(group)).max((1 + self.carried(number)) * (group - 1))
    }

    /// Leaves of a comparison.
    pub fn leaves(&self) -> usize {
        self.bits.div_ceil(LEAF)
    }

    /// Nodes of each level of the tree of a comparison, from the leaves on. The first of a level has the lowest leaf below
    /// it, so that nobody asks whether its two sides are equal.
    pub fn nodes(&self) -> Vec<usize> {
        let (mut left, mut nodes) = (self.leaves(), Vec::new());
        while left > 1 {
            nodes.push(left / 2);
            left -= left / 2;
        }
        nodes
    }

    /// Nodes of a comparison that ask for both, and those that ask for "greater" alone.
    pub fn kinds_of_nodes(&self) -> (usize, usize) {
        let (all, levels) = (self.leaves() - 1, self.nodes().len());
        (all - levels, levels)
    }

    /// Who sends is decided from the end, by who is the last to open: Alice, so that her last message has her part of the
    /// result, too; or who has something to send next.
    fn with_senders(&self, groups: &[usize]) -> Vec<Level> {
        let (mut values, mut digits, mut levels) = (self.values, 0, Vec::new());
        for &group in groups {
            levels.push(Level { sender: Party::Alice, opener: Party::Alice, values, group, digits });
            values = values.div_ceil(group);
            digits += if self.index > 0 { bits_of(group) } else { 0 };
        }
        let mut last = self.last;
        for level in levels.iter_mut().rev() {
            let opener_is_last = self.openings(level).count().is_multiple_of(2);
            level.opener = if opener_is_last { last } else { last.peer() };
            level.sender = level.opener;
            // Leaves are masked by the receiver; a chain begins with an opening.
            last = if self.chains { level.opener } else { level.opener.peer() };
        }
        if let (Direction::One, Some(sender)) = (self.direction, levels.last().map(|level| level.sender)) {
            levels.iter_mut().for_each(|level| level.sender = sender);
        }
        if !self.chains {
            levels.iter_mut().for_each(|level| level.opener = level.sender);
        }
        levels
    }

    /// The openings of a level, in their order.
    fn openings(&self, level: &Level) -> impl Iterator<Item = Opening> {
        let (bits, nodes) = if self.chains { (self.bits, 0) } else { (0, self.nodes().len()) };
        let compared = (0..bits).map(Opening::Bit).chain((0..nodes).map(Opening::Nodes));
        compared.chain((0..level.ands().len()).map(Opening::Ands)).chain([Opening::Selection])
    }

    /// Whoever has read one half of an opening knows its result, and says the other half and the first half of the next.
    fn messages(&self) -> Vec<Message> {
        let mut parts = Vec::new();
        for (number, level) in self.levels.iter().enumerate() {
            if !self.chains {
                parts.push((level.sender.peer(), Part::Masked(number)));
                parts.push((level.sender, Part::Answers(number)));
            }
            let mut first = level.opener;
            for opening in self.openings(level) {
                parts.extend([first, first.peer()].map(|party| (party, Part::Open(number, opening))));
                first = first.peer();
            }
        }
        if self.gives_least {
            parts.push((Party::Alice, Part::Least));
        }
        let in_a_row = parts.chunk_by(|(a, _), (b, _)| a == b);
        in_a_row.map(|row| Message { writer: row[0].0, parts: row.iter().map(|&(_, part)| part).collect() }).collect()
    }

    /// Whatever begins with another tile than the first is an exchange of its own.
    fn exchanges(&self) -> Vec<Pieces> {
        let mut exchanges = Vec::new();
        for message in &self.messages {
            let pieces: Vec<Piece> = message.parts.iter().flat_map(|&part| self.pieces(part)).collect();
            let together = pieces.chunk_by(|_, next| next.tile == 0);
            exchanges.extend(together.map(|pieces| Pieces { writer: message.writer, pieces: pieces.to_vec() }));
        }
        exchanges
    }

    fn pieces(&self, part: Part) -> impl Iterator<Item = Piece> + use<> {
        let tiles = part.level().map_or(1, |level| self.tiles[level].len());
        (0..tiles).map(move |tile| Piece { part, tile })
    }

    /// Rows and lanes of a part of a level, or of a tile of one.
    fn shape(&self, part: Part, of: &Level) -> (usize, usize) {
        match part {
            Part::Masked(_) => (LEAF * self.leaves(), of.comparisons()),
            Part::Answers(_) => (6 * self.leaves() - 3, of.comparisons()),
            Part::Open(_, Opening::Nodes(nodes)) => (3 * self.nodes()[nodes] - 1, of.comparisons()),
            Part::Open(_, Opening::Bit(_)) => (2, of.comparisons()),
            Part::Open(_, Opening::Ands(ands)) => (2, of.ands()[ands]),
            Part::Open(level, Opening::Selection) => (1 + self.carried(level), of.selections()),
            Part::Least => (self.sums, 1),
        }
    }

    /// Rows and lanes of a whole part.
    pub fn shape_of_part(&self, part: Part) -> (usize, usize) {
        part.level().map_or((self.sums, 1), |level| self.shape(part, &self.levels[level]))
    }

    /// Rows and lanes of a piece.
    pub fn shape_of_piece(&self, Piece { part, tile }: Piece) -> (usize, usize) {
        part.level().map_or((self.sums, 1), |level| self.shape(part, &self.tiles[level][tile].level))
    }

    /// Rows that the selection of a level carries.
    pub fn carried(&self, level: usize) -> usize {
        self.sums + self.strings + self.levels[level].digits
    }

    /// Bits of a message.
    pub fn bits_of(&self, message: &Message) -> u64 {
        message.parts.iter().map(|&part| self.shape_of_part(part)).map(bits_of_shape).sum()
    }

    /// Bits of an exchange.
    pub fn bits_of_exchange(&self, exchange: &Pieces) -> u64 {
        exchange.pieces.iter().map(|&piece| self.shape_of_piece(piece)).map(bits_of_shape).sum()
    }

    /// Bits of all messages, and random OTs of all sections.
    pub fn totals(&self) -> (u64, usize) {
        let ots = |section: &Section| section.lanes * self.ots(section).iter().sum::<usize>();
        let bits = self.messages.iter().map(|message| self.bits_of(message)).sum();
        (bits, self.sections().iter().map(ots).sum())
    }

    /// Tile by tile: of comparisons, or of each bit of a chain; of each level of ANDs; of selections.
    pub fn sections(&self) -> Vec<Section> {
        let tiles =
            self.tiles.iter().enumerate().flat_map(|(number, tiles)| tiles.iter().map(move |tile| (number, tile)));
        tiles.flat_map(|(number, tile)| self.sections_of(number, &tile.level)).collect()
    }

    /// The sections of a tile of a level.
    pub fn sections_of(&self, number: usize, tile: &Level) -> Vec<Section> {
        let (sender, carried) = (tile.sender, self.carried(number));
        let section = |kind, lanes| Section { kind, sender, lanes, carried };
        let comparison = if self.chains { (Kind::Ands, self.bits) } else { (Kind::Compare, 1) };
        let mut sections = vec![section(comparison.0, tile.comparisons()); comparison.1];
        sections.extend(tile.ands().into_iter().map(|lanes| section(Kind::Ands, lanes)));
        sections.push(section(Kind::Select, tile.selections()));
        sections
    }

    /// Where each section begins in what a party stores, and where the last one ends.
    pub fn places(&self, party: Party) -> (Vec<Section>, Vec<usize>) {
        let sections = self.sections();
        let sizes = sections.iter().map(|section| 8 * section.lanes.div_ceil(64) * self.rows(section, party));
        let ends = sizes.scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        let places = [0].into_iter().chain(ends).collect();
        (sections, places)
    }

    /// Rows that a party stores of a section.
    pub fn rows(&self, section: &Section, party: Party) -> usize {
        let (both, greater) = self.kinds_of_nodes();
        match section.kind {
            Kind::Compare if section.sender == party => 8 * self.leaves() - 4 + 5 * both + 3 * greater,
            Kind::Compare => 4 * self.leaves() - 1 + 5 * both + 3 * greater,
            Kind::Ands => 3,
            Kind::Select => 3 * section.carried + 1,
        }
    }

    /// Random OTs of a lane of a section: those of its sender, and those of the other party.
    pub fn ots(&self, section: &Section) -> [usize; 2] {
        let (both, greater) = self.kinds_of_nodes();
        match (section.kind, self.direction) {
            (Kind::Compare, Direction::Both) => [LEAF * self.leaves() + both + greater, both + greater],
            (Kind::Compare, Direction::One) => [LEAF * self.leaves() + 3 * both + 2 * greater, 0],
            (Kind::Ands, Direction::One) => [2, 0],
            (Kind::Ands, Direction::Both) | (Kind::Select, _) => [1, 1],
        }
    }

    /// Bits of a lane of a section that its sender sends in setup.
    pub fn corrections(&self, section: &Section) -> usize {
        match (section.kind, self.direction) {
            (Kind::Compare, Direction::One) => self.kinds_of_nodes().0,
            _ => 0,
        }
    }

    /// What a lane of a section holds in memory while it is made, in random OTs: those of a selection grow to what it
    /// carries, two messages of the one that it sends and one of the other, and again as rows.
    fn weight(&self, section: &Section) -> usize {
        let ots = self.ots(section).iter().sum::<usize>();
        let grown = if section.kind == Kind::Select { 6 * section.carried / BITS_OF_OT } else { 0 };
        ots.max(grown)
    }

    pub fn chunks(&self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for (number, section) in self.sections().iter().enumerate() {
            let most = (CHUNK / self.weight(section)).max(64) / 64 * 64;
            let lanes = |from| most.min(section.lanes - from);
            let from = (0..section.lanes).step_by(most);
            chunks.extend(from.map(|from| Chunk { section: number, from, lanes: lanes(from) }));
        }
        chunks
    }

    /// Bytes that a party stores.
    fn stored(&self, party: Party) -> u64 {
        let of = |section: &Section| 8 * section.lanes.div_ceil(64) as u64 * self.rows(section, party) as u64;
        self.sections().iter().map(of).sum()
    }

    /// Whether what it stores and holds is bounded. Both parties find the same.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what is not.
    pub fn check(&self) -> Result<()> {
        let most = MOST_STORED / 8;
        match [Party::Alice, Party::Bob].map(|party| self.stored(party)).into_iter().max() {
            Some(stored) if stored > most => Err(Error::usage(format!(
                "argmin: it would store {stored} bytes, more than {most}: fewer values or smaller groups"
            ))),
            _ => Ok(()),
        }
    }

    pub fn lengths(&self, party: Party) -> CallLengths {
        let sections = self.sections();
        let setup = |chunk: Chunk| {
            let section = &sections[chunk.section];
            let [by_sender, by_other] = self.ots(section).map(|ots| (ots * chunk.lanes) as u64);
            let demand = Demand::of_cots(section.sender, by_sender) + Demand::of_cots(section.sender.peer(), by_other);
            let (sent, read) = one_way(section.sender == party, (self.corrections(section) * chunk.lanes) as u64);
            Exchange { demand, sent, read }
        };
        let stored = self.stored(party) as usize;
        let online = self.exchanges.iter().map(|exchange| {
            let (sent, read) = one_way(exchange.writer == party, self.bits_of_exchange(exchange));
            Exchange { sent, read, ..Exchange::default() }
        });
        CallLengths { setup: self.chunks().into_iter().map(setup).collect(), stored, online: online.collect() }
    }
}

impl Part {
    /// The level that it is about, if it is about one.
    pub fn level(self) -> Option<usize> {
        match self {
            Part::Masked(level) | Part::Answers(level) | Part::Open(level, _) => Some(level),
            Part::Least => None,
        }
    }
}

fn bits_of_shape((rows, lanes): (usize, usize)) -> u64 {
    rows as u64 * lanes as u64
}

/// Bytes sent and read of so many bits.
fn one_way(sends: bool, bits: u64) -> (usize, usize) {
    let bytes = bits.div_ceil(8) as usize;
    if sends { (bytes, 0) } else { (0, bytes) }
}

/// Bits of a number below `values`.
pub fn bits_of(values: usize) -> usize {
    values.next_power_of_two().ilog2() as usize
}

impl Level {
    /// First value and size of each group.
    pub fn groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (values, group) = (self.values, self.group);
        (0..values).step_by(group).map(move |from| (from, group.min(values - from)))
    }

    /// The left and the right value of each pair of a group.
    pub fn sides(&self) -> [Vec<u32>; 2] {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (from, size) in self.groups() {
            for (i, j) in (from..from + size).flat_map(|i| (i + 1..from + size).map(move |j| (i, j))) {
                left.push(i as u32);
                right.push(j as u32);
            }
        }
        [left, right]
    }

    pub fn comparisons(&self) -> usize {
        let rest = self.values % self.group;
        self.values / self.group * pairs(self.group) + pairs(rest)
    }

    pub fn selections(&self) -> usize {
        self.values - self.values.div_ceil(self.group)
    }

    /// ANDs of each level that finds the least of a group: it has won against all others of its group.
    pub fn ands(&self) -> Vec<usize> {
        let (full, rest) = (self.values / self.group, self.values % self.group);
        let (mut terms, mut of_rest, mut levels) = (self.group - 1, rest.saturating_sub(1), Vec::new());
        while terms > 1 {
            levels.push(full * (self.group - 1) * (terms / 2) + rest.saturating_sub(1) * (of_rest / 2));
            (terms, of_rest) = (terms.div_ceil(2), of_rest.div_ceil(2));
        }
        levels
    }
}

fn pairs(values: usize) -> usize {
    values * values.saturating_sub(1) / 2
}
