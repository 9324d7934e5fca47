//! Writes modules of Verilog: random expressions and statements over a few inputs.

/// Numbers that follow from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// A port: its name, its width, whether it is signed.
pub struct Port {
    pub name: String,
    pub width: usize,
    signed: bool,
}

impl Port {
    fn new(r: &mut Random, name: String, most: usize) -> Port {
        Port { name, width: 1 + r.below(most), signed: r.below(2) == 0 }
    }

    fn declared(&self, kind: &str) -> String {
        let signed = if self.signed { "signed " } else { "" };
        format!("{kind} {signed}[{}:0] {}", self.width - 1, self.name)
    }
}

/// A module of the name m.
pub struct Written {
    pub text: String,
    pub inputs: Vec<Port>,
    outputs: Vec<Port>,
    seed: u64,
}

impl Written {
    pub fn new(mut r: Random) -> Written {
        let most = if r.below(6) == 0 { 40 } else { 12 };
        let inputs: Vec<Port> = (0..4).map(|i| Port::new(&mut r, ["a", "b", "c", "d"][i].into(), most)).collect();
        let outputs: Vec<Port> = (0..3).map(|i| Port::new(&mut r, format!("y{i}"), 20)).collect();
        let ports = inputs.iter().map(|port| port.declared("input"));
        let ports: Vec<String> = ports.chain(outputs.iter().map(|port| port.declared("output reg"))).collect();
        let body: String = outputs.iter().map(|output| statement(&mut r, &inputs, output)).collect();
        let text = format!("module m({});\n{body}endmodule\n", ports.join(", "));
        let seed = r.next();
        Written { text, inputs, outputs, seed }
    }

    /// The inputs of a test, corners among them.
    pub fn vector(&self, number: usize) -> Vec<u128> {
        let mut r = Random::new(self.seed ^ (number as u64) << 32);
        let value = |port: &Port| {
            let mask = (1u128 << port.width) - 1;
            match r.below(6) {
                0 => 0,
                1 => mask,
                2 => 1 << (port.width - 1),
                _ => u128::from(r.next()) & mask,
            }
        };
        self.inputs.iter().map(value).collect()
    }
}

/// An assignment to an output.
fn statement(r: &mut Random, inputs: &[Port], output: &Port) -> String {
    let y = &output.name;
    let mut e = |depth: usize| expression(r, inputs, depth);
    let (first, second, third) = (e(2), e(2), e(3));
    let (port, other) = (&inputs[r.below(4)], &inputs[r.below(4)]);
    let (name, width) = (&port.name, port.width);
    match r.below(15) {
        9 => search(r, inputs, y),
        10 => {
            let words = (0..8).map(|i| format!("rom{y}[{i}] = {}; ", r.below(1 << 12))).collect::<String>();
            format!(
                " reg [11:0] rom{y} [0:7];\n initial begin {words}end\n always @* {y} = rom{y}[{}];\n",
                place(r, inputs)
            )
        }
        11 => {
            // What lies beyond the top is not written. In braces, because Yosys 0.23 extends a signed word that is written
            // into a part with zeros.
            let part = format!("{y}[{} +: {}]", place(r, inputs), 1 + r.below(4));
            format!(" always @* begin {y} = {first}; {part} = {{{}}}; end\n", other.name)
        }
        12 => {
            // No items with an x: behind one that would match, Yosys 0.23 drops the others. Icarus 11 cuts items to the width
            // of the word.
            let digits = "01x".chars().cycle().skip(r.below(3)).take(width).collect::<String>();
            let items = format!("{}: {y} = {second};", r.below(1 << width.min(3)));
            format!(" always @* case ({name})\n   {items} default: {y} = {name} === {width}'b{digits};\n  endcase\n")
        }
        13 => {
            let (low, part) = (r.below(5), 1 + r.below(3));
            let range = if r.below(2) == 0 { format!("{}:{low}", low + 9) } else { format!("{low}:{}", low + 9) };
            let sign = if r.below(2) == 0 { "+" } else { "-" };
            let read = format!("{{o{y}[{} {sign}: {part}], o{y}[{}]}}", place(r, inputs), low + r.below(10));
            format!(" wire [{range}] o{y} = {name};\n always @* {y} = {read};\n")
        }
        0 => {
            let items: String =
                (0..1 << width.min(3)).map(|i| format!("   {i}: {y} = {};\n", expression(r, inputs, 1))).collect();
            format!(" always @* case ({name})\n{items}   default: {y} = {first};\n  endcase\n")
        }
        1 => format!(" always @* begin {y} = {first}; if ({name} < {}) {y} = {second}; end\n", other.name),
        2 => {
            let step = format!("{y} = {y} + {name}[i{y}]");
            format!(" integer i{y};\n always @* begin {y} = 0; {} {step}; end\n", counting(y, width))
        }
        3 => {
            let item = format!("{}'b{}", width, "01?".chars().cycle().skip(r.below(3)).take(width).collect::<String>());
            format!(" always @* casez ({name})\n   {item}: {y} = {first};\n   default: {y} = {second};\n  endcase\n")
        }
        4 => {
            let table: String =
                (0..1 << width.min(4)).map(|i| format!("   {i}: {y} = {};\n", r.below(1 << 16))).collect();
            format!(" always @* case ({name})\n{table}   default: {y} = {};\n  endcase\n", r.below(100))
        }
        5 => {
            let step = format!("if ({name} == i{y}) {y} = {} + i{y}", other.name);
            format!(" integer i{y};\n always @* begin {y} = {first}; {} {step}; end\n", counting(y, 6))
        }
        _ => format!(" always @* {y} = {third};\n"),
    }
}

