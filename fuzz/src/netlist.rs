//! What the fuzz target of netlists does with its bytes. It needs nothing of the library, so it is apart from the others;
//! `crates/synthesis/tests/decoders.rs` runs it on a few thousand inputs.

use circuit::blocks::Goal;
use synthesis::clocked::{self, Clocking};
use synthesis::lanes;
use synthesis::netlist::Module;
use synthesis::parties::Said;

/// A netlist in JSON. What is read becomes a circuit, or two cycles of a clock, or is refused; a circuit has the module's
/// ports.
pub fn netlist(bytes: &[u8]) {
    let Ok(module) = Module::read(bytes) else { return };
    if let Ok(made) = synthesis::circuit(&module, Goal::Size) {
        let widths = made.inputs.iter().map(|port| port.bits.len() as u32);
        assert!(widths.eq(made.circuit.inputs().iter().map(|port| port.ty.width)));
        assert!(made.outputs.len() == made.circuit.outputs().len());
    }
    if let Ok(Some(laned)) = lanes::program(&module, Goal::Size, &Said::default()) {
        assert!(laned.program.bind(&[("lanes", 1)]).is_ok());
    }
    let clocking = Clocking { cycles: 2, each: Vec::new(), resets: Vec::new(), form: None };
    if let Ok(clocked) = clocked::program(&module, Goal::Size, &clocking, &Said::default()) {
        assert!(clocked.program.bind(&[("lanes", 1)]).is_ok());
    }
}

/// A sum, a selection by a table, a register that Bob fills, a choice, a cell of the technology library, a block by name, and
/// four instances of a module.
pub fn netlists() -> Vec<Vec<u8>> {
    let ports = r#""clk":{"direction":"input","bits":[2]},"a":{"direction":"input","bits":[3,4]},
        "y":{"direction":"output","bits":[5,6]}"#;
    let names = r#""a":{"bits":[3,4],"attributes":{"party":"alice","src":"m.v:1.1"}},"s":{"bits":[5,6],
        "attributes":{"party":"bob","init":"1x"}},"clk":{"bits":[2]}"#;
    let module = |cells: &str, names: &str| {
        format!(r#"{{"creator":"by hand","modules":{{"m":{{"ports":{{{ports}}},"cells":{{{cells}}},"netnames":{{{names}}}}}}}}}"#)
            .into_bytes()
    };
    let sum = r#""s":{"type":"$add","parameters":{"A_SIGNED":"0","B_SIGNED":"0"},
        "port_directions":{"A":"input","B":"input","Y":"output"},"connections":{"A":[3,4],"B":[4,"1"],"Y":[5,6]}}"#;
    let table = r#""t":{"type":"$mem_v2","parameters":{"SIZE":"100","WIDTH":"10","ABITS":"10","OFFSET":"0","RD_PORTS":"1",
        "WR_PORTS":"0","RD_CLK_ENABLE":"0","INIT":"01110010"},"port_directions":{"RD_ADDR":"input","RD_DATA":"output"},
        "connections":{"RD_ADDR":[3,4],"RD_DATA":[5,6]}}"#;
    let register = r#""r":{"type":"$dff","parameters":{"CLK_POLARITY":"1"},
        "port_directions":{"CLK":"input","D":"input","Q":"output"},"connections":{"CLK":[2],"D":[3,4],"Q":[5,6]}}"#;
    let choice = r#""p":{"type":"$pmux","port_directions":{"A":"input","B":"input","S":"input","Y":"output"},
        "connections":{"A":[3,4],"B":[4,3,"0","x"],"S":[2,3],"Y":[5,6]}}"#;
    let cell = r#""c":{"type":"DUO_MAJ","connections":{"A":[3],"B":["1"],"C":[4],"Y":[5]}},
        "n":{"type":"DUO_NOT","connections":{"A":[5],"Y":[6]}}"#;
    let block = r#""b":{"type":"product","parameters":{"W":"10"},"attributes":{"duologue_block":"multiply_low:{W}",
        "duologue_goal":"depth"},"port_directions":{"a":"input","b":"input","out":"output"},
        "connections":{"a":[3,4],"b":[4,"1"],"out":[5,6]}}"#;
    let instance = |bit: u64, y: u64| {
        format!(
            r#""i{y}":{{"type":"n","port_directions":{{"a":"input","b":"input","y":"output"}},
        "connections":{{"a":[{bit}],"b":[2],"y":[{y}]}}}}"#
        )
    };
    let instances: Vec<String> = (0..4).map(|i| instance(3 + i, 7 + i)).collect();
    let instances = format!(
        r#"{{"modules":{{"m":{{"attributes":{{"top":"1"}},"ports":{{"k":{{"direction":"input","bits":[2]}},
        "a":{{"direction":"input","bits":[3,4,5,6]}},"y":{{"direction":"output","bits":[7,8,9,10]}}}},"cells":{{{}}},
        "netnames":{{"k":{{"bits":[2],"attributes":{{"party":"bob"}}}},
        "a":{{"bits":[3,4,5,6],"attributes":{{"party":"alice"}}}}}}}},
        "n":{{"ports":{{"a":{{"direction":"input","bits":[2]}},"b":{{"direction":"input","bits":[3]}},
        "y":{{"direction":"output","bits":[4]}}}},"cells":{{"c":{{"type":"$_AND_",
        "port_directions":{{"A":"input","B":"input","Y":"output"}},"connections":{{"A":[2],"B":[3],"Y":[4]}}}}}}}}}}}}"#,
        instances.join(",")
    );
    let bodies = [cell, sum, table, choice, block].map(|body| module(body, ""));
    bodies.into_iter().chain([module(register, names), instances.into_bytes()]).collect()
}
