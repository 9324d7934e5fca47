//! What the two parties agree on before a program runs.
//!
//! Every setting that decides what is sent, and by whom, is a term: a name and a value in text. The terms of both
//! parties are exchanged and must be equal; the first that differs is named on both sides. Settings that are local
//! (threads, verbosity) are no terms.

use crate::correlation::Demand;
use crate::executor::Window;
use crate::gmw;
use crate::ot::Extension;
use crate::{Error, Party, Result};
use circuit::program::{Binding, Owner};
use circuit::{Order, Schedule};
use kernels::half_gates::Ciphertexts;
use kernels::three_halves;
use std::fmt;
use std::str::FromStr;

/// Which protocol runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// Garbled circuits: few rounds, 32 bytes an AND, or 25 by [`Garbling::ThreeHalves`].
    Yao,
    /// Secret sharing: a round for each layer, half a byte an AND online.
    Gmw,
    /// Secret sharing with public masked bits: a quarter of a byte an AND online and ANDs of up to four inputs, for which
    /// setup, always ahead, makes and sends more.
    Masked,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 3] = [Scheme::Yao, Scheme::Gmw, Scheme::Masked];
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Scheme::ALL.into_iter().find(|scheme| scheme.to_string() == name);
        found.ok_or_else(|| Error::usage(format!("no protocol is called '{name}'")))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Yao => "yao",
            Scheme::Gmw => "gmw",
            Scheme::Masked => "gmw-masked",
        })
    }
}

/// How Yao garbles an AND.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Garbling {
    /// 32 bytes an AND, four hash calls to garble it and two to evaluate it.
    #[default]
    HalfGates,
    /// 25 bytes an AND, six calls and three, each followed by more work: for lines that are slower than the garbler.
    ThreeHalves,
}

impl Garbling {
    /// Both of them.
    pub const ALL: [Garbling; 2] = [Garbling::HalfGates, Garbling::ThreeHalves];

    /// Bytes of an AND's table.
    pub const fn table(self) -> usize {
        match self {
            Garbling::HalfGates => size_of::<Ciphertexts>(),
            Garbling::ThreeHalves => size_of::<three_halves::Table>(),
        }
    }
}

impl FromStr for Garbling {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Garbling::ALL.into_iter().find(|garbling| garbling.to_string() == name);
        found.ok_or_else(|| Error::usage(format!("no way of garbling is called '{name}'")))
    }
}

impl fmt::Display for Garbling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Garbling::HalfGates => "half-gates",
            Garbling::ThreeHalves => "three-halves",
        })
    }
}

/// When setup happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Timing {
    /// Ahead if what must be kept fits into memory easily, else streamed.
    #[default]
    Auto,
    /// All of it before the first input is used.
    Ahead,
    /// Just before it is needed, in bounded memory.
    Streamed,
}

/// What a caller may choose; both parties choose alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The protocol.
    pub scheme: Scheme,
    /// Who garbles; by default whoever supplies more input bits, since the garbler's are cheaper.
    pub garbler: Option<Party>,
    /// How it garbles.
    pub garbling: Garbling,
    /// When setup happens.
    pub timing: Timing,
    /// The most lanes of a tile; by default what fits into the processor's cache.
    pub tile: Option<usize>,
    /// What makes correlations, when they are not from a pool; one for all programs of a session.
    pub extension: Extension,
}

impl Options {
    /// A protocol with everything else chosen by rule.
    pub fn new(scheme: Scheme) -> Options {
        Options {
            scheme,
            garbler: None,
            garbling: Garbling::default(),
            timing: Timing::Auto,
            tile: None,
            extension: Extension::DEFAULT,
        }
    }
}

impl Options {
    /// The same for [`Session::prepare_to`](crate::Session::prepare_to): only Yao can be prepared as a whole, and only
    /// ahead of time.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what is there for GMW.
    pub fn for_shelf(&self) -> Result<Options> {
        match (self.scheme, self.timing) {
            (Scheme::Gmw | Scheme::Masked, _) => Err(Error::usage(
                "whole runs are prepared for yao only; what gmw makes ahead of time are triples in a pool: \
                 `duologue pool fill --triples`",
            )),
            (_, Timing::Streamed) => Err(Error::usage("a run that is prepared cannot be streamed")),
            _ => Ok(Options { timing: Timing::Ahead, ..*self }),
        }
    }
}

