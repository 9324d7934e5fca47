//! Functions of up to six bits with few ANDs.
//!
//! The number of ANDs that a function needs (its multiplicative complexity) is the same for all functions that are affinely
//! equivalent: f(Ax ⊕ b) ⊕ an affine form. There are 48 classes of five inputs, and none needs more than four ANDs (Turan,
//! Peralta, *The multiplicative complexity of Boolean functions on four and five variables*, 2014). [`classes`] has a function
//! of each with its fewest ANDs. A function is first freed of its linear structures (directions in which it changes
//! everywhere or nowhere), which leaves fewer inputs; then it is matched with its class. What truly has six inputs is
//! split along the affine form ℓ that makes f = ℓ·g ⊕ h cheapest: few ANDs, but not always the fewest.

pub mod classes;
mod matching;
pub mod recipe;
pub mod truth;

use classes::Classes;
use matching::{invariants, matched};
use recipe::{Form, ONE, Recipe};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use truth::{INPUT, INPUTS, affine_form, exchanged, translated, without_affine};

/// Makes recipes, and remembers them.
pub struct Synthesis {
    classes: Classes,
    known: FxHashMap<u64, Rc<Recipe>>,
}

impl Synthesis {
    pub fn new() -> Self {
        Synthesis { classes: Classes::new(), known: FxHashMap::default() }
    }

    /// A recipe of the function with this table; its table is compared before it is given out.
    pub fn recipe(&mut self, table: u64) -> Rc<Recipe> {
        if let Some(recipe) = self.known.get(&table) {
            return recipe.clone();
        }
        let recipe = Rc::new(self.made(table));
        self.known.insert(table, recipe.clone());
        recipe
    }

    /// Makes all that is remembered wrong.
    #[cfg(test)]
    pub fn spoil(&mut self) {
        self.known.values_mut().for_each(|recipe| Rc::make_mut(recipe).output ^= ONE);
    }

    fn made(&mut self, table: u64) -> Recipe {
        let reduced = Reduced::of(without_affine(table));
        let recipe = match reduced.inputs {
            0 => Recipe::affine(0),
            INPUTS => self.split(reduced.table),
            inputs => self.matched(reduced.table, inputs),
        };
        completed(recipe.over(&reduced.forms), table)
    }

    /// The recipe of a function of two to five inputs by its class.
    fn matched(&self, table: u64, inputs: usize) -> Recipe {
        let (profile, sizes) = invariants(table, inputs);
        for class in self.classes.alike(inputs, &profile) {
            if let Some(map) = matched(table, class.table, inputs, [&sizes, &class.sizes]) {
                let mut forms = [0; INPUTS];
                for (form, mask) in forms.iter_mut().zip(map.inverse(inputs)) {
                    let constant = (mask & map.offset).count_ones() % 2 == 1;
                    *form = mask as Form | if constant { ONE } else { 0 };
                }
                return class.recipe.over(&forms);
            }
        }
        unreachable!("every function of five inputs is in a class")
    }

    /// f = ℓ·g ⊕ h where g and h do not depend on one of the inputs of ℓ.
    fn split(&mut self, table: u64) -> Recipe {
        let mut best: Option<(usize, Recipe)> = None;
        let mut splits: Vec<(usize, usize)> = (1..1 << INPUTS).map(|form| (self.estimate(table, form), form)).collect();
        splits.sort_unstable();
        let least = splits[0].0;
        for &(_, form) in splits.iter().take_while(|(estimate, _)| *estimate <= least + 1).take(6) {
            let recipe = self.split_along(table, form);
            if best.as_ref().is_none_or(|(ands, _)| recipe.ands.len() < *ands) {
                best = Some((recipe.ands.len(), recipe));
            }
        }
        best.expect("a form").1
    }

    /// The ANDs of g and of the cheaper one of h and g ⊕ h, and one.
    fn estimate(&self, table: u64, form: usize) -> usize {
        let (g, h) = parts(table, form);
        let place = form.ilog2() as usize;
        let ands = |table: u64| self.classes.ands(without(table, place));
        1 + ands(g) + ands(h).min(ands(g ^ h))
    }

