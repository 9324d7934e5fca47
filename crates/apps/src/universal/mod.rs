//! Private function evaluation by universal circuits: Alice holds a function, Bob its input, and Bob alone learns the result.
//!
//! The function becomes gates of two operands whose results are read twice at most; the universal circuit for their number
//! (`circuit::universal`, after Liu et al., CRYPTO 2021) is garbled by Alice, who knows its control bits. So a switch is one
//! generator half-gate of 16 bytes, where a garbler who does not know them sends 32, and the label of each
//! bit; a gate with a hidden table is three half-gates, 48 bytes.
//!
//! **Security**: semi-honest parties, with the hash of `kernels::ot_hash` circular correlation robust and random OTs.
//! Bob learns the numbers of inputs, gates (copies and padding included) and outputs, and the result. Which ciphertexts
//! come when is a function of these numbers; the control bits are hidden in them as a garbler's operands are in half-gates.
//! Their hashes begin with the call's domain and a salt that Alice draws for the run.
//! Alice learns nothing: she sees Bob's input under the choices of his OTs. An Alice who does not follow the protocol learns at
//! most whether Bob stops. Every run is a query to the function: how many she allows is hers to decide. How long it
//! takes her to find the control bits, before the first message, depends on the function.
//!
//! **Cost** for N nodes and G of them gates or outputs: 16 bytes a switch, of which there are fewer than 3·N·log₂N, and 48·G; 16
//! bytes, a bit and a random OT an input; a bit an output. Three messages: Bob's choices, then all of
//! Alice's, which go one way.

mod garbling;
mod runs;
mod stages;

use circuit::universal::{Node, Nodes, Size};
use duologue::call::{Call, CallLengths, CallProtocol, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder, Recipient};
use duologue::circuit::{self, BitMatrix, Error, Kind, Party, Port, Program, Type, bits};
use duologue::session::CallArg;
pub use runs::{Observer, ask, serve};
use stages::{Alice, Bob, Setup};
use std::sync::Arc;

/// Bits of a gate of a function: two operands of 32 bits and a table, in a byte of its own.
pub const GATE_BITS: u32 = 72;

/// The most inputs or outputs of a function.
const MOST_PORTS: usize = 1 << 12;

/// Evaluates a function that Alice holds on inputs that Bob holds; Bob alone has the results.
///
/// The arguments are the function, a lane of [`GATE_BITS`] bits for each gate and output ([`encode_function`]), and one lane
/// of each input. The parameters are the types of the outputs ([`parameters`]). In plain, what is no function gives zeros.
#[derive(Clone, Copy, Debug)]
pub struct Universal;

/// Evaluates Alice's `function`, of so many gates and with these inputs and outputs, on Bob's inputs; Bob learns the outputs.
///
/// # Errors
/// [`Error::Usage`] if there is no such function.
pub fn universal(inputs: &[Port], outputs: &[Port], gates: u32) -> circuit::Result<Program> {
    let width = |ports: &[Port]| ports.iter().map(|port| port.ty.width).fold(0, u32::saturating_add);
    let size = Size::new(width(inputs), gates, width(outputs))?;
    let mut p = Program::new("universal");
    let mut args = vec![p.input("function", Party::Alice, bits(GATE_BITS), size.tables() as u64)];
    args.extend(inputs.iter().map(|port| p.input(&port.name, Party::Bob, port.ty, 1)));
    let call: Arc<dyn Functionality> = Arc::new(Universal);
    let types: Vec<Type> = outputs.iter().map(|port| port.ty).collect();
    for (port, value) in outputs.iter().zip(p.call(&call, &parameters(&types), &args)) {
        p.output(&port.name, Recipient::Party(Party::Bob), value);
    }
    p.check().map(|()| p)
}