/// A search for the least or the greatest of a few words in a loop, and for what is kept of it.
fn search(r: &mut Random, inputs: &[Port], y: &str) -> String {
    let words: String = (1..6).map(|i| format!("{i}: v{y} = {};", sized(r, inputs))).collect();
    let signed = r.of(&["", "signed "]);
    let better = match (r.of(&["<", "<=", ">", ">="]), r.below(2)) {
        (order, 0) => format!("v{y} {order} t{y}"),
        (order, _) => format!("t{y} {order} v{y}"),
    };
    let (first, kept) = (r.of(&["12'h7ff", "12'hfff", "0", "a"]), r.of(&["i", "~i", "i * b", "v"]));
    let kept = kept.replace('i', &format!("i{y}")).replace('v', &format!("v{y}"));
    format!(
        " reg {signed}[11:0] t{y}, v{y};\n reg [4:0] k{y};\n integer i{y};\n always @* begin t{y} = {first}; k{y} = {};\n  \
         for (i{y} = 1; i{y} < 6; i{y} = i{y} + 1) begin case (i{y}) {words} default: v{y} = 0; endcase\n   \
         if ({better}) begin t{y} = v{y}; k{y} = {kept}; end end\n  {y} = {{t{y}, k{y}}}; end\n",
        r.of(&["0", "1", "b"])
    )
}

/// The head of a loop, whose variable no other block has: each would wake the other for ever.
fn counting(y: &str, bound: usize) -> String {
    format!("for (i{y} = 0; i{y} < {bound}; i{y} = i{y} + 1)")
}

/// A place in a word. Icarus 11 forgets the bits above the lowest 32.
fn place(r: &mut Random, inputs: &[Port]) -> String {
    let port = r.of(inputs);
    if port.width < 32 { port.name.clone() } else { format!("{}[0]", port.name) }
}

fn leaf(r: &mut Random, inputs: &[Port]) -> String {
    let port = r.of(inputs);
    let (name, width) = (&port.name, port.width);
    match r.below(8) {
        0 => format!("{}'d{}", 1 + r.below(9), r.below(500)),
        1 => format!("{}'sd{}", 2 + r.below(9), r.below(500)),
        2 => format!("{}", r.below(40)),
        3 => {
            let (high, low) = (r.below(width), r.below(width));
            // In braces, because Icarus 11 takes some parts of signed words for signed.
            format!("{{{name}[{}:{}]}}", high.max(low), high.min(low))
        }
        4 => format!("{name}[{}]", place(r, inputs)),
        _ => name.clone(),
    }
}

fn expression(r: &mut Random, inputs: &[Port], depth: usize) -> String {
    const BINARY: [&str; 22] = [
        "+", "-", "*", "/", "%", "&", "|", "^", "~^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "<<", ">>", "<<<",
        ">>>", "+",
    ];
    const UNARY: [&str; 9] = ["-", "~", "!", "&", "|", "^", "~&", "~|", "+"];
    if depth == 0 {
        return leaf(r, inputs);
    }
    let name = r.of(inputs).name.clone();
    let mut e = || expression(r, inputs, depth - 1);
    let (a, b, c) = (e(), e(), e());
    match r.below(17) {
        0 => leaf(r, inputs),
        16 => format!("({name} {} 4'b{}x{})", r.of(&["===", "!=="]), r.below(2), r.below(2)),
        1 | 2 => format!("({}({a}))", r.of(&UNARY)),
        // Of a constant condition Icarus 11 and Yosys 0.23 forget that an unsigned branch makes the other one unsigned.
        3 => format!("((({a}) != ({name} ^ 1'b1)) ? ({b}) : ({c}))"),
        4 => format!("{{{}, {}}}", sized(r, inputs), sized(r, inputs)),
        5 => format!("{{{}{{{}}}}}", 1 + r.below(3), sized(r, inputs)),
        6 => format!("$signed({})", sized(r, inputs)),
        7 => format!("$unsigned({a})"),
        8 => format!("{name}[{} {}: {}]", place(r, inputs), r.of(&["+", "-"]), 1 + r.below(4)),
        9 => format!("({name} === {})", r.of(inputs).name),
        10 => format!("(({a}) ** {})", r.of(&["2", "3", "2'd3"])),
        _ => format!("(({a}) {} ({b}))", r.of(&BINARY)),
    }
}

/// What may stand inside of braces, where every part needs a width of its own.
fn sized(r: &mut Random, inputs: &[Port]) -> String {
    r.of(inputs).name.clone()
}

/// The module that runs all others on their vectors, and prints a line each.
pub fn bench(modules: &[Written], vectors: usize) -> String {
    let (mut wires, mut steps) = (String::new(), String::new());
    for (k, module) in modules.iter().enumerate() {
        let named = |port: &Port, kind: &str| format!(" {kind} [{}:0] m{k}{};\n", port.width - 1, port.name);
        wires.extend(module.inputs.iter().map(|port| named(port, "reg")));
        wires.extend(module.outputs.iter().map(|port| named(port, "wire")));
        let ports = module.inputs.iter().chain(&module.outputs);
        let joined: Vec<String> = ports.map(|port| format!(".{0}(m{k}{0})", port.name)).collect();
        wires += &format!(" m{k} u{k}({});\n", joined.join(", "));
        let shown: String = module.outputs.iter().map(|port| format!(", m{k}{}", port.name)).collect();
        for vector in 0..vectors {
            for (port, value) in module.inputs.iter().zip(module.vector(vector)) {
                steps += &format!("  m{k}{} = {}'d{value};\n", port.name, port.width);
            }
            steps += &format!("  #1 $display(\"{k} %b %b %b\"{shown});\n");
        }
    }
    format!("module bench;\n{wires} initial begin\n{steps} end\nendmodule\n")
}