/// Options with every rule applied to one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The protocol.
    pub scheme: Scheme,
    /// Who garbles.
    pub garbler: Party,
    /// How.
    pub garbling: Garbling,
    /// Whether all of setup comes first.
    pub ahead: bool,
    /// What may be under way at once.
    pub window: Window,
    /// What makes correlations.
    pub extension: Extension,
}

/// The working set of a tile, in bytes: a share of a core's second-level cache, beside which there is room for what is
/// sent.
const CACHE: usize = 1 << 20;

/// What setup ahead of time may keep unless it is asked for, in bytes.
const KEEP: u64 = 64 << 20;

/// The most ANDs of the masked mode, which keeps its setup: a gigabyte or two.
const MASKED: u64 = 1 << 31;

impl Terms {
    /// Applies the rules; the schedule is derived on the way.
    ///
    /// # Errors
    /// If the program is too large at these sizes.
    pub(crate) fn resolve(binding: &Binding, options: &Options) -> Result<(Terms, Schedule)> {
        let garbler = options.garbler.unwrap_or_else(|| heavier_owner(binding));
        let most_lanes = binding.inputs().iter().map(|port| port.lanes).max().unwrap_or(1);
        let (order, cell_bits, lanes) = match options.scheme {
            Scheme::Yao if most_lanes < 16 => (Order::Layered, 128, 16..=1 << 12),
            Scheme::Yao => (Order::DepthFirst, 128, 16..=1 << 12),
            Scheme::Gmw | Scheme::Masked => (Order::Layered, 1, 64..=1 << 16),
        };
        let fitting = |slots: usize| {
            let lanes_that_fit = CACHE * 8 / (slots.max(1) * cell_bits);
            let rounded = (lanes_that_fit + 1).next_power_of_two() / 2;
            options.tile.unwrap_or(rounded.clamp(*lanes.start(), *lanes.end()))
        };
        let schedule = Schedule::new(binding, order, fitting).map_err(|error| Error::usage(error.to_string()))?;
        let window = match options.scheme {
            Scheme::Yao => Window { cells: 16 << 20, maps: 1 << 20 },
            Scheme::Gmw | Scheme::Masked => Window { cells: 64 << 20, maps: 96 << 20 },
        };
        let kept = match options.scheme {
            Scheme::Yao => {
                schedule.totals.and0.saturating_mul(options.garbling.table() as u64)
                    + schedule.totals.in0.saturating_mul(32)
            }
            Scheme::Gmw => (schedule.totals.and0 + schedule.totals.in0) / 2 + gmw::vector_cots(&schedule) * 32,
            Scheme::Masked if schedule.totals.and0 > MASKED => {
                return Err(Error::usage(format!(
                    "gmw-masked keeps the setup of all {} ANDs in memory, at most {MASKED}: gmw streams",
                    schedule.totals.and0
                )));
            }
            Scheme::Masked => 0,
        };
        let ahead = match options.timing {
            Timing::Streamed if options.scheme == Scheme::Masked => {
                return Err(Error::usage("gmw-masked cannot stream its setup: every task would take a round trip"));
            }
            Timing::Auto if options.scheme == Scheme::Masked => true,
            Timing::Auto => kept <= KEEP,
            Timing::Ahead => true,
            Timing::Streamed => false,
        };
        let Options { scheme, garbling, extension, .. } = *options;
        Ok((Terms { scheme, garbler, garbling, ahead, window, extension }, schedule))
    }
}

/// The party with more secret input bits; Bob if they are equal, so that Alice learns outputs without a message.
fn heavier_owner(binding: &Binding) -> Party {
    let bits = |party| -> u64 {
        let own = binding.inputs().iter().filter(|port| port.who == Owner::Party(party));
        own.map(|port| port.lanes * u64::from(port.ty.width)).sum()
    };
    if bits(Party::Alice) > bits(Party::Bob) { Party::Alice } else { Party::Bob }
}

