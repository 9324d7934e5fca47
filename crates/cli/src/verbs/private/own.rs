//! Data of Alice's own: inputs of her function of which she makes constants, so that they are as secret as the function.
//!
//! What Bob hears of the function are the sizes that it has without them, whatever they are.

use crate::args::Pair;
use crate::failure::Failure;
use crate::io::console::count;
use crate::io::input::{self, Given};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Gate, Program};
use duologue::{Error, Party};

/// The circuit with this data in it; its inputs are those that are left.
pub fn with_data(circuit: &Circuit, sources: &[Pair<String>]) -> Result<Circuit, Failure> {
    let mut program = Program::new(circuit.name());
    for port in circuit.inputs() {
        program.input(&port.name, Party::Alice, port.ty, 1);
    }
    let given = input::read(&program, Party::Alice, sources)?;
    if let Some(Given { name, value }) = given.iter().find(|given| given.value.lanes() != 1) {
        let lanes = count(value.lanes() as u64, "lane");
        return Err(Failure::input(format!("the input '{name}' has {lanes}: alice's data are the same in all runs")));
    }
    if given.len() == circuit.inputs().len() {
        return Err(Failure::input("every input of the function is alice's: nothing is left for bob's x"));
    }
    Ok(rebuilt(circuit, &given)?)
}

fn rebuilt(circuit: &Circuit, given: &[Given]) -> Result<Circuit, Error> {
    let mut builder = Builder::new(circuit.name());
    let mut inputs = Vec::with_capacity(circuit.input_width());
    for port in circuit.inputs() {
        match given.iter().find(|given| given.name == port.name) {
            Some(Given { value, .. }) => inputs.extend(value.lane(0).into_iter().map(Bit::constant)),
            None => inputs.extend(builder.input(&port.name, port.ty)),
        }
    }
    let mut bits = vec![Bit::FALSE; circuit.gates().len()];
    circuit.input_nodes().iter().zip(inputs).for_each(|(&node, bit)| bits[node as usize] = bit);
    for (node, gate) in circuit.gates().iter().enumerate() {
        let of = |bit: Bit| bits[bit.node() as usize].flip(bit.complemented());
        bits[node] = match *gate {
            Gate::False | Gate::Input => continue,
            Gate::Xor(a, b) => builder.xor(of(a), of(b)),
            Gate::And(a, b) => builder.and(of(a), of(b)),
        };
    }
    let outputs = circuit.output_bits().iter().map(|bit| bits[bit.node() as usize].flip(bit.complemented()));
    builder.output("y", &Bits(outputs.collect()));
    Ok(builder.try_finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::blocks::{Goal, registry};
    use duologue::circuit::private::{nands, thresholds};
    use duologue::circuit::universal::Nodes;
    use proptest::prelude::*;

    fn pair(name: &str, value: String) -> Pair<String> {
        Pair { name: name.into(), value }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The result is that of the circuit, and no form of it is larger than the circuit's.
        #[test]
        fn data_become_constants(hers in any::<u8>(), x in any::<u8>(), which in 0usize..4) {
            let block = ["add", "multiply", "less", "divide"][which];
            let circuit = registry::find(block).unwrap().circuit(&[8], Goal::Size).unwrap();
            let [a, b] = [&circuit.inputs()[0], &circuit.inputs()[1]];
            let bits = |number: u8| (0..8).map(move |bit| number >> bit & 1 == 1);
            for (port, all) in [(a, [hers, x]), (b, [x, hers])] {
                let fixed = with_data(&circuit, &[pair(&port.name, hers.to_string())]).unwrap();
                let expected = circuit.evaluate(&all.into_iter().flat_map(bits).collect::<Vec<_>>());
                prop_assert_eq!(fixed.evaluate(&bits(x).collect::<Vec<_>>()), expected);
                prop_assert!(thresholds(&fixed).unwrap().gates() <= thresholds(&circuit).unwrap().gates());
                prop_assert!(nands(&fixed).unwrap().gates() <= nands(&circuit).unwrap().gates());
                let [small, large] = [&fixed, &circuit].map(|circuit| Nodes::of_circuit(circuit).unwrap().size().gates);
                prop_assert!(small <= large, "{small} of {large}");
            }
        }
    }

    #[test]
    fn what_is_no_data_of_hers_is_named() {
        let circuit = registry::find("add").unwrap().circuit(&[8], Goal::Size).unwrap();
        let refused = |sources: &[Pair<String>]| with_data(&circuit, sources).unwrap_err().message;
        let names: Vec<&str> = circuit.inputs().iter().map(|port| port.name.as_str()).collect();
        assert!(refused(&[pair("c", "1".into())]).contains("no input 'c'"));
        assert!(refused(&[pair(names[0], "1,2".into())]).contains("the same in all runs"));
        assert!(refused(&[pair(names[0], "256".into())]).contains("lane 0"));
        assert!(refused(&[pair(names[0], "1".into()), pair(names[1], "2".into())]).contains("nothing is left"));
    }
}