/// The arguments of a call for a function that Alice holds, or whose size Bob knows, and for Bob's input bits.
pub fn arguments(size: Size, function: Option<&Nodes>, input: Option<&[bool]>) -> Vec<CallArg> {
    let input = input.map(|input| BitMatrix::from_lanes(input.len(), &[input.to_vec()]));
    vec![
        CallArg::new(Holder::Party(Party::Alice), GATE_BITS, size.tables() as u64, function.map(encode_function)),
        CallArg::new(Holder::Party(Party::Bob), size.inputs, 1, input),
    ]
}

/// A function as a lane of bits for each gate.
pub fn encode_function(function: &Nodes) -> BitMatrix {
    let mut bits = BitMatrix::zeros(GATE_BITS as usize, function.nodes().len());
    for (lane, node) in function.nodes().iter().enumerate() {
        let gate = gate_bytes(node);
        for row in (0..GATE_BITS as usize).filter(|row| gate[row / 8] >> (row % 8) & 1 == 1) {
            bits.set(row, lane, true);
        }
    }
    bits
}

/// A gate as the bytes of a lane.
pub fn gate_bytes(node: &Node) -> [u8; 9] {
    let [[a, b, c, d], [e, f, g, h]] = node.operands.map(u32::to_le_bytes);
    [a, b, c, d, e, f, g, h, node.table]
}

/// The function of these lanes.
///
/// # Errors
/// [`Error::Invalid`] that says which gate is none.
pub fn decode_function(size: Size, bits: &BitMatrix) -> circuit::Result<Nodes> {
    let mut gates = Zeroizing::new(vec![0u128; bits.lanes()]);
    for row in 0..bits.rows() {
        let words = bits.row(row);
        gates.iter_mut().enumerate().for_each(|(i, gate)| *gate |= u128::from(words[i / 64] >> (i % 64) & 1) << row);
    }
    let node = |&gate: &u128| Node { operands: [gate as u32, (gate >> 32) as u32], table: (gate >> 64) as u8 };
    Nodes::new(size, gates.iter().map(node).collect())
}

/// The types of outputs as parameters: for each a byte for its kind, its width, and the bits of a fraction or an exponent, as
/// numbers of four bytes, little-endian.
pub fn parameters(outputs: &[Type]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ty in outputs {
        let (kind, part) = match ty.kind {
            Kind::Bits => (0, 0),
            Kind::UInt => (1, 0),
            Kind::Int => (2, 0),
            Kind::Fixed { fraction } => (3, fraction),
            Kind::Float { exponent } => (4, exponent),
        };
        bytes.push(kind);
        bytes.extend(ty.width.to_le_bytes().into_iter().chain(part.to_le_bytes()));
    }
    bytes
}

/// The types of outputs of these parameters. Whether there are such types is checked by whoever makes values of them.
fn outputs(parameters: &[u8]) -> circuit::Result<Vec<Type>> {
    let (types, rest) = parameters.as_chunks::<9>();
    if !rest.is_empty() || types.len() > MOST_PORTS {
        let why =
            format!("nine bytes for each of at most {MOST_PORTS} outputs as parameters, not {}", parameters.len());
        return Err(Error::usage(why));
    }
    types
        .iter()
        .map(|&[kind, w0, w1, w2, w3, p0, p1, p2, p3]| {
            let part = u32::from_le_bytes([p0, p1, p2, p3]);
            let kind = match (kind, part) {
                (0, 0) => Kind::Bits,
                (1, 0) => Kind::UInt,
                (2, 0) => Kind::Int,
                (3, fraction) => Kind::Fixed { fraction },
                (4, exponent) => Kind::Float { exponent },
                _ => {
                    return Err(Error::usage(format!(
                        "a type of outputs as parameters, not of kind {kind} with {part}"
                    )));
                }
            };
            Ok(Type { kind, width: u32::from_le_bytes([w0, w1, w2, w3]) })
        })
        .collect()
}

