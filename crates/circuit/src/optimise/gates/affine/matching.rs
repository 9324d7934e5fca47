//! Functions of up to five inputs up to affine equivalence: f and g are equivalent if f(b ⊕ My) = g(y) ⊕ an affine form.

use super::truth::normal_form;

/// What equivalence leaves as it is: how often each size of a Walsh coefficient occurs, and each size of autocorrelation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Profile([[u8; 17]; 2]);

/// The sizes of the autocorrelations of the low 2^inputs values, by direction.
pub struct Correlations([u8; 32]);

/// Values as signs, Walsh-Hadamard transformed.
fn transform(values: &mut [i32; 32], inputs: usize) {
    for i in 0..inputs {
        for low in (0..1 << inputs).filter(|x| x >> i & 1 == 0) {
            let (a, b) = (values[low], values[low | 1 << i]);
            (values[low], values[low | 1 << i]) = (a + b, a - b);
        }
    }
}

/// Both invariants of a function of up to five inputs.
pub fn invariants(table: u64, inputs: usize) -> (Profile, Correlations) {
    let mut values = [0i32; 32];
    (0..1 << inputs).for_each(|x| values[x] = 1 - 2 * (table >> x & 1) as i32);
    transform(&mut values, inputs);
    let mut counts = [[0; 17]; 2];
    values[..1 << inputs].iter().for_each(|value| counts[0][value.unsigned_abs() as usize / 2] += 1);
    values.iter_mut().for_each(|value| *value *= *value);
    transform(&mut values, inputs);
    let sizes = values.map(|value| (value.unsigned_abs() >> inputs) as u8);
    sizes[..1 << inputs].iter().for_each(|&size| counts[1][size as usize / 2] += 1);
    (Profile(counts), Correlations(sizes))
}

/// An affine map y ↦ `offset` ⊕ the columns that y selects.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// The image of zero.
    pub offset: usize,
    /// The image of each unit, without the offset.
    pub columns: [usize; 5],
}

/// A search for the map from g to f, column after column: each new one must give the right coefficients of the normal form.
struct Search<'a> {
    from: u64,
    inputs: usize,
    /// The normal form of g.
    wanted: u64,
    sizes: [&'a Correlations; 2],
    map: Map,
    /// The sums of the columns so far.
    sums: [usize; 32],
}

/// A map under which f is g but for an affine form.
pub fn matched(f: u64, g: u64, inputs: usize, sizes: [&Correlations; 2]) -> Option<Map> {
    let map = Map { offset: 0, columns: [0; 5] };
    let mut search = Search { from: f, inputs, wanted: normal_form(g), sizes, map, sums: [0; 32] };
    (0..1 << inputs)
        .any(|offset| {
            search.map.offset = offset;
            search.column(0)
        })
        .then_some(search.map)
}

impl Search<'_> {
    /// Finds column `i` and all that follow.
    fn column(&mut self, i: usize) -> bool {
        if i == self.inputs {
            return true;
        }
        for column in 1..1 << self.inputs {
            if !self.fits(i, column) {
                continue;
            }
            self.map.columns[i] = column;
            (0..1 << i).for_each(|y| self.sums[1 << i | y] = self.sums[y] ^ column);
            if self.column(i + 1) {
                return true;
            }
        }
        false
    }

    fn fits(&self, i: usize, column: usize) -> bool {
        let [of_f, of_g] = self.sizes;
        let sums = &self.sums[..1 << i];
        let alike = |(y, sum): (usize, &usize)| of_f.0[sum ^ column] == of_g.0[y | 1 << i];
        if sums.contains(&column) || !sums.iter().enumerate().all(alike) {
            return false;
        }
        let value = |x: usize| self.from >> (x ^ self.map.offset) & 1;
        let differences = sums.iter().enumerate().fold(0, |d, (y, sum)| d | (value(*sum) ^ value(sum ^ column)) << y);
        let low = (1u64 << (1 << i)) - 1;
        // The lowest coefficient is that of a single input: affine, and so of no account.
        (normal_form(differences) ^ self.wanted >> (1 << i)) & low & !1 == 0
    }
}

impl Map {
    /// y as forms of x where x is the image of y: for each input of y a mask of inputs of x, without constants.
    pub fn inverse(&self, inputs: usize) -> [usize; 5] {
        // Rows of M beside those of the unit matrix.
        let mut rows: Vec<(usize, usize)> = (0..inputs)
            .map(|x| ((0..inputs).fold(0, |row, y| row | (self.columns[y] >> x & 1) << y), 1 << x))
            .collect();
        for y in 0..inputs {
            let pivot = (y..inputs).find(|&row| rows[row].0 >> y & 1 == 1).expect("columns are independent");
            rows.swap(y, pivot);
            let (left, right) = rows[y];
            for (_, row) in rows.iter_mut().enumerate().filter(|(other, row)| *other != y && row.0 >> y & 1 == 1) {
                *row = (row.0 ^ left, row.1 ^ right);
            }
        }
        let mut forms = [0; 5];
        rows.iter().zip(&mut forms).for_each(|(row, form)| *form = row.1);
        forms
    }
}
