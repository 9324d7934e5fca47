//! Selection and data.

use super::{Block, ONE, block};
use crate::blocks::{Goal, select};
use crate::builder::Builder;
use crate::graph::Circuit;

pub(super) fn blocks() -> Vec<Block> {
    vec![block("mux", "a if select, else b", ONE, mux)]
}

fn mux(block: &Block, size: &[u32], _: Goal) -> Circuit {
    let mut c = Builder::new(block.name);
    let select = c.bits("select", 1);
    let (a, b) = (c.bits("a", size[0]), c.bits("b", size[0]));
    let out = select::mux(&mut c, select.0[0], &a, &b);
    c.output("out", &out);
    c.finish()
}
