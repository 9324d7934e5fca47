//! The classes, each with its fewest ANDs.

use super::matching::{Correlations, Profile, invariants};
use super::recipe::{Form, Recipe};
use super::truth::without_affine;
use rustc_hash::FxHashMap;

/// A recipe for one function of each class that has no linear structure: its inputs, the operands of its ANDs with bit i
/// for input i and bit 6 + j for AND j, and which ANDs add up to the function. Found by trying all circuits with fewer
/// ANDs (the test of this file).
#[rustfmt::skip]
const RECIPES: &[(usize, &[[Form; 2]], Form)] = &[
    (2, &[[1, 2]], 64),
    (3, &[[1, 2], [4, 64]], 128),
    (4, &[[1, 2], [4, 8]], 192),
    (4, &[[1, 2], [4, 72]], 128),
    (4, &[[1, 2], [4, 8], [64, 128]], 256),
    (4, &[[1, 2], [4, 8], [64, 128]], 320),
    (4, &[[1, 2], [4, 8], [64, 128]], 448),
    (5, &[[1, 2], [1, 4], [8, 80]], 384),
    (5, &[[1, 2], [1, 4], [72, 144]], 256),
    (5, &[[1, 2], [4, 8], [16, 64]], 384),
    (5, &[[1, 2], [4, 8], [16, 192]], 256),
    (5, &[[1, 2], [4, 8], [64, 144]], 256),
    (5, &[[1, 2], [4, 8], [64, 144]], 384),
    (5, &[[1, 2], [4, 8], [68, 144]], 256),
    (5, &[[1, 2], [4, 8], [80, 144]], 256),
    (5, &[[1, 2], [4, 8], [80, 144]], 320),
    (5, &[[1, 2], [4, 64], [8, 144]], 256),
    (5, &[[1, 2], [4, 64], [8, 144]], 320),
    (5, &[[1, 2], [4, 72], [16, 129]], 256),
    (5, &[[1, 2], [4, 72], [16, 136]], 256),
    (5, &[[1, 2], [4, 72], [16, 136]], 320),
    (5, &[[1, 2], [2, 17], [1, 22], [69, 155]], 768),
    (5, &[[1, 2], [24, 67], [28, 194], [137, 268]], 512),
    (5, &[[1, 2], [24, 67], [28, 194], [137, 268]], 576),
    (5, &[[1, 2], [24, 67], [28, 194], [137, 268]], 640),
    (5, &[[1, 2], [24, 67], [28, 194], [137, 268]], 704),
    (5, &[[1, 2], [12, 80], [7, 208], [81, 410]], 512),
    (5, &[[1, 2], [12, 80], [7, 208], [81, 410]], 768),
    (5, &[[1, 2], [6, 24], [29, 77], [10, 132]], 832),
    (5, &[[1, 2], [28, 79], [86, 134], [223, 283]], 640),
    (5, &[[1, 2], [28, 79], [86, 134], [223, 283]], 768),
    (5, &[[1, 2], [13, 68], [19, 142], [154, 342]], 896),
    (5, &[[1, 2], [4, 24], [30, 72], [148, 335]], 576),
    (5, &[[1, 2], [13, 22], [21, 132], [146, 339]], 576),
    (5, &[[1, 2], [30, 76], [13, 198], [140, 323]], 640),
    (5, &[[1, 2], [30, 76], [13, 198], [140, 323]], 704),
    (5, &[[1, 2], [24, 64], [6, 17], [195, 268]], 640),
    (5, &[[1, 2], [24, 64], [6, 17], [195, 268]], 896),
    (5, &[[1, 2], [6, 64], [10, 131], [215, 340]], 704),
    (5, &[[1, 2], [9, 71], [26, 140], [83, 257]], 896),
    (5, &[[1, 2], [7, 17], [27, 128], [67, 270]], 704),
    (5, &[[1, 2], [7, 17], [27, 128], [67, 270]], 960),
    (5, &[[1, 2], [21, 68], [12, 211], [79, 401]], 896),
    (5, &[[1, 2], [6, 65], [13, 18], [141, 261]], 576),
    (5, &[[1, 2], [5, 64], [23, 203], [128, 321]], 512),
    (5, &[[1, 2], [9, 84], [68, 155], [76, 412]], 640),
    (5, &[[1, 2], [7, 81], [68, 157], [14, 258]], 960),
];

/// A class of functions.
pub struct Class {
    /// One of its functions.
    pub table: u64,
    pub recipe: Recipe,
    pub sizes: Correlations,
}

/// All classes of up to five inputs, by what equivalence leaves as it is.
pub struct Classes {
    classes: Vec<Class>,
    /// Classes without linear structures by their own number of inputs.
    alike: FxHashMap<(usize, Profile), Vec<usize>>,
    /// The fewest ANDs of all classes as functions of five inputs.
    ands: FxHashMap<Profile, usize>,
}