/// Names and values that both parties must have equal.
pub(crate) type Fields = Vec<(&'static str, String)>;

/// Terms that are read again: who garbles and in which way, and how many lanes are computed at once.
pub(crate) const GARBLER: &str = "who garbles";
pub(crate) const GARBLING: &str = "how ANDs are garbled";
pub(crate) const TILE: &str = "the lanes of a tile";

/// What a party calls for. It comes first, so that parties that call for different things hear just that.
pub(crate) const CALL: &str = "what is called for";

/// Where in a session a program comes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moment {
    /// Made of both hellos: if they changed on the way, this differs.
    pub session: [u8; 32],
    /// Whether setup alone is called for.
    pub setup_alone: bool,
    /// Programs that ran before.
    pub ordinal: u64,
    /// Correlations that were drawn before, and those in stock.
    pub drawn: Demand,
    pub stock: Demand,
}

/// Everything that must be equal before a program runs.
///
/// # Errors
/// [`Error::Usage`] if the program cannot be described.
pub(crate) fn fields(
    binding: &Binding,
    terms: &Terms,
    schedule: &Schedule,
    moment: &Moment,
    public: &blake3::Hash,
) -> Result<Fields> {
    let mut fields =
        vec![(CALL, if moment.setup_alone { "setup" } else { "a run" }.into()), ("the session", hex(&moment.session))];
    fields.extend(program(binding, terms, schedule)?);
    fields.insert(7, ("when setup happens", if terms.ahead { "ahead" } else { "streamed" }.into()));
    fields.extend([
        ("what makes correlations", terms.extension.to_string()),
        ("the public inputs", public.to_hex().to_string()),
        ("how many programs ran before", moment.ordinal.to_string()),
        ("the correlations used before", counts(&moment.drawn)),
        ("the correlations in stock", counts(&moment.stock)),
    ]);
    bounded(fields)
}

/// What is computed, and how it is cut into pieces.
fn program(binding: &Binding, terms: &Terms, schedule: &Schedule) -> Result<Fields> {
    let program = binding.program();
    let digest = binding.digest().map_err(|error| Error::usage(error.to_string()))?;
    let sizes = program.sizes().iter().zip(binding.sizes());
    let sizes: Vec<String> = sizes.map(|(size, value)| format!("{}={value}", size.name)).collect();
    Ok(vec![
        ("the program", format!("'{}' {}", program.name(), hex(&digest))),
        ("its sizes", sizes.join(", ")),
        ("the protocol", terms.scheme.to_string()),
        (GARBLER, if terms.scheme == Scheme::Yao { terms.garbler.to_string() } else { "nobody".into() }),
        (GARBLING, if terms.scheme == Scheme::Yao { terms.garbling.to_string() } else { "not at all".into() }),
        ("the order of gates", order(schedule.order).into()),
        (TILE, schedule.tile.to_string()),
        ("the window", format!("{} + {}", terms.window.cells, terms.window.maps)),
    ])
}

fn bounded(fields: Fields) -> Result<Fields> {
    match encode(&fields).len() {
        0..=MOST_BYTES => Ok(fields),
        bytes => Err(Error::usage(format!("the terms of the program have {bytes} bytes, more than {MOST_BYTES}"))),
    }
}

/// What a run on a shelf was prepared for. The schedule is among it: another version of this crate may make another one
/// of the same program, for which the tables are worthless.
///
/// # Errors
/// As [`fields`].
pub(crate) fn shelved(binding: &Binding, terms: &Terms, schedule: &Schedule, public: &blake3::Hash) -> Result<Fields> {
    let mut fields = program(binding, terms, schedule)?;
    fields.push(("the public inputs", public.to_hex().to_string()));
    fields.push(("the gates and their order", hex(&schedule.digest())));
    // Room for what is agreed on beside it.
    bounded([fields.clone(), vec![(CALL, " ".repeat(1000))]].concat()).map(|_| fields)
}

/// What must be equal before runs are prepared to a shelf, or one of a shelf is used.
pub(crate) fn shelf(call: &str, moment: &Moment, identity: Option<[u8; 32]>, shelved: &Fields) -> Fields {
    let identity = identity.map_or("none yet".into(), |identity| hex(&identity));
    let mut fields = vec![(CALL, call.into()), ("the session", hex(&moment.session)), ("the prepared runs", identity)];
    fields.extend(shelved.iter().cloned());
    fields
}

/// What is called for of a shelf.
pub(crate) const PREPARE_TO: &str = "runs prepared for later";
pub(crate) const ONLINE_FROM: &str = "a run that was prepared before";