    fn split_along(&mut self, table: u64, form: usize) -> Recipe {
        let (g, h) = parts(table, form);
        let place = form.ilog2() as usize;
        let of_g = self.recipe(g);
        let tables = of_g.and_tables();
        // What g has computed may be added to h, and so may g itself if ℓ is complemented.
        let offers = (0..1usize << tables.len()).flat_map(|subset| [(subset, false), (subset, true)]);
        let rest = |(subset, whole): (usize, bool)| {
            let some = (0..tables.len()).filter(|j| subset >> j & 1 == 1).fold(h, |rest, j| rest ^ tables[j]);
            if whole { some ^ g } else { some }
        };
        let offer = offers.min_by_key(|&offer| self.classes.ands(without(rest(offer), place))).expect("an offer");
        let of_rest = self.recipe(rest(offer));
        let mut recipe = (*of_g).clone();
        let g_form = recipe.output;
        recipe.output = recipe.append(&of_rest);
        recipe.ands.push([form as Form | if offer.1 { ONE } else { 0 }, g_form]);
        recipe.output ^= recipe::and_form(recipe.ands.len() - 1);
        recipe.output ^=
            (0..tables.len()).filter(|j| offer.0 >> j & 1 == 1).fold(0, |sum, j| sum ^ recipe::and_form(j));
        recipe
    }
}

/// A recipe of the table, given one that differs by an affine form.
fn completed(mut recipe: Recipe, table: u64) -> Recipe {
    let missing = affine_form(recipe.table() ^ table).expect("recipe and function differ by an affine form");
    recipe.output ^= Form::from(missing & 63) | if missing >> INPUTS & 1 == 1 { ONE } else { 0 };
    assert_eq!(recipe.table(), table, "the certificate of a recipe");
    recipe
}

/// g and h of f = ℓ·g ⊕ h, without the highest input of ℓ.
fn parts(table: u64, form: usize) -> (u64, u64) {
    let place = form.ilog2() as usize;
    // With x_place ⊕ the others of ℓ in place of x_place, ℓ is x_place.
    let turned = (0..place)
        .filter(|i| form >> i & 1 == 1)
        .fold(table, |table, i| table & !INPUT[i] | translated(table, 1 << place) & INPUT[i]);
    let low = turned & !INPUT[place];
    let h = low | low << (1 << place);
    let high = turned & INPUT[place];
    (h ^ (high | high >> (1 << place)), h)
}

/// A table that does not depend on input `place`, as one of the five others.
fn without(table: u64, place: usize) -> u64 {
    let packed = if place < INPUTS - 1 { exchanged(table, place, INPUTS - 1) } else { table };
    packed & 0xffff_ffff
}

/// A function as one of fewer inputs, without linear structures, but for an affine form.
struct Reduced {
    inputs: usize,
    /// The function of fewer inputs.
    table: u64,
    /// These inputs as forms of the function's.
    forms: [Form; INPUTS],
}

impl Reduced {
    fn of(table: u64) -> Reduced {
        let structures = (1..1 << INPUTS).filter(|&by| matches!(translated(table, by) ^ table, 0 | u64::MAX));
        let basis = echelon(structures);
        let is_kept = |i: &usize| basis.iter().all(|(pivot, _)| pivot != i);
        let kept: Vec<usize> = (0..INPUTS).filter(is_kept).collect();
        let mut forms = [0; INPUTS];
        for (form, &place) in forms.iter_mut().zip(&kept) {
            let moved = basis.iter().filter(|(_, row)| row >> place & 1 == 1);
            *form = moved.fold(1 << place, |form, (pivot, _)| form | 1 << pivot);
        }
        let point = |y: usize| kept.iter().enumerate().fold(0, |x, (i, place)| x | (y >> i & 1) << place);
        let table = (0..1 << kept.len()).fold(0, |reduced, y| reduced | (table >> point(y) & 1) << y);
        Reduced { inputs: kept.len(), table, forms }
    }
}

/// A basis of the span, each vector with a pivot in which all others are zero.
fn echelon(vectors: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut basis: Vec<(usize, usize)> = Vec::new();
    for vector in vectors {
        let left =
            basis.iter().fold(vector, |left, (pivot, row)| if left >> pivot & 1 == 1 { left ^ row } else { left });
        if left == 0 {
            continue;
        }
        let pivot = left.ilog2() as usize;
        basis.iter_mut().filter(|(_, row)| row >> pivot & 1 == 1).for_each(|(_, row)| *row ^= left);
        basis.push((pivot, left));
    }
    basis
}