/// The size of a function with inputs of these widths, whose gates and outputs have so many lanes.
fn size(parameters: &[u8], inputs: impl Iterator<Item = u32>, lanes: u64) -> circuit::Result<Size> {
    let outputs = outputs(parameters)?.iter().map(|ty| ty.width).fold(0, u32::saturating_add);
    let gates = lanes.checked_sub(outputs.into()).and_then(|gates| u32::try_from(gates).ok());
    let gates =
        gates.ok_or_else(|| Error::usage(format!("a lane for each gate and {outputs} output bits, not {lanes}")))?;
    Size::new(inputs.fold(0, u32::saturating_add), gates, outputs)
}

/// The size of a call that was checked.
fn size_of(call: &Call) -> duologue::Result<Size> {
    let [function, inputs @ ..] = &call.args[..] else {
        return Err(duologue::Error::usage("a function, not no argument"));
    };
    Ok(size(&call.parameters, inputs.iter().map(|input| input.ty.width), function.lanes)?)
}

impl Functionality for Universal {
    fn name(&self) -> &str {
        "duologue:universal"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        let (types, [function, inputs @ ..]) = (outputs(parameters)?, args) else {
            return Err(Error::usage("a function and its inputs, not no argument"));
        };
        let holds = |party: Party, port: &CallPort| port.holder == Holder::Party(party);
        match function.ty.width {
            _ if !holds(Party::Alice, function) => Err(Error::usage("a function that alice holds alone")),
            _ if !inputs.iter().all(|input| holds(Party::Bob, input)) => {
                Err(Error::usage("inputs that bob holds alone"))
            }
            _ if inputs.is_empty() => Err(Error::usage("a function and at least one input, not the function alone")),
            _ if inputs.len() > MOST_PORTS => {
                Err(Error::usage(format!("at most {MOST_PORTS} inputs, not {}", inputs.len())))
            }
            GATE_BITS => Ok(types.into_iter().map(|ty| CallPort { ty, holder: Holder::Party(Party::Bob) }).collect()),
            ours => Err(Error::usage(format!("gates of {GATE_BITS} bits, not {ours}"))),
        }
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        let (types, [gates, inputs @ ..]) = (outputs(parameters)?, args) else { return Ok(Vec::new()) };
        match inputs.iter().find(|&&lanes| lanes != 1) {
            Some(lanes) => Err(Error::usage(format!("one lane of each input, not {lanes}"))),
            // Whether there are too many nodes with all inputs is checked once more by the lengths.
            None => size(parameters, [inputs.len().max(1) as u32].into_iter(), *gates).map(|_| vec![1; types.len()]),
        }
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let (Ok(types), [function, inputs @ ..]) = (outputs(parameters), args) else { return Vec::new() };
        let words: Vec<u64> = inputs.iter().flat_map(|input| input.lane(0)).map(u64::from).collect();
        let made = size(parameters, [words.len() as u32].into_iter(), function.lanes() as u64);
        let results = match made.and_then(|size| decode_function(size, function)) {
            Ok(function) => function.evaluate(&words),
            Err(_) => vec![0; types.iter().map(|ty| ty.width as usize).sum()],
        };
        split(&types, results.into_iter().map(|word| word & 1 == 1).collect())
    }
}

/// Output bits as one lane of each output.
fn split(types: &[Type], mut bits: Vec<bool>) -> Vec<BitMatrix> {
    let lane = |ty: &Type| {
        let rest = bits.split_off(ty.width as usize);
        BitMatrix::from_lanes(ty.width as usize, &[std::mem::replace(&mut bits, rest)])
    };
    types.iter().map(lane).collect()
}

impl CallProtocol for Universal {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(stages::lengths(size_of(call)?, party))
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        Ok(Box::new(Setup::new(size_of(call)?, context)))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let (size, types) = (size_of(call)?, outputs(&call.parameters)?);
        match (party, &args[..]) {
            (Party::Alice, [Some(function), ..]) => Ok(Box::new(Alice::new(size, setup, function, types.len())?)),
            (Party::Alice, _) => Err(duologue::Error::usage("alice is without her function")),
            (Party::Bob, _) => Ok(Box::new(Bob::new(size, setup, &args, types))),
        }
    }
}
