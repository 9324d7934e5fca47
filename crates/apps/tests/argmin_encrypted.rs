//! The least of encrypted values on shares, against going through the values one by one.

mod common;

use apps::argmin::Direction;
use apps::argmin::encrypted::{Method, Terms};
use common::Random;
use common::encrypted::{Case, check_all, key, terms};
use duologue::circuit::Party;

const OURS: Method = Method::Duologue;
const DIRECTIONS: [Direction; 2] = [Direction::Both, Direction::One];

#[test]
fn the_least_of_values_of_every_width() {
    let (key, mut dice) = (key(1024), Random(1));
    let mut cases = Vec::new();
    for (bits, argument) in
        [(1, None), (1, Some(1)), (8, Some(3)), (31, None), (32, Some(32)), (64, Some(128)), (128, None)]
    {
        for values in [1, 2, 3, 17] {
            for server in [Party::Alice, Party::Bob] {
                let direction = dice.choose(&DIRECTIONS);
                let terms = Terms { server, direction, ..terms(&key, bits, argument) };
                cases.push(Case::new(OURS, terms, values, &mut dice));
            }
        }
    }
    check_all(&cases, &key);
}
