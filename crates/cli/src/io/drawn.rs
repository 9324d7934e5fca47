//! Inputs that must be random and fresh, which the command draws itself where the user gives none.

use crate::failure::{Exit, Failure};
use crate::io::input::Given;
use duologue::Party;
use duologue::circuit::{Binding, BitMatrix, Type};
use kernels::generator::Generator;

/// An input that was drawn. It is this party's share of a result, and so goes where outputs go.
pub struct Drawn {
    pub name: String,
    pub ty: Type,
    pub value: BitMatrix,
}

/// Draws from the system's randomness those of the named inputs that are this party's and are not given, and gives them.
pub fn draw(binding: &Binding, party: Party, names: &[&str], given: &mut Vec<Given>) -> Result<Vec<Drawn>, Failure> {
    let mut drawn = Vec::new();
    let ours = binding.inputs().iter().filter(|port| port.who == party.into() && names.contains(&&*port.name));
    for port in ours {
        if given.iter().any(|known| known.name == port.name) {
            continue;
        }
        let value = random(port.ty.width as usize, port.lanes as usize)?;
        given.push(Given { name: port.name.clone(), value: value.clone() });
        drawn.push(Drawn { name: port.name.clone(), ty: port.ty, value });
    }
    Ok(drawn)
}

fn random(rows: usize, lanes: usize) -> Result<BitMatrix, Failure> {
    let failed = |why| Failure::new(Exit::Machine, format!("drawing random numbers: {why}"));
    let mut value = BitMatrix::zeros(rows, lanes);
    Generator::from_os().map_err(failed)?.words(value.words_mut());
    value.clear_padding();
    Ok(value)
}
