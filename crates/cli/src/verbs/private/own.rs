//! Data of Alice's own: inputs of her function that are constants of it, so that they are as secret as the function.
//!
//! The function is made of gates before the constants are put in, and no gate is folded: so what Bob hears does not depend on
//! them.

use crate::args::Source;
use crate::failure::Failure;
use crate::io::console::count;
use crate::io::input;
use duologue::circuit::{Circuit, Program};
use duologue::{Error, Party};
use zeroize::Zeroizing;

/// What each input bit of a circuit is: one of hers, or Bob's.
pub type Bits = Zeroizing<Vec<Option<bool>>>;

/// The input bits of a circuit, with her data.
pub fn bits(circuit: &Circuit, sources: &[Source]) -> Result<Bits, Failure> {
    let mut program = Program::new(circuit.name());
    for port in circuit.inputs() {
        program.input(&port.name, Party::Alice, port.ty, 1);
    }
    of(circuit, &input::read(&program, Party::Alice, sources)?)
}

/// The same of data that were read.
pub fn of(circuit: &Circuit, given: &[input::Given]) -> Result<Bits, Failure> {
    if let Some(input::Given { name, value }) = given.iter().find(|given| given.value.lanes() != 1) {
        let lanes = count(value.lanes() as u64, "lane");
        return Err(Failure::input(format!("the input '{name}' has {lanes}: alice's data are the same in all runs")));
    }
    if given.len() == circuit.inputs().len() {
        return Err(Failure::input("every input of the function is alice's: nothing is left for bob's x"));
    }
    let mut bits = Zeroizing::new(Vec::with_capacity(circuit.input_width()));
    for port in circuit.inputs() {
        match given.iter().find(|given| given.name == port.name) {
            Some(input::Given { value, .. }) => bits.extend(value.lane(0).into_iter().map(Some)),
            None => bits.extend((0..port.ty.width).map(|_| None)),
        }
    }
    if bits.len() == circuit.input_width() { Ok(bits) } else { Err(Error::usage("input bits of no port").into()) }
}

#[cfg(test)]
mod tests {
    use super::super::Given;
    use super::*;
    use crate::args::Gates;
    use duologue::circuit::blocks::{Goal, registry};
    use pfe::{Padding, Wired};

    fn pair(name: &str, value: String) -> Source {
        Source { name: Some(name.into()), value }
    }

    /// The sizes that are announced of a circuit of which this input is hers.
    fn sizes(given: &Given) -> [u64; 4] {
        let dh = *Wired::new(given.gates(None).unwrap(), Padding::default()).unwrap().sizes();
        let (nands, nodes) = (given.netlist(None).unwrap(), given.nodes(None).unwrap());
        [dh.gates, dh.additions, nands.sizes().gates, nodes.size().gates.into()]
    }

    /// By every method the result is that of the circuit, and what is announced does not depend on her data.
    #[test]
    fn data_become_constants_and_no_size_depends_on_them() {
        for block in ["add", "multiply", "less", "divide"] {
            let circuit = registry::find(block).unwrap().circuit(&[4], Goal::Size).unwrap();
            for port in 0..2 {
                let of = |hers: u8| {
                    let own = bits(&circuit, &[pair(&circuit.inputs()[port].name, hers.to_string())]).unwrap();
                    Given { circuit: circuit.clone(), own: Some(own) }
                };
                let announced = sizes(&of(0));
                for hers in 0..16 {
                    let given = of(hers);
                    assert_eq!((sizes(&given), given.inputs()), (announced, 4), "{block}, {hers}");
                    (0..16).for_each(|x| evaluates(&given, x, if port == 0 { [hers, x] } else { [x, hers] }));
                }
            }
        }
    }

    fn evaluates(given: &Given, x: u8, both: [u8; 2]) {
        let bits = |number: u8| (0..4).map(move |bit| number >> bit & 1 == 1);
        let expected = given.circuit.evaluate(&both.into_iter().flat_map(bits).collect::<Vec<_>>());
        let x: Vec<bool> = bits(x).collect();
        assert_eq!(given.gates(None).unwrap().evaluate(&x), expected);
        assert_eq!(given.gates(Some(Gates::Nands)).unwrap().evaluate(&x), expected);
        assert_eq!(given.netlist(None).unwrap().evaluate(&x), expected);
        let words: Vec<u64> = x.iter().map(|&bit| bit.into()).collect();
        let result = given.nodes(None).unwrap().evaluate(&words);
        assert_eq!(result.iter().map(|word| word & 1 == 1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_no_data_of_hers_is_named() {
        let circuit = registry::find("add").unwrap().circuit(&[8], Goal::Size).unwrap();
        let refused = |sources: &[Source]| bits(&circuit, sources).unwrap_err().message;
        let names: Vec<&str> = circuit.inputs().iter().map(|port| port.name.as_str()).collect();
        assert!(refused(&[pair("c", "1".into())]).contains("no input 'c'"));
        assert!(refused(&[pair(names[0], "1,2".into())]).contains("the same in all runs"));
        assert!(refused(&[pair(names[0], "256".into())]).contains("lane 0"));
        assert!(refused(&[pair(names[0], "1".into()), pair(names[1], "2".into())]).contains("nothing is left"));
    }
}
