//! Clocked designs through Yosys against Icarus: both forms give what the design gives when it is simulated.

use circuit::blocks::Goal;
use circuit::program::reference::{Table, evaluate};
use circuit::program::{Owner, Party};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use synthesis::clocked::{self, Clocked, Clocking, Form};
use synthesis::netlist::Module;
use synthesis::parties::Said;
use synthesis::yosys::{Design, Yosys};

/// Yosys, or a line that says that what needs it is skipped.
fn yosys(test: &str) -> Option<Yosys> {
    let found = Yosys::find(None, Duration::from_secs(300));
    found.map_err(|why| drop(writeln!(std::io::stderr(), "verilog: {test} skipped: {why}"))).ok()
}

fn module(yosys: &Yosys, folder: &Path, text: &str) -> Module {
    read(yosys, folder, text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

fn read(yosys: &Yosys, folder: &Path, text: &str) -> synthesis::Result<Module> {
    let file = folder.join("design.v");
    fs::write(&file, text).unwrap();
    let netlist = yosys.netlist(&Design {
        files: vec![file],
        top: Some("m".into()),
        parameters: vec![],
        clocked: true,
        blocks: vec![],
    })?;
    netlist.module()
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A design, how it is clocked, and a test bench that prints the expected outputs, a line each, in bits.
struct Case {
    name: &'static str,
    text: &'static str,
    clocking: Clocking,
    /// Each input with its values: one, or one a cycle.
    inputs: Vec<(&'static str, usize, Vec<u64>)>,
    /// Registers that a party says the first value of: the input, and after `=` the register if it has another name.
    states: Vec<(&'static str, usize, u64)>,
    outputs: Vec<&'static str>,
    /// The most ANDs of all cycles in one circuit.
    most: u64,
}

/// The name of an input, and that of its register.
fn split(name: &str) -> (&str, &str) {
    name.split_once('=').unwrap_or((name, name))
}

fn clocking(cycles: u64, each: &[&str], resets: &[&str]) -> Clocking {
    let each = each.iter().map(|name| name.to_string()).collect();
    let resets = resets.iter().map(|name| (name.trim_start_matches('!').to_string(), !name.starts_with('!'))).collect();
    Clocking { cycles, each, resets, form: None }
}

impl Case {
    fn program(&self, module: &Module, form: Option<Form>, goal: Goal) -> Clocked {
        let clocking = Clocking { form, ..self.clocking.clone() };
        clocked::program(module, goal, &clocking, &Said::default()).unwrap_or_else(|why| panic!("{}: {why}", self.name))
    }

    /// The outputs of a program in bits, the highest first, a line for each value.
    fn evaluate(&self, clocked: &Clocked) -> BTreeMap<String, Vec<String>> {
        let binding = clocked.program.bind(&[("lanes", 1)]).unwrap();
        let word = |value: u64, width: usize| (0..width).map(|i| value >> i & 1 == 1).collect::<Vec<bool>>();
        let table = |width: usize, values: &[u64]| values.iter().map(|&value| word(value, width)).collect::<Table>();
        let inputs = self.inputs.iter().map(|(name, width, values)| (name.to_string(), table(*width, values)));
        let states =
            self.states.iter().map(|(name, width, value)| (split(name).0.to_string(), table(*width, &[*value])));
        let inputs = inputs.chain(states).collect();
        let shown = |lane: &Vec<bool>| lane.iter().rev().map(|&bit| if bit { '1' } else { '0' }).collect::<String>();
        let found = evaluate(&binding, &inputs);
        found.into_iter().map(|(name, table)| (name, table.iter().map(shown).collect())).collect()
    }

    /// The same bits, but for those that the simulator calls `x`.
    fn compare(&self, found: &BTreeMap<String, Vec<String>>, expected: &BTreeMap<String, Vec<String>>, goal: Goal) {
        assert!(found.keys().eq(expected.keys()), "{}", self.name);
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.1.len(), expected.1.len(), "{}: {}", self.name, found.0);
            let same = |(found, expected): (&String, &String)| {
                let bits = found.bytes().zip(expected.bytes());
                found.len() == expected.len() && bits.clone().all(|(a, b)| a == b || b == b'x')
            };
            assert!(found.1.iter().zip(expected.1).all(same), "{}, {goal}: {found:?}, not {expected:?}", self.name);
        }
    }

    /// What Icarus prints: each output of each cycle before its edge, the others after the last edge.
    fn simulate(&self, folder: &Path) -> BTreeMap<String, Vec<String>> {
        let resets: Vec<String> = self.clocking.resets.iter().map(|(name, _)| name.clone()).collect();
        let declared: String =
            self.inputs.iter().map(|(name, width, _)| format!(" reg [{}:0] {name};\n", width - 1)).collect();
        let declared = declared + &resets.iter().map(|name| format!(" reg {name};\n")).collect::<String>();
        let names = self.inputs.iter().map(|(name, ..)| name.to_string());
        let ports = names.chain(resets.iter().cloned()).chain(self.outputs.iter().map(|name| name.to_string()));
        let joined: Vec<String> = ports.map(|name| format!(".{name}({name})")).collect();
        let wires: String = self.outputs.iter().map(|name| format!(" wire [63:0] {name};\n")).collect();
        let set = |cycle: usize| {
            let value = |(name, _, values): &(&str, usize, Vec<u64>)| {
                format!(" {name} = {};", values[cycle.min(values.len() - 1)])
            };
            self.inputs.iter().map(value).collect::<String>()
        };
        let edge = " #1 clk = 1; #1 clk = 0;\n";
        let show = |each: bool| {
            let of = |name: &&&str| self.clocking.each.iter().any(|known| known == **name) == each;
            let line = |name: &&str| format!(" $display(\"{name} %b\", u.{name});");
            self.outputs.iter().filter(of).map(line).collect::<String>()
        };
        // After the initial blocks of the design.
        let mut steps = String::from("  clk = 0; #1");
        let set_state = |(name, _, value): &(&str, usize, u64)| format!(" u.{} = {value};", split(name).1);
        steps += &self.states.iter().map(set_state).collect::<String>();
        if !self.clocking.resets.is_empty() {
            let zero = |(name, _, values): &(&str, usize, Vec<u64>)| match values.len() {
                1 => format!(" {name} = {};", values[0]),
                _ => format!(" {name} = 0;"),
            };
            steps += &self.inputs.iter().map(zero).collect::<String>();
            steps += &self
                .clocking
                .resets
                .iter()
                .map(|(name, on)| format!(" {name} = {};", u8::from(*on)))
                .collect::<String>();
            steps += edge;
            steps += &self
                .clocking
                .resets
                .iter()
                .map(|(name, on)| format!(" {name} = {};", u8::from(!*on)))
                .collect::<String>();
        }
        for cycle in 0..self.clocking.cycles as usize {
            steps += &(set(cycle) + " #1" + &show(true) + edge);
        }
        steps += &(" #1;".to_string() + &show(false));
        let bench = format!(
            "{}\nmodule bench;\n reg clk;\n{declared}{wires} m u(.clk(clk), {});\n initial begin\n{steps}\n end\nendmodule\n",
            self.text,
            joined.join(", ")
        );
        let (source, program) = (folder.join("bench.v"), folder.join("bench"));
        fs::write(&source, &bench).unwrap();
        let built =
            Command::new("iverilog").args(["-g2012", "-s", "bench", "-o"]).args([&program, &source]).output().unwrap();
        assert!(built.status.success(), "{}\n{bench}", String::from_utf8_lossy(&built.stderr));
        let run = Command::new("vvp").arg("-N").arg(&program).output().unwrap();
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in String::from_utf8(run.stdout).unwrap().lines() {
            let (name, bits) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
            found.entry(name.to_string()).or_default().push(bits.to_string());
        }
        found
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "a counter with an enable, cleared without a clock",
            text: "module m(input clk, rst, (* party = \"alice\" *) input go, output reg [7:0] n);
                always @(posedge clk or posedge rst) if (rst) n <= 8'd250; else if (go) n <= n + 1; endmodule",
            clocking: clocking(11, &["go"], &["rst"]),
            inputs: vec![("go", 1, vec![1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1])],
            states: vec![],
            outputs: vec!["n"],
            // A sum and a selection in each cycle would be 11 * 15.
            most: 11 * 10,
        },
        Case {
            name: "a shift register with feedback, begun by an initial value, read in each cycle",
            text: "module m(input clk, (* party = \"bob\" *) input [15:0] mask, output bit_out, output reg [15:0] s = 16'hace1);
                assign bit_out = s[0] ^ mask[3];
                always @(posedge clk) s <= {^(s & mask), s[15:1]}; endmodule",
            clocking: clocking(20, &["bit_out"], &[]),
            inputs: vec![("mask", 16, vec![0x2d])],
            states: vec![],
            outputs: vec!["bit_out", "s"],
            most: 20 * 16,
        },
        Case {
            name: "a serial multiplier that is loaded by its reset",
            text: "module m(input clk, load, (* party = \"alice\" *) input [15:0] a, (* party = \"bob\" *) input [15:0] b,
                    output reg [31:0] p);
                reg [15:0] left; reg [4:0] count;
                always @(posedge clk) if (load) begin p <= 0; left <= b; count <= 0; end
                    else if (count < 16) begin
                        p <= {{1'b0, p[31:16]} + (left[0] ? a : 16'd0), p[15:1]}; left <= left >> 1; count <= count + 1;
                    end
                endmodule",
            clocking: clocking(18, &[], &["load"]),
            inputs: vec![("a", 16, vec![51234]), ("b", 16, vec![60007])],
            states: vec![],
            outputs: vec!["p"],
            // 16 rows of 16 products and 16 sums; its counter folds away.
            most: 16 * 32,
        },
        Case {
            name: "a recogniser of 1011, whose output follows its input at once",
            text: "module m(input clk, nrst, (* party = \"alice\" *) input x, output hit, output reg [3:0] hits);
                reg [1:0] state;
                assign hit = state == 3 && x;
                always @(posedge clk) if (!nrst) begin state <= 0; hits <= 0; end else begin
                    case (state) 0: state <= x; 1: state <= x ? 1 : 2; 2: state <= x ? 3 : 0; default: state <= x ? 1 : 2; endcase
                    hits <= hits + hit; end
                endmodule",
            clocking: clocking(15, &["x", "hit"], &["!nrst"]),
            inputs: vec![("x", 1, vec![1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1])],
            states: vec![],
            outputs: vec!["hit", "hits"],
            most: 15 * 12,
        },
        Case {
            name: "registers of two parties with equal next states, one that shifts, one that stays, one with a reset",
            text: "module shifted(input clk, (* party = \"bob\" *) input step, output y);
                (* party = \"bob\" *) reg [3:0] s; assign y = s[0]; always @(posedge clk) if (step) s <= s >> 1; endmodule
                module m(input clk, (* party = \"alice\" *) input [7:0] d, output [7:0] y, z, output [1:0] low,
                    (* party = \"alice\" *) output reg [7:0] n);
                (* party = \"alice\" *) reg [7:0] p; (* party = \"bob\" *) reg [7:0] q, same; reg [7:0] plain = 1;
                (* party = \"bob\" *) reg [7:0] k, c;
                shifted one(clk, d[0], low[0]), two(clk, d[1], low[1]);
                always @(posedge clk) begin
                    p <= p + d; q <= p + d; same <= p + d; plain <= p + d; k <= k; c <= {1'b0, c[7:2], 1'b1};
                    if (d[7]) n <= 0; else if (d[0]) n <= {4'b0, d[7:4]}; end
                assign y = {p[0] ^ k[7], q[1] & c[7], p[6:2] | q[6:2], plain[0]}, z = same - k + c; endmodule",
            clocking: clocking(5, &["d", "y", "z", "low", "n"], &[]),
            inputs: vec![("d", 8, vec![2, 5, 250, 17, 3])],
            states: vec![
                ("p", 8, 99),
                ("q", 8, 60),
                ("same", 8, 133),
                ("k", 8, 201),
                ("c", 8, 254),
                ("n", 8, 78),
                ("one.s", 4, 13),
                ("two.s", 4, 6),
            ],
            outputs: vec!["y", "z", "low", "n"],
            most: 5 * 60,
        },
        Case {
            name: "parties on wires that are joined to registers: outputs of instances, assigned wires, an output port",
            text: "module sub(input clk, input [7:0] d, output reg [7:0] q); always @(posedge clk) q <= d; endmodule
                module inner(input clk, input [7:0] d, output [7:0] q); reg [7:0] r; assign q = r;
                    always @(posedge clk) r <= d; endmodule
                module still(input clk, output [7:0] o); reg [7:0] r; assign o = r; always @(posedge clk) r <= r; endmodule
                module m(input clk, (* party = \"alice\" *) input [7:0] d, output [7:0] y, z, v, w, h,
                    (* party = \"bob\" *) output [7:0] out);
                (* party = \"bob\" *) wire [7:0] s; wire [7:0] t; sub a(clk, d, s), b(clk, d, t);
                (* party = \"bob\" *) wire [7:0] si; (* party = \"alice\" *) wire [7:0] ti; inner i(clk, d, si), j(clk, d, ti);
                reg [7:0] p, q, o, n; (* party = \"bob\" *) wire [7:0] pw; wire [7:0] far, further; assign far = p;
                assign further = far; assign pw = further; assign out = o; (* party = \"alice\" *) wire [7:0] lo; still k(clk, lo);
                always @(posedge clk) begin p <= p + d; q <= p + d; o <= {p[6:0], p[7]}; n <= {p[6:0], p[7]}; end
                assign y = s ^ {t[3:0], t[7:4]}, z = si - ti, v = p ^ {q[3:0], q[7:4]}, w = lo + n, h = lo ^ d; endmodule",
            clocking: clocking(4, &["d", "y", "z", "v", "w", "h", "out"], &[]),
            inputs: vec![("d", 8, vec![2, 5, 250, 17])],
            states: vec![
                ("s=a.q", 8, 99),
                ("si=i.r", 8, 60),
                ("ti=j.r", 8, 133),
                ("pw=p", 8, 201),
                ("out=o", 8, 254),
                ("lo=k.r", 8, 78),
            ],
            outputs: vec!["y", "z", "v", "w", "h", "out"],
            most: 4 * 60,
        },
        Case {
            name: "what nobody initialises, which is x, and a constant with an x",
            text: "module m(input clk, rst, (* party = \"alice\" *) input [3:0] d, output reg [3:0] q = 4'b0101, output e,
                    output reg [3:0] r, s, output [3:0] t);
                reg [3:0] a; reg [3:0] up = 3; assign t = up;
                assign e = (d === 4'b1x00) ^ (d !== {1'b1, ~d[2], 2'bx0}) ^ &r;
                always @(posedge clk) begin q <= d; if (rst) r <= 1; else r <= {r, ^d}; s <= a | d; a <= 15; up <= 3 | up; end
                endmodule",
            clocking: clocking(6, &["d", "q", "e", "r", "s", "t"], &["rst"]),
            inputs: vec![("d", 4, vec![8, 12, 1, 10, 0, 15])],
            states: vec![],
            outputs: vec!["q", "e", "r", "s", "t"],
            most: 6 * 10,
        },
        Case {
            name: "a memory whose read port has a register with an enable",
            text: "module m(input clk, rst, (* party = \"alice\" *) input go, (* party = \"alice\" *) input [1:0] at,
                    (* party = \"bob\" *) input [2:0] v, output reg [2:0] y);
                reg [2:0] memory [0:3]; integer i; initial for (i = 0; i < 4; i = i + 1) memory[i] = 7 - i;
                reg [1:0] last; wire [2:0] now = memory[last];
                always @(posedge clk) if (rst) begin last <= 0; y <= 0; end
                    else begin last <= at; memory[last] <= v ^ now; if (go) y <= memory[at]; end endmodule",
            clocking: clocking(7, &["go", "v", "y"], &["rst"]),
            inputs: vec![("go", 1, vec![1, 1, 0, 1, 0, 1, 1]), ("at", 2, vec![2]), ("v", 3, vec![1, 2, 3, 4, 5, 6, 7])],
            states: vec![],
            outputs: vec!["y"],
            most: 7 * 40,
        },
        Case {
            name: "a memory that is written and read",
            text: "module m(input clk, rst, (* party = \"alice\" *) input [1:0] at, from, (* party = \"alice\" *) input [3:0] v,
                    output reg [3:0] y);
                reg [3:0] memory [0:3]; integer i; initial for (i = 0; i < 4; i = i + 1) memory[i] = i + 5;
                always @(posedge clk) begin y <= memory[from]; if (!rst) memory[at] <= v; end endmodule",
            clocking: clocking(8, &["at", "from", "v", "y"], &["rst"]),
            inputs: vec![
                ("at", 2, vec![1, 2, 3, 0, 1, 1, 2, 3]),
                ("from", 2, vec![0, 1, 2, 3, 0, 1, 1, 2]),
                ("v", 4, vec![9, 4, 15, 7, 2, 11, 0, 6]),
            ],
            states: vec![],
            outputs: vec!["y"],
            most: 8 * 32,
        },
    ]
}

#[test]
fn clocked_designs_agree_with_icarus() {
    let Some(yosys) = yosys("clocked_designs_agree_with_icarus") else { return };
    if Command::new("iverilog").arg("-V").output().is_err() {
        let _ = writeln!(std::io::stderr(), "verilog: clocked_designs_agree_with_icarus skipped: there is no Icarus");
        return;
    }
    for case in cases() {
        let folder = temporary();
        let module = module(&yosys, folder.path(), case.text);
        let expected = case.simulate(folder.path());
        assert_eq!(expected.len(), case.outputs.len(), "{}", case.name);
        for goal in [Goal::Size, Goal::Depth] {
            let [unrolled, iterated, chosen] =
                [Some(Form::Unroll), Some(Form::Iterate), None].map(|form| case.program(&module, form, goal));
            for made in [&unrolled, &iterated, &chosen] {
                case.compare(&case.evaluate(made), &expected, goal);
            }
            let cycles = case.clocking.cycles;
            assert!(
                goal == Goal::Depth || unrolled.ands(cycles) <= case.most,
                "{}: {}",
                case.name,
                unrolled.ands(cycles)
            );
            assert_eq!(chosen.ands(cycles), unrolled.ands(cycles).min(iterated.ands(cycles)), "{}", case.name);
        }
    }
}

/// Nobody asks for less than the whole register, and each gets what its own party says.
#[test]
fn parties_fill_registers() {
    let Some(yosys) = yosys("parties_fill_registers") else { return };
    let (folder, cases) = (temporary(), cases());
    let case = cases.iter().find(|case| !case.states.is_empty()).expect("one with such registers");
    let module = module(&yosys, folder.path(), case.text);
    for form in [Form::Unroll, Form::Iterate] {
        let clocked = case.program(&module, Some(form), Goal::Size);
        let binding = clocked.program.bind(&[("lanes", 1)]).unwrap();
        let asked = |name: &str| {
            let port = binding.inputs().iter().find(|port| port.name == name).unwrap_or_else(|| panic!("{name}"));
            (port.ty.width as usize, port.who)
        };
        for (name, width, _) in &case.states {
            let party = if ["p", "n"].contains(name) { Party::Alice } else { Party::Bob };
            assert_eq!(asked(name), (*width, Owner::Party(party)), "{name}");
        }
    }
}

#[test]
fn what_cannot_be_clocked_is_said() {
    let Some(yosys) = yosys("what_cannot_be_clocked_is_said") else { return };
    let party = "(* party = \"alice\" *)";
    for (text, each, reset, what) in [
        (
            "input clk, other, PARTY input d, output reg p, q); always @(posedge clk) p <= d; always @(posedge other) q <= d;",
            "",
            "",
            "another clock",
        ),
        (
            "input clk, PARTY input d, go, output reg q); wire t = clk & go; always @(posedge t) q <= d;",
            "",
            "",
            "whose clock is no input",
        ),
        ("input clk, PARTY input d, output y); assign y = d;", "", "", "has no registers"),
        (
            "input clk, PARTY input d, output y); reg q; always @(posedge clk) q <= d; assign y = q ^ d;",
            "d",
            "",
            "'d' is read where it has no value",
        ),
        (
            "input clk, PARTY input d, output y); reg q; always @(posedge clk) q <= d; assign y = q & clk;",
            "",
            "",
            "'clk' is read where",
        ),
        ("input clk, PARTY input d, output reg q); always @(posedge clk) q <= d;", "x", "", "no port 'x'"),
        ("input clk, PARTY input [1:0] d, output reg q); always @(posedge clk) q <= ^d;", "", "d", "several bits"),
        ("input clk, input d, output reg q); always @(posedge clk) q <= d;", "", "", "nobody supplies"),
        (
            "input clk, PARTY input d, go, output reg q, output p); reg t; always @(posedge clk) q <= d ^ t; assign p = q;
                always @* if (go) t = d;",
            "",
            "",
            "design.v:2.17-2.41: a latch",
        ),
        (
            "input clk, PARTY input d, output reg q); PARTY wire t = ~d; always @(posedge clk) q <= t;",
            "",
            "",
            "design.v:1.94-1.95: 't' has a party, and is neither",
        ),
        (
            "input clk, PARTY input d, output reg q); PARTY reg [2:0] t; always @(posedge clk) begin q <= d ^ t[0]; t[1:0] <= d; end",
            "",
            "",
            "'t', bit 2, has a party",
        ),
        (
            "input clk, PARTY input d, output reg q); PARTY reg [2:0] t; always @(posedge clk) q <= d;",
            "",
            "",
            "'t', bit 0, has a party",
        ),
        (
            "input clk, PARTY input d, output q, p); PARTY reg t; PARTY wire same = t; always @(posedge clk) t <= d; assign q = same;
                assign p = t;",
            "",
            "",
            "are one register",
        ),
        (
            "input clk, rst, PARTY input d, output reg q); PARTY reg t;
                always @(posedge clk or posedge rst) if (rst) t <= 0; else t <= t ^ d; always @(posedge clk) q <= t;",
            "",
            "rst",
            "'t' has a party, and is neither",
        ),
        (
            "input clk, PARTY input d, output reg q); PARTY reg t [0:1]; always @(posedge clk) begin q <= t[d]; t[q] <= d; end",
            "",
            "",
            "a memory has a party",
        ),
    ] {
        let text = format!("module m({} endmodule", text.replace("PARTY", party));
        let folder = temporary();
        let module = read(&yosys, folder.path(), &text);
        let list = |name: &'static str| if name.is_empty() { vec![] } else { vec![name] };
        let clocking = clocking(4, &list(each), &list(reset));
        let program = |module: &Module| clocked::program(module, Goal::Size, &clocking, &Said::default()).err();
        let why = module.map_or_else(Some, |module| program(&module));
        let why = why.unwrap_or_else(|| panic!("accepted: {text}")).to_string();
        assert!(why.contains(what), "{why}\n{text}");
    }
}

/// Whoever runs Yosys alone has not kept the registers of parties apart, and is told so.
#[test]
fn registers_that_may_be_joined_are_refused() {
    let register = |hidden: bool| {
        let attributes = if hidden { serde_json::json!({ "duologue_state": "1" }) } else { serde_json::json!({}) };
        let directions = serde_json::json!({ "CLK": "input", "D": "input", "Q": "output" });
        let connections = serde_json::json!({ "CLK": [2], "D": [3], "Q": [4] });
        let cell = serde_json::json!({ "type": "$dff", "attributes": attributes, "port_directions": directions,
            "parameters": { "CLK_POLARITY": 1 }, "connections": connections });
        let port = |direction: &str, bit: u32| serde_json::json!({ "direction": direction, "bits": [bit] });
        let ports = serde_json::json!({ "clk": port("input", 2), "d": port("input", 3), "y": port("output", 4) });
        let names = serde_json::json!({ "d": { "bits": [3], "attributes": { "party": "alice" } },
            "s": { "bits": [4], "attributes": { "party": "bob" } } });
        serde_json::json!({ "modules": { "m": { "ports": ports, "cells": { "r": cell }, "netnames": names } } })
    };
    let made = |hidden| {
        let module = Module::read(register(hidden).to_string().as_bytes()).unwrap();
        clocked::program(&module, Goal::Size, &clocking(2, &[], &[]), &Said::default()).map(|_| ())
    };
    assert!(made(false).unwrap_err().to_string().contains("may have made it one with another"));
    made(true).unwrap();
}