impl Classes {
    pub fn new() -> Self {
        let mut classes = Classes { classes: Vec::new(), alike: FxHashMap::default(), ands: FxHashMap::default() };
        classes.ands.insert(invariants(0, 5).0, 0);
        for &(inputs, ands, output) in RECIPES {
            classes.add(inputs, Recipe { ands: ands.to_vec(), output });
        }
        classes
    }

    fn add(&mut self, inputs: usize, recipe: Recipe) {
        let table = recipe.table();
        let (profile, sizes) = invariants(table, inputs);
        self.ands.insert(invariants(table, 5).0, recipe.ands.len());
        self.alike.entry((inputs, profile)).or_default().push(self.classes.len());
        self.classes.push(Class { table, recipe, sizes });
    }

    /// The classes of this number of inputs with these invariants.
    pub fn alike(&self, inputs: usize, profile: &Profile) -> impl Iterator<Item = &Class> {
        self.alike.get(&(inputs, *profile)).into_iter().flatten().map(|&class| &self.classes[class])
    }

    /// The fewest ANDs of a function of five inputs.
    pub fn ands(&self, table: u64) -> usize {
        self.ands[&invariants(without_affine(table), 5).0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::matching::matched;
    use super::super::recipe::and_form;
    use super::super::truth::INPUTS;
    use super::*;
    use proptest::prelude::*;
    use rustc_hash::FxHashSet;

    /// The planes through zero of a space over GF(2), each by its two least vectors.
    fn planes(dimension: usize) -> impl Iterator<Item = [usize; 2]> {
        let pairs = (1..1usize << dimension).flat_map(move |a| (a + 1..1 << dimension).map(move |b| [a, b]));
        pairs.filter(|[a, b]| a ^ b > *b)
    }

    /// A mask of five inputs, with ANDs behind them, as a form.
    fn form(mask: usize) -> Form {
        (mask & 31 | (mask >> 5) << INPUTS) as Form
    }

    /// Visits the functions of all circuits of `more` ANDs besides these, up to affine equivalence.
    fn circuits(planes_so_far: &mut Vec<[usize; 2]>, more: usize, visit: &mut impl FnMut(usize, u64)) {
        let ands = planes_so_far.len();
        if more == 0 {
            let recipe = Recipe { ands: planes_so_far.iter().map(|plane| plane.map(form)).collect(), output: 0 };
            let tables = recipe.and_tables();
            for others in 0..1usize << (ands - 1) {
                let chosen = (0..ands - 1).filter(|j| others >> j & 1 == 1);
                visit(ands, chosen.fold(tables[ands - 1], |table, j| table ^ tables[j]));
            }
            return;
        }
        for plane in planes(5 + ands) {
            planes_so_far.push(plane);
            circuits(planes_so_far, more - 1, visit);
            planes_so_far.pop();
        }
    }

    /// No circuit of up to three ANDs computes a function for which the table has more; the first AND may be that of the
    /// first two inputs, as all planes are alike.
    #[test]
    fn no_recipe_has_too_many_ands() {
        let classes = Classes::new();
        let mut seen = FxHashSet::default();
        for ands in 1..=3 {
            circuits(&mut vec![[1, 2]], ands - 1, &mut |ands, table| {
                let table = without_affine(table);
                if seen.insert(table) {
                    assert!(classes.ands(table) <= ands, "{table:x} with {ands} ANDs");
                }
            });
        }
        let of = |ands: usize| classes.ands.values().filter(|&&number| number == ands).count();
        assert_eq!([0, 1, 2, 3, 4].map(of), [1, 1, 3, 17, 26], "48 classes by their ANDs");
        assert_eq!(classes.classes.len() + 1, 48);
    }

    #[test]
    fn a_recipe_uses_what_it_has() {
        for &(inputs, ands, output) in RECIPES {
            let all = ands.iter().flatten().fold(output, |all, form| all | form);
            let allowed = (0..ands.len()).fold((1 << inputs) - 1, |forms, j| forms | and_form(j));
            assert_eq!(all & !allowed, 0);
        }
    }

    proptest! {
        /// Every function is mapped to that of its class.
        #[test]
        fn every_function_has_a_class(table: u32) {
            let table = without_affine(u64::from(table) | u64::from(table) << 32);
            let (profile, sizes) = invariants(table, 5);
            let classes = Classes::new();
            if let Some(class) = classes.alike(5, &profile).next() {
                let map = matched(table, class.table, 5, [&sizes, &class.sizes]);
                prop_assert!(map.is_some(), "{table:x}");
            }
            prop_assert!(classes.ands(table) <= 4);
        }
    }
}
