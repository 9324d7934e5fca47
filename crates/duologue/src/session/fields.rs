//! The fields that the parties compare before anything else: whatever decides what is sent, and by whom.
//!
//! Local settings (threads, verbosity) are none.

use crate::agreement::{
    CALL, Fields, GARBLER, GARBLING, MOST_BYTES, PART, PROGRAM, PROTOCOL, STEPS, STRANDS, TILE, encode, hex,
};
use crate::correlation::{Demand, MakerTerm};
use crate::cost::choice::Wish;
use crate::job::Part;
use crate::protocol::terms::Terms;
use crate::{Error, Result, Scheme};
use circuit::program::{Binding, Technique};
use circuit::{Order, Schedule};

/// Where in a session a program comes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moment {
    /// Made of both hellos: if they changed on the way, this differs.
    pub session: [u8; 32],
    /// The part of a job that the session computes, if it does.
    pub part: Option<Part>,
    /// Whether setup alone is called for.
    pub setup_alone: bool,
    /// Programs that ran before.
    pub ordinal: u64,
    /// Correlations that were drawn before, and those in stock.
    pub drawn: Demand,
    pub stock: Demand,
}

/// How all fields begin: the call, the part of a job if there is one, and the session.
fn begin(call: &str, moment: &Moment) -> Fields {
    let mut fields = vec![(CALL, call.into())];
    fields.extend(moment.part.map(|part| (PART.0, part.to_string())));
    fields.push(("the session", hex(&moment.session)));
    fields
}

