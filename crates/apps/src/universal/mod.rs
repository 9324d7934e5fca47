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
//! Alice learns nothing: she sees Bob's input under the choices of his OTs. An Alice who does not follow the protocol learns at
//! most whether Bob stops. Every run is a query to the function: how many she allows is hers to decide. How long it
//! takes her to find the control bits, before the first message, depends on the function.
//!
//! **Cost** for N nodes and G of them gates or outputs: 16 bytes a switch, of which there are fewer than 3·N·log₂N, and 48·G; 16
//! bytes, a bit and a random OT an input; a bit an output. Three messages: Bob's choices, then all of
//! Alice's, which go one way.

mod garbling;
mod stages;

use circuit::universal::{Node, Nodes, Size};
use duologue::call::{Call, CallLengths, CallProtocol, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{self, BitMatrix, Error, Party, bits};
use duologue::session::CallArg;
use stages::{Alice, Bob, Setup};
use std::sync::Arc;

/// Bits of a gate of a function: two operands of 32 bits and a table of four.
pub const GATE_BITS: u32 = 68;

/// Evaluates a function that Alice holds on an input that Bob holds; Bob alone has the result.
///
/// The arguments are the function, a lane of [`GATE_BITS`] bits for each gate and output ([`encode_function`]), and one lane of
/// input bits. The parameters are the number of output bits, as four bytes, little-endian. In plain, what is no function
/// gives zeros.
#[derive(Clone, Copy, Debug)]
pub struct Universal;

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
        let gate = number(node);
        for row in (0..GATE_BITS as usize).filter(|row| gate >> row & 1 == 1) {
            bits.set(row, lane, true);
        }
    }
    bits
}

/// A gate as a number of [`GATE_BITS`] bits.
fn number(node: &Node) -> u128 {
    let [x, y] = node.operands.map(u128::from);
    x | y << 32 | u128::from(node.table) << 64
}

/// The function of these lanes.
///
/// # Errors
/// [`Error::Invalid`] that says which gate is none.
pub(crate) fn decode_function(size: Size, bits: &BitMatrix) -> circuit::Result<Nodes> {
    let mut gates = vec![0u128; bits.lanes()];
    for row in 0..bits.rows() {
        let words = bits.row(row);
        gates.iter_mut().enumerate().for_each(|(i, gate)| *gate |= u128::from(words[i / 64] >> (i % 64) & 1) << row);
    }
    let node = |&gate: &u128| Node { operands: [gate as u32, (gate >> 32) as u32], table: (gate >> 64) as u8 };
    Nodes::new(size, gates.iter().map(node).collect())
}

/// The size of the function, whose gates and outputs have so many lanes, from parameters.
fn size(parameters: &[u8], inputs: u32, lanes: u64) -> circuit::Result<Size> {
    let outputs = outputs(parameters)?;
    let gates = lanes.checked_sub(outputs.into()).and_then(|gates| u32::try_from(gates).ok());
    let refuse = || Error::usage(format!("a function of {outputs} outputs at least and 2^32 gates at most, not {lanes}"));
    Size::new(inputs, gates.ok_or_else(refuse)?, outputs)
}

fn outputs(parameters: &[u8]) -> circuit::Result<u32> {
    let bytes = parameters.try_into().map_err(|_| {
        Error::usage(format!("a number of output bits in four bytes as parameters, not {} bytes", parameters.len()))
    })?;
    Ok(u32::from_le_bytes(bytes))
}

/// The size of a call that was checked.
fn size_of(call: &Call) -> duologue::Result<Size> {
    let [function, input] = &call.args[..] else {
        return Err(duologue::Error::usage(format!("two arguments, not {}", call.args.len())));
    };
    Ok(size(&call.parameters, input.ty.width, function.lanes)?)
}

impl Functionality for Universal {
    fn name(&self) -> &str {
        "duologue:universal"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        let [function, input] = args else {
            return Err(Error::usage(format!("a function and its input, not {} arguments", args.len())));
        };
        let (ours, outputs) = (function.ty.width, size(parameters, input.ty.width, u64::from(outputs(parameters)?))?.outputs);
        match () {
            () if (function.holder, input.holder) != (Holder::Party(Party::Alice), Holder::Party(Party::Bob)) => {
                Err(Error::usage("a function that alice holds alone, and an input that bob holds alone"))
            }
            () if ours != GATE_BITS => Err(Error::usage(format!("gates of {GATE_BITS} bits, not {ours}"))),
            () => Ok(vec![CallPort { ty: bits(outputs), holder: Holder::Party(Party::Bob) }]),
        }
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        match args {
            [gates, 1] => size(parameters, 1, *gates).map(|_| vec![1]),
            _ => Err(Error::usage(format!("one lane of input, not {args:?} lanes of gates and input"))),
        }
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let [function, input] = args else { return Vec::new() };
        let outputs = outputs(parameters).unwrap_or(0);
        let words: Vec<u64> = input.lane(0).into_iter().map(u64::from).collect();
        let made = size(parameters, words.len() as u32, function.lanes() as u64);
        let results = match made.and_then(|size| decode_function(size, function)) {
            Ok(function) => function.evaluate(&words),
            Err(_) => vec![0; outputs as usize],
        };
        let lane = results.into_iter().map(|word| word & 1 == 1).collect();
        vec![BitMatrix::from_lanes(outputs as usize, &[lane])]
    }
}

impl CallProtocol for Universal {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(stages::lengths(size_of(call)?, party))
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        let stored = Zeroizing::new(Vec::with_capacity(stages::lengths(size_of(call)?, context.party).stored));
        Ok(Box::new(Setup { party: context.party, stored }))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let size = size_of(call)?;
        match (party, &args[..]) {
            (Party::Alice, [Some(function), _]) => Ok(Box::new(Alice::new(size, setup, function)?)),
            (Party::Bob, [_, Some(input)]) => Ok(Box::new(Bob::new(size, setup, input))),
            _ => Err(duologue::Error::usage(format!("{party} is without an argument"))),
        }
    }
}
