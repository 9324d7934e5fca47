//! Dot products and products of matrices.
//!
//! A dot product is one sum of columns: its products share their last additions, the sums of their factors and, for
//! size, the additions behind Karatsuba's products, which therefore pay from 16 bits on. A product of matrices for size
//! exchanges half of its products for sums, after Winograd ("A new algorithm for inner product", IEEE ToC 1968).

use super::adder::add_bits_with;
use super::columns::Columns;
use super::factor::{Factor, Product};
use super::multiply::products_into;
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Word;

/// Σ aᵢ·bᵢ, in as many bits as the largest sum needs; signed if the words are.
///
/// 16 words of 16 bits: 4,511 ANDs of depth 36 (size) or 4,743 of depth 13 (depth). 32 words of 32 bits: 29,253 of
/// depth 69 or 35,127 of depth 16. Depth for k words of n bits: about kn² + 2kn + 2n·log n ANDs of depth
/// log k + 2·log n + 1.
///
/// # Panics
/// If there are no words, or not as many of one as of the other, or a word has no bits.
pub fn dot_product<W: Word>(c: &mut Builder, a: &[W], b: &[W], goal: Goal) -> W {
    assert_eq!(a.len(), b.len(), "words of two vectors");
    let products: Vec<Product> = a.iter().zip(b).map(|(a, b)| Product::of(Factor::of(a), Factor::of(b))).collect();
    W::from_bits(sum_of_products(c, &products, goal))
}

/// The product of an n×k matrix (rows of k words) and a k×m matrix (rows of m words), as rows of m words: each a
/// [`dot_product`] in its full width.
///
/// Size: nmk/2 products of one bit more and (n + m)·k/2 more products, where that is less than nmk products.
///
/// # Panics
/// If the matrices are not of these sizes, or a number is zero.
pub fn matrix_product<W: Word>(c: &mut Builder, a: &[Vec<W>], b: &[Vec<W>], goal: Goal) -> Vec<Vec<W>> {
    let inner = b.len();
    let columns = b.first().map_or(0, Vec::len);
    assert!(inner > 0 && columns > 0, "an empty matrix");
    assert!(a.iter().all(|row| row.len() == inner) && b.iter().all(|row| row.len() == columns), "sizes of matrices");
    let rows: Vec<Vec<Factor>> = a.iter().map(|row| row.iter().map(Factor::of).collect()).collect();
    let cols: Vec<Vec<Factor>> = (0..columns).map(|j| b.iter().map(|row| Factor::of(&row[j])).collect()).collect();
    let entries = if goal == Goal::Size && pairing_pays(&rows, &cols) { paired } else { unpaired };
    entries(c, &rows, &cols, goal).into_iter().map(|row| row.into_iter().map(W::from_bits).collect()).collect()
}

/// The bits of the largest sum of these products.
fn width_of_sum(products: &[Product]) -> usize {
    let widest = products.iter().map(Product::width).max().expect("a sum of one product or more");
    match products.iter().all(|product| product.left().signed && product.right().signed) {
        // n·2^(w − 2) at most, and a sign.
        true => widest + products.len().ilog2() as usize,
        false => super::sum::sum_width(products.iter().map(Product::width)),
    }
}

fn sum_of_products(c: &mut Builder, products: &[Product], goal: Goal) -> Vec<Bit> {
    let mut columns = Columns::new(width_of_sum(products));
    products_into(c, &mut columns, 0, products, goal);
    columns.sum(c, goal)
}

fn zip_products(a: &[Factor], b: &[Factor]) -> Vec<Product> {
    a.iter().zip(b).map(|(a, b)| Product::of(a.clone(), b.clone())).collect()
}

fn unpaired(c: &mut Builder, rows: &[Vec<Factor>], cols: &[Vec<Factor>], goal: Goal) -> Vec<Vec<Vec<Bit>>> {
    let mut entry = |row: &[Factor], col: &[Factor]| sum_of_products(c, &zip_products(row, col), goal);
    rows.iter().map(|row| cols.iter().map(|col| entry(row, col)).collect()).collect()
}

/// a₁b₁ + a₂b₂ = (a₁ + b₂)(a₂ + b₁) − a₁a₂ − b₁b₂, where the products subtracted belong to a row or a column.
fn paired(c: &mut Builder, rows: &[Vec<Factor>], cols: &[Vec<Factor>], goal: Goal) -> Vec<Vec<Vec<Bit>>> {
    let of_rows: Vec<Vec<Bit>> = rows.iter().map(|row| neighbours(c, row, goal)).collect();
    let of_cols: Vec<Vec<Bit>> = cols.iter().map(|col| neighbours(c, col, goal)).collect();
    let mut entry = |i: usize, j: usize| {
        let (row, col) = (&rows[i], &cols[j]);
        let width = width_of_sum(&zip_products(row, col));
        let mut products: Vec<Product> = Vec::new();
        for (a, b) in row.chunks_exact(2).zip(col.chunks_exact(2)) {
            products.push(Product::of(sum(c, &a[0], &b[1], goal), sum(c, &a[1], &b[0], goal)));
        }
        if row.len() % 2 == 1 {
            products.push(Product::of(row[row.len() - 1].clone(), col[row.len() - 1].clone()));
        }
        let mut columns = Columns::new(width);
        products_into(c, &mut columns, 0, &products, goal);
        for word in [&of_rows[i], &of_cols[j]] {
            Factor { bits: word.clone(), signed: row[0].signed }.subtract_from(&mut columns, 0);
        }
        columns.sum(c, goal)
    };
    (0..rows.len()).map(|i| (0..cols.len()).map(|j| entry(i, j)).collect()).collect()
}

/// The sum of the products of every word with its neighbour.
fn neighbours(c: &mut Builder, words: &[Factor], goal: Goal) -> Vec<Bit> {
    let products: Vec<Product> =
        words.chunks_exact(2).map(|pair| Product::of(pair[0].clone(), pair[1].clone())).collect();
    sum_of_products(c, &products, goal)
}

fn sum(c: &mut Builder, a: &Factor, b: &Factor, goal: Goal) -> Factor {
    let width = a.width().max(b.width()) + 1;
    let (x, y) = (a.extended(width), b.extended(width));
    Factor { bits: add_bits_with(c, &x, &y, Bit::FALSE, goal.into()), signed: a.signed }
}

/// Whether half as many products of one bit more, and the sums, are cheaper.
fn pairing_pays(rows: &[Vec<Factor>], cols: &[Vec<Factor>]) -> bool {
    let n = rows[0][0].width();
    let product = |n: usize| n * n + 2 * n;
    let (entries, lines) = (rows.len() * cols.len(), rows.len() + cols.len());
    rows[0].len() > 1 && entries * (product(n + 1) + 2 * n) + lines * product(n) < 2 * entries * product(n)
}