/// What must be equal besides before runs are prepared: the correlations are made now.
pub(crate) fn prepare_to(mut fields: Fields, moment: &Moment, extension: Extension, times: u64) -> Fields {
    fields.extend([
        ("how many times", times.to_string()),
        ("what makes correlations", extension.to_string()),
        ("how many programs ran before", moment.ordinal.to_string()),
        ("the correlations used before", counts(&moment.drawn)),
        ("the correlations in stock", counts(&moment.stock)),
    ]);
    fields
}

/// What must be equal before a run of a shelf is used up.
pub(crate) fn which_run(moment: &Moment, number: u64, batch: &[u8; 32]) -> Fields {
    vec![
        (CALL, ONLINE_FROM.into()),
        ("the session", hex(&moment.session)),
        ("which prepared run comes next", format!("number {number}, made in {}", hex(batch))),
    ]
}

fn order(order: Order) -> &'static str {
    match order {
        Order::DepthFirst => "depth first",
        Order::Layered => "layered",
    }
}

fn counts(demand: &Demand) -> String {
    format!("{} by alice, {} by bob, {} triples", demand.cots_by_alice, demand.cots_by_bob, demand.triples)
}

/// What must be equal before a prepared program goes online.
pub(crate) fn online(moment: &Moment) -> Fields {
    vec![
        (CALL, "a prepared program".into()),
        ("the session", hex(&moment.session)),
        ("which prepared program runs", moment.ordinal.to_string()),
        ("the correlations used before", counts(&moment.drawn)),
        ("the correlations in stock", counts(&moment.stock)),
    ]
}

/// What [`Session::correlate`](crate::Session::correlate) calls for.
pub(crate) const CORRELATIONS: &str = "correlations";

/// What must be equal before correlations are made for no program.
pub(crate) fn correlations(moment: &Moment, call: &str, extension: Extension, demand: &Demand) -> Fields {
    vec![
        (CALL, call.into()),
        ("the session", hex(&moment.session)),
        ("how many", counts(demand)),
        ("what makes correlations", extension.to_string()),
        ("the correlations in stock", counts(&moment.stock)),
    ]
}

/// What must be equal before random OTs are made.
pub(crate) fn random_ots(moment: &Moment, extension: Extension, what: &str, demand: &Demand) -> Fields {
    vec![
        (CALL, what.into()),
        ("the session", hex(&moment.session)),
        ("how many", format!("{} by alice, {} by bob", demand.cots_by_alice, demand.cots_by_bob)),
        ("what makes correlations", extension.to_string()),
        ("how many programs ran before", moment.ordinal.to_string()),
    ]
}

/// What must be equal before a session has a pool.
pub(crate) fn pool(call: &str, session: &[u8; 32], extension: Option<Extension>) -> Fields {
    let extension = extension.map_or("what the pool says".into(), |extension| extension.to_string());
    vec![(CALL, call.into()), ("the session", hex(session)), ("what makes correlations", extension)]
}

/// What must be equal before correlations are shown.
pub(crate) fn opening(moment: &Moment) -> Fields {
    vec![
        (CALL, "correlations to be shown".into()),
        ("the session", hex(&moment.session)),
        ("the correlations in stock", counts(&moment.stock)),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The most bytes of the peer's terms.
pub(crate) const MOST_BYTES: usize = 1 << 16;

/// Terms as they travel: a line for each.
pub(crate) fn encode(fields: &Fields) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| format!("{name}\t{}\n", value.escape_default()).into_bytes()).collect()
}

/// Compares the peer's terms with ours; the first difference is the error.
pub fn compare(ours: &[(&'static str, String)], theirs: &[u8]) -> Result<()> {
    let theirs = std::str::from_utf8(theirs).map_err(|_| Error::peer("its terms are not text"))?;
    let mut lines = theirs.lines();
    for (name, value) in ours {
        let ours = value.escape_default().to_string();
        let line = lines.next().ok_or_else(|| Error::peer("its terms end too early"))?;
        let (their_name, theirs) = line.split_once('\t').ok_or_else(|| Error::peer("its terms have no values"))?;
        if their_name != *name {
            return Err(Error::peer("its terms are in another order"));
        }
        if theirs != ours {
            return Err(Error::Incompatible { what: name, ours, theirs: printable(theirs) });
        }
    }
    match lines.next() {
        Some(_) => Err(Error::peer("it has more terms than we")),
        None => Ok(()),
    }
}

/// What the peer said, fit for a terminal.
fn printable(text: &str) -> String {
    text.chars().take(300).map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}