/// The fields of a call and its further ones.
fn call(call: &str, moment: &Moment, further: impl IntoIterator<Item = (&'static str, String)>) -> Fields {
    let mut fields = begin(call, moment);
    fields.extend(further);
    fields
}

/// Everything that must be equal before a program runs.
///
/// # Errors
/// [`Error::Usage`] if the program cannot be described.
pub(crate) fn run(
    binding: &Binding,
    terms: &Terms,
    schedule: &Schedule,
    moment: &Moment,
    public: &blake3::Hash,
) -> Result<Fields> {
    let mut fields = begin(if moment.setup_alone { "setup" } else { "a run" }, moment);
    fields.extend(program(binding, terms)?);
    fields.push(("when setup happens", if terms.ahead { "ahead" } else { "streamed" }.into()));
    fields.extend(pieces(terms, schedule));
    fields.extend([
        ("what makes correlations", terms.maker().to_string()),
        ("the public inputs", public.to_hex().to_string()),
        ("how many programs ran before", moment.ordinal.to_string()),
        ("the correlations used before", counts(&moment.drawn)),
        ("the correlations in stock", counts(&moment.stock)),
    ]);
    bounded(fields)
}

/// With the outline of the program, if one is to be told and there is room.
///
/// # Errors
/// [`Error::Usage`] if the program cannot be described.
pub(crate) fn outlined(mut fields: Fields, binding: &Binding) -> Result<Fields> {
    if encode(&fields).len() < MOST_BYTES / 2 {
        fields.extend(binding.outline()?.map(|outline| (STEPS, outline.to_string())));
    }
    Ok(fields)
}

/// The bytes that an outline takes among the terms.
pub(crate) fn bytes_of_outline(binding: &Binding) -> usize {
    let outline = binding.length_of_outline().map(|length| (STEPS, "0".repeat(length)));
    encode(&outline.into_iter().collect()).len()
}

/// Names and values of the program and its protocol.
fn program(binding: &Binding, terms: &Terms) -> Result<Fields> {
    let garbles = terms.scheme.descriptor().has_garbler();
    let (program, sizes) = named(binding)?;
    Ok(vec![
        (PROGRAM, program),
        ("its sizes", sizes),
        (PROTOCOL, terms.scheme.to_string()),
        (GARBLER, if garbles { terms.garbler.to_string() } else { "nobody".into() }),
        (GARBLING, if garbles { terms.garbling.to_string() } else { "not at all".into() }),
    ])
}

/// The name of a program with its digest, and its sizes.
pub(crate) fn named(binding: &Binding) -> Result<(String, String)> {
    let program = binding.program();
    let sizes = program.sizes().iter().zip(binding.sizes());
    let sizes: Vec<String> = sizes.map(|(size, value)| format!("{}={value}", size.name)).collect();
    Ok((format!("'{}' {}", program.name(), hex(&binding.digest()?)), sizes.join(", ")))
}

/// Names and values of how a program is cut into pieces.
fn pieces(terms: &Terms, schedule: &Schedule) -> Fields {
    let mut fields = Vec::new();
    if terms.scheme == Scheme::Mixed {
        fields.push(("the ANDs a layer of steps that are shared", terms.share_from.to_string()));
    }
    fields.extend([
        ("the order of gates", order(schedule.order).into()),
        (TILE, tiles(schedule)),
        ("the window", format!("{} + {}", terms.window.cells, terms.window.maps)),
    ]);
    if terms.strands.to_string() != STRANDS.1 {
        fields.push((STRANDS.0, terms.strands.to_string()));
    }
    fields
}

/// The lanes of a tile; of a mixed program those of what is shared, and of what is garbled.
fn tiles(schedule: &Schedule) -> String {
    let of =
        |technique| schedule.programs().find(|part| part.technique == Some(technique)).map(|part| part.schedule.tile);
    let tiles: Vec<_> = [Technique::Sharing, Technique::Garbling].into_iter().filter_map(of).collect();
    match tiles.is_empty() {
        true => schedule.tile.to_string(),
        false => tiles.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}

pub(crate) fn bounded(fields: Fields) -> Result<Fields> {
    match encode(&fields).len() {
        0..=MOST_BYTES => Ok(fields),
        bytes => Err(Error::usage(format!("the terms of the program have {bytes} bytes, more than {MOST_BYTES}"))),
    }
}

/// Names and values of the program that a run was prepared for. The schedule is among it: another version of this crate may make another one
/// of the same program, for which the tables are worthless.
///
/// # Errors
/// [`Error::Usage`] if the program cannot be described.
pub(crate) fn stored_program(
    binding: &Binding,
    terms: &Terms,
    schedule: &Schedule,
    public: &blake3::Hash,
) -> Result<Fields> {
    let mut fields = program(binding, terms)?;
    fields.extend(pieces(terms, schedule));
    fields.push(("the public inputs", public.to_hex().to_string()));
    fields.push(("the gates and their order", hex(&schedule.digest())));
    // Room for what is agreed on beside it.
    bounded([fields.clone(), vec![(CALL, " ".repeat(1000))]].concat()).map(|_| fields)
}

/// The fields to compare before runs are prepared, or one that was prepared is used.
pub(crate) fn prepared_runs(name: &str, moment: &Moment, identity: Option<[u8; 32]>, stored: &Fields) -> Fields {
    let identity = identity.map_or("none yet".into(), |identity| hex(&identity));
    call(name, moment, [("the prepared runs", identity)].into_iter().chain(stored.iter().cloned()))
}

/// The two calls that concern prepared runs.
pub(crate) const PREPARE_TO: &str = "runs prepared for later";
pub(crate) const ONLINE_FROM: &str = "a run that was prepared before";

/// The further fields to compare before runs are prepared: the correlations are made now.
pub(crate) fn prepare_to(mut fields: Fields, moment: &Moment, term: &MakerTerm, times: u64) -> Fields {
    fields.extend([
        ("how many times", times.to_string()),
        ("what makes correlations", term.to_string()),
        ("how many programs ran before", moment.ordinal.to_string()),
        ("the correlations used before", counts(&moment.drawn)),
        ("the correlations in stock", counts(&moment.stock)),
    ]);
    fields
}

/// The fields to compare before a prepared run is used up.
pub(crate) fn which_run(moment: &Moment, number: u64, batch: &[u8; 32]) -> Fields {
    call(ONLINE_FROM, moment, [("which prepared run comes next", format!("number {number}, made in {}", hex(batch)))])
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

/// The fields to compare before a prepared program goes online.
pub(crate) fn online(moment: &Moment) -> Fields {
    let further = [
        ("which prepared program runs", moment.ordinal.to_string()),
        ("the correlations used before", counts(&moment.drawn)),
        ("the correlations in stock", counts(&moment.stock)),
    ];
    call("a prepared program", moment, further)
}

/// The call of [`Session::correlate`](crate::Session::correlate).
pub(crate) const CORRELATIONS: &str = "correlations";

/// The call of [`Session::choose_maker`](crate::Session::choose_maker).
pub(crate) const CHOICE: &str = "a choice of what makes correlations";

/// The fields to compare before correlations are made for no program, or their maker is chosen.
pub(crate) fn correlations(moment: &Moment, name: &str, term: &MakerTerm, demand: &Demand) -> Fields {
    let further = [
        ("how many", counts(demand)),
        ("what makes correlations", term.to_string()),
        ("the correlations in stock", counts(&moment.stock)),
    ];
    call(name, moment, further)
}

/// The fields to compare before the line is measured for a call of an application.
pub(crate) fn measuring(moment: &Moment, length: usize) -> Fields {
    call("a measurement of the line", moment, [("the bytes of the probe", length.to_string())])
}

/// What both parties say of a choice of the protocol.
pub(crate) struct Choice<'a> {
    /// The first candidate's program.
    pub binding: &'a Binding,
    /// The number of the rule.
    pub rule: u32,
    pub wish: Wish,
    pub line: String,
    /// How many candidates there are, and what they have of each setting, so that the one that differs is named.
    pub candidates: usize,
    pub protocols: String,
    pub garblers: String,
    pub garblings: String,
    /// All of their terms, as a digest.
    pub terms: blake3::Hash,
    pub maker: MakerTerm,
    pub pool: Demand,
}

/// The fields to compare before the protocol is chosen.
pub(crate) fn choice(moment: &Moment, choice: &Choice) -> Result<Fields> {
    let (program, sizes) = named(choice.binding)?;
    let further = [
        (PROGRAM, program),
        ("its sizes", sizes),
        ("the rule of the choice", choice.rule.to_string()),
        ("what the choice makes least", choice.wish.to_string()),
        ("the line of the choice", choice.line.clone()),
        ("the protocols of the choice", choice.protocols.clone()),
        ("who may garble", choice.garblers.clone()),
        ("how ANDs may be garbled", choice.garblings.clone()),
        ("how many candidates there are", choice.candidates.to_string()),
        ("the terms of the candidates", choice.terms.to_hex().to_string()),
        ("what makes correlations", choice.maker.to_string()),
        ("the correlations in the pool", counts(&choice.pool)),
        ("how many programs ran before", moment.ordinal.to_string()),
        ("the correlations in stock", counts(&moment.stock)),
    ];
    bounded(call("a choice of the protocol", moment, further))
}

/// The fields to compare before random OTs are made.
pub(crate) fn random_ots(moment: &Moment, term: &MakerTerm, what: &str, demand: &Demand) -> Fields {
    let further = [
        ("how many", format!("{} by alice, {} by bob", demand.cots_by_alice, demand.cots_by_bob)),
        ("what makes correlations", term.to_string()),
        ("how many programs ran before", moment.ordinal.to_string()),
    ];
    call(what, moment, further)
}

/// The fields to compare before a session has a pool.
pub(crate) fn pool(moment: &Moment) -> Fields {
    call("a pool", moment, [("what makes correlations", "what the pool says".into())])
}

/// The fields to compare before a pool is made; a maker that is chosen is chosen for its level.
pub(crate) fn new_pool(moment: &Moment, term: &MakerTerm, level: &Demand) -> Fields {
    let level = term.extension.is_none().then(|| ("how many", counts(level)));
    call("a new pool", moment, [("what makes correlations", term.to_string())].into_iter().chain(level))
}

/// The fields to compare before correlations are shown.
pub(crate) fn opening(moment: &Moment) -> Fields {
    call("correlations to be shown", moment, [("the correlations in stock", counts(&moment.stock))])
}
