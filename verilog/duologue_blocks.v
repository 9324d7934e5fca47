// Blocks of the library by name. `duologue compile` knows these modules without this file: an instance becomes the block that
// the attribute names, with the module's parameters in braces, and nobody looks into the module. For simulators each has a
// plain model, which Yosys does not see (it defines SYNTHESIS).
//
// Numbers in floating point have, from the lowest bit, FRACTION bits of fraction, EXPONENT bits of exponent, and a sign. MODE
// is "ieee" (denormals, infinities, one quiet NaN: exponent and the top bit of the fraction set) or "flush": no denormals,
// which count as zeros, and no NaN, for which +infinity stands. ROUNDING is 0 to nearest, ties to even; 1 to nearest, ties away
// from zero; 2 down; 3 up; 4 towards zero. `flags` has from bit 0 on: invalid, divide by zero, overflow, underflow (tiny before
// rounding), inexact. Without ROUNDING all round as 0, and have no flags: a quotient and a root cost less then.
//
// The models of arithmetic are exact, for formats of up to 12 bits of exponent. Those of elementary functions compute in
// binary64 and round again, for formats up to that: model and block are each less than one unit in the last place from the
// exact value, so that they may differ in the last bit.

`ifndef SYNTHESIS
`define DUOLOGUE_FORMAT .EXPONENT(EXPONENT), .FRACTION(FRACTION), .MODE(MODE)
`endif

// a + b.
(* duologue_block = "fp_add_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_add #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_add #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .out(out), .flags());
`endif
endmodule

// a + b, in any direction, with flags.
(* duologue_block = "fp_add_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_add_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_add #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .b(b), .out(out), .flags(flags));
`endif
endmodule

// a - b.
(* duologue_block = "fp_sub_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_sub #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_add #(`DUOLOGUE_FORMAT)
        model(.a(a), .b({!b[EXPONENT+FRACTION], b[EXPONENT+FRACTION-1:0]}), .out(out), .flags());
`endif
endmodule

// a - b, in any direction, with flags.
(* duologue_block = "fp_sub_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_sub_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_add #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .b({!b[EXPONENT+FRACTION], b[EXPONENT+FRACTION-1:0]}), .out(out), .flags(flags));
`endif
endmodule

// a b.
(* duologue_block = "fp_mul_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_mul #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_mul #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .out(out), .flags());
`endif
endmodule

// a b, in any direction, with flags.
(* duologue_block = "fp_mul_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_mul_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_mul #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .b(b), .out(out), .flags(flags));
`endif
endmodule

// a a.
(* duologue_block = "fp_sqr_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_sqr #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_mul #(`DUOLOGUE_FORMAT) model(.a(a), .b(a), .out(out), .flags());
`endif
endmodule

// a a, in any direction, with flags.
(* duologue_block = "fp_sqr_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_sqr_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_mul #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .b(a), .out(out), .flags(flags));
`endif
endmodule

// a b + c, rounded once.
(* duologue_block = "fp_fma_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_fma #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b, c,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_fma #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .c(c), .out(out), .flags());
`endif
endmodule

// a b + c, rounded once, in any direction, with flags.
(* duologue_block = "fp_fma_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_fma_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b, c,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_fma #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .b(b), .c(c), .out(out), .flags(flags));
`endif
endmodule

// a / b.
(* duologue_block = "fp_div_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_div #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_div #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .out(out), .flags());
`endif
endmodule

// a / b, in any direction, with flags.
(* duologue_block = "fp_div_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_div_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_div #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .b(b), .out(out), .flags(flags));
`endif
endmodule

// The square root of a.
(* duologue_block = "fp_sqrt_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_sqrt #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    duologue_model_sqrt #(`DUOLOGUE_FORMAT) model(.a(a), .out(out), .flags());
`endif
endmodule

// The square root of a, in any direction, with flags.
(* duologue_block = "fp_sqrt_{MODE}_rounded:{EXPONENT}x{FRACTION}x{ROUNDING}x1" *)
module duologue_fp_sqrt_rounded #(parameter EXPONENT = 8, FRACTION = 23, ROUNDING = 0, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
`ifndef SYNTHESIS
    duologue_model_sqrt #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING))
        model(.a(a), .out(out), .flags(flags));
`endif
endmodule

// a < b, a = b, a > b, or one is NaN; with MODE "flush" there is no port `unordered`.
(* duologue_block = "fp_cmp_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_cmp #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output less, equal, greater, unordered
);
`ifndef SYNTHESIS
    duologue_model_order #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .less(less), .equal(equal), .unordered(unordered));
    assign greater = !less && !equal && !unordered;
`endif
endmodule

// a < b: not of NaN.
(* duologue_block = "fp_lt_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_lt #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (input [EXPONENT+FRACTION:0] a, b, output out);
`ifndef SYNTHESIS
    duologue_model_order #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .less(out), .equal(), .unordered());
`endif
endmodule

// The lesser number; NaN is passed over, and -0 is below +0.
(* duologue_block = "fp_min_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_min #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    wire less, equal, unordered;
    wire [EXPONENT+FRACTION:0] x, y;
    duologue_model_canonical #(`DUOLOGUE_FORMAT) of_a(.a(a), .out(x)), of_b(.a(b), .out(y));
    duologue_model_order #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .less(less), .equal(equal), .unordered(unordered));
    wire first = less || equal && a[EXPONENT+FRACTION];
    wire is_nan = MODE != "flush" && a[EXPONENT+FRACTION-1:0] > {{EXPONENT{1'b1}}, {FRACTION{1'b0}}};
    assign out = unordered ? is_nan ? y : x : first ? x : y;
`endif
endmodule

// The greater number; NaN is passed over, and -0 is below +0.
(* duologue_block = "fp_max_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_max #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    wire less, equal, unordered;
    wire [EXPONENT+FRACTION:0] x, y;
    duologue_model_canonical #(`DUOLOGUE_FORMAT) of_a(.a(a), .out(x)), of_b(.a(b), .out(y));
    duologue_model_order #(`DUOLOGUE_FORMAT) model(.a(a), .b(b), .less(less), .equal(equal), .unordered(unordered));
    wire first = less || equal && a[EXPONENT+FRACTION];
    wire is_nan = MODE != "flush" && a[EXPONENT+FRACTION-1:0] > {{EXPONENT{1'b1}}, {FRACTION{1'b0}}};
    assign out = unordered ? is_nan ? y : x : !first ? x : y;
`endif
endmodule

// A whole number: TO is "round" (to nearest, ties to even), "round_away" (ties away from zero), "floor", "ceil" or "trunc".
(* duologue_block = "fp_{TO}_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_integral #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", TO = "round") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    localparam ROUNDING = TO == "round" ? 0 : TO == "round_away" ? 1 : TO == "floor" ? 2 : TO == "ceil" ? 3 : 4;
    duologue_model_integral #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING)) model(.a(a), .out(out));
`endif
endmodule

// An integer in two's complement as a number.
(* duologue_block = "fp_from_int_{MODE}:{EXPONENT}x{FRACTION}x{WIDTH}" *)
module duologue_fp_from_int #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", WIDTH = 32) (
    input signed [WIDTH-1:0] a,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    wire [WIDTH-1:0] magnitude = a[WIDTH-1] ? -a : a;
    duologue_model_pack #(`DUOLOGUE_FORMAT, .WIDTH(WIDTH)) model(
        .sign(a[WIDTH-1]), .infinite(1'b0), .nan(1'b0), .more(1'b0), .magnitude(magnitude), .scale(0), .out(out),
        .overflow(), .underflow(), .inexact());
`endif
endmodule

// An unsigned integer as a number.
(* duologue_block = "fp_from_uint_{MODE}:{EXPONENT}x{FRACTION}x{WIDTH}" *)
module duologue_fp_from_uint #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", WIDTH = 32) (
    input [WIDTH-1:0] a,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    wire [WIDTH-1:0] magnitude = a;
    duologue_model_pack #(`DUOLOGUE_FORMAT, .WIDTH(WIDTH)) model(
        .sign(1'b0), .infinite(1'b0), .nan(1'b0), .more(1'b0), .magnitude(magnitude), .scale(0), .out(out),
        .overflow(), .underflow(), .inexact());
`endif
endmodule

// An integer in two's complement, towards zero; beyond the ends the nearest one, of NaN 0.
(* duologue_block = "fp_to_int_{MODE}:{EXPONENT}x{FRACTION}x{WIDTH}" *)
module duologue_fp_to_int #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", WIDTH = 32) (
    input [EXPONENT+FRACTION:0] a,
    output signed [WIDTH-1:0] out
);
`ifndef SYNTHESIS
    duologue_model_integer #(`DUOLOGUE_FORMAT, .WIDTH(WIDTH), .SIGNED(1)) model(.a(a), .out(out));
`endif
endmodule

// An unsigned integer, towards zero; beyond the ends the nearest one, of NaN 0.
(* duologue_block = "fp_to_uint_{MODE}:{EXPONENT}x{FRACTION}x{WIDTH}" *)
module duologue_fp_to_uint #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", WIDTH = 32) (
    input [EXPONENT+FRACTION:0] a,
    output [WIDTH-1:0] out
);
`ifndef SYNTHESIS
    duologue_model_integer #(`DUOLOGUE_FORMAT, .WIDTH(WIDTH), .SIGNED(0)) model(.a(a), .out(out));
`endif
endmodule

// A number in another format.
(* duologue_block = "fp_convert_{MODE}:{EXPONENT}x{FRACTION}x{TO_EXPONENT}x{TO_FRACTION}" *)
module duologue_fp_convert #(parameter EXPONENT = 8, FRACTION = 23, TO_EXPONENT = 11, TO_FRACTION = 52, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output [TO_EXPONENT+TO_FRACTION:0] out
);
`ifndef SYNTHESIS
    wire sign, infinite, nan;
    wire [FRACTION:0] significand;
    wire signed [31:0] scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT) parts(.a(a), .sign(sign), .infinite(infinite), .nan(nan),
        .signalling(), .significand(significand), .scale(scale));
    duologue_model_pack #(.EXPONENT(TO_EXPONENT), .FRACTION(TO_FRACTION), .MODE(MODE), .WIDTH(FRACTION + 1)) model(
        .sign(sign), .infinite(infinite), .nan(nan), .more(1'b0), .magnitude(significand), .scale(scale), .out(out),
        .overflow(), .underflow(), .inexact());
`endif
endmodule

// An elementary function: FUNCTION is "exp", "exp2", "exp10", "ln", "log2", "log10", "sin", "cos", "tan", "asin", "atan" (in
// radians), "sin_pi" or "cos_pi" (of pi a).
(* duologue_block = "fp_{FUNCTION}_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_function #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", FUNCTION = "exp") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    wire [63:0] x;
    reg [63:0] y;
    duologue_fp_convert #(.EXPONENT(EXPONENT), .FRACTION(FRACTION), .TO_EXPONENT(11), .TO_FRACTION(52), .MODE(MODE))
        widened(.a(a), .out(x));
    duologue_fp_convert #(.EXPONENT(11), .FRACTION(52), .TO_EXPONENT(EXPONENT), .TO_FRACTION(FRACTION), .MODE(MODE))
        narrowed(.a(y), .out(out));
    // For half-turns: the nearest whole number, whether it is odd, and what is left, which is exact.
    real of, whole, left, turned;
    reg odd;
    always @* begin
        of = $bitstoreal(x);
        whole = $floor(of + 0.5);
        odd = whole - 2.0 * $floor(whole / 2.0) > 0.5;
        left = of - whole;
        turned = 3.14159265358979323846 * (FUNCTION == "sin_pi" ? left : left < 0.0 ? 0.5 + left : 0.5 - left);
        case (FUNCTION)
            "exp": y = $realtobits($exp(of));
            "exp2": y = $realtobits($pow(2.0, of));
            "exp10": y = $realtobits($pow(10.0, of));
            "ln": y = $realtobits($ln(of));
            "log2": y = $realtobits($ln(of) / $ln(2.0));
            "log10": y = $realtobits($log10(of));
            "sin": y = $realtobits($sin(of));
            "cos": y = $realtobits($cos(of));
            "tan": y = $realtobits($tan(of));
            "asin": y = $realtobits($asin(of));
            "atan": y = $realtobits($atan(of));
            default: y = $realtobits(odd ? -$sin(turned) : $sin(turned));
        endcase
        if (FUNCTION == "sin_pi" && left == 0.0) y = {x[63], 63'b0};
        if (FUNCTION == "cos_pi" && y[62:0] == 0) y = 0;
        // The one NaN, or what stands for it, is positive.
        if (&y[62:52] && y[51:0] != 0) y[63] = 0;
    end
`endif
endmodule

// a to the power of b.
(* duologue_block = "fp_pow_{MODE}:{EXPONENT}x{FRACTION}" *)
module duologue_fp_pow #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out
);
`ifndef SYNTHESIS
    wire [63:0] x, y;
    reg [63:0] power;
    duologue_fp_convert #(.EXPONENT(EXPONENT), .FRACTION(FRACTION), .TO_EXPONENT(11), .TO_FRACTION(52), .MODE(MODE))
        first(.a(a), .out(x)), second(.a(b), .out(y));
    always @* begin
        power = $realtobits($pow($bitstoreal(x), $bitstoreal(y)));
        // The one NaN, or what stands for it, is positive.
        if (&power[62:52] && power[51:0] != 0) power[63] = 0;
    end
    duologue_fp_convert #(.EXPONENT(11), .FRACTION(52), .TO_EXPONENT(EXPONENT), .TO_FRACTION(FRACTION), .MODE(MODE))
        narrowed(.a(power), .out(out));
`endif
endmodule

// COUNT words in ascending order, the first one lowest, by odd-even merges.
(* duologue_block = "sort_odd_even:{COUNT}x{WIDTH}x0" *)
module duologue_sort #(parameter COUNT = 16, WIDTH = 32) (
    input [COUNT*WIDTH-1:0] keys,
    output [COUNT*WIDTH-1:0] keys_out
);
`ifndef SYNTHESIS
    duologue_model_sort #(.COUNT(COUNT), .WIDTH(WIDTH), .PAYLOAD(1))
        model(.keys(keys), .payloads({COUNT{1'b0}}), .keys_out(keys_out), .payloads_out());
`endif
endmodule

// The same with a payload that goes with each key; of equal keys the payloads may stand in any order.
(* duologue_block = "sort_odd_even:{COUNT}x{WIDTH}x{PAYLOAD}" *)
module duologue_sort_records #(parameter COUNT = 16, WIDTH = 32, PAYLOAD = 32) (
    input [COUNT*WIDTH-1:0] keys,
    input [COUNT*PAYLOAD-1:0] payloads,
    output [COUNT*WIDTH-1:0] keys_out,
    output [COUNT*PAYLOAD-1:0] payloads_out
);
`ifndef SYNTHESIS
    duologue_model_sort #(.COUNT(COUNT), .WIDTH(WIDTH), .PAYLOAD(PAYLOAD))
        model(.keys(keys), .payloads(payloads), .keys_out(keys_out), .payloads_out(payloads_out));
`endif
endmodule

// The word in the middle of COUNT words, the lower one of an even count.
(* duologue_block = "median:{COUNT}x{WIDTH}" *)
module duologue_median #(parameter COUNT = 9, WIDTH = 32) (input [COUNT*WIDTH-1:0] words, output [WIDTH-1:0] median);
`ifndef SYNTHESIS
    wire [COUNT*WIDTH-1:0] sorted;
    duologue_sort #(.COUNT(COUNT), .WIDTH(WIDTH)) model(.keys(words), .keys_out(sorted));
    assign median = sorted[(COUNT-1)/2*WIDTH +: WIDTH];
`endif
endmodule

// The least (WHICH "min_index") or the greatest word ("max_index") of COUNT words and its index, the lowest of equals; in two's
// complement "signed_min_index" and "signed_max_index".
(* duologue_block = "{WHICH}:{COUNT}x{WIDTH}" *)
module duologue_extreme #(parameter COUNT = 16, WIDTH = 32, WHICH = "min_index") (
    input [COUNT*WIDTH-1:0] words,
    output reg [WIDTH-1:0] out,
    output reg [$clog2(COUNT)-1:0] index
);
`ifndef SYNTHESIS
    localparam IS_SIGNED = WHICH == "signed_min_index" || WHICH == "signed_max_index";
    localparam IS_LEAST = WHICH == "min_index" || WHICH == "signed_min_index";
    // With these bits turned over, the word that is sought is the least unsigned one.
    wire [WIDTH-1:0] turn = {WIDTH{!IS_LEAST}} ^ IS_SIGNED << (WIDTH - 1);
    integer i;
    always @* begin
        index = 0;
        out = words[WIDTH-1:0];
        for (i = 1; i < COUNT; i = i + 1)
            if ((words[i*WIDTH +: WIDTH] ^ turn) < (out ^ turn)) begin
                out = words[i*WIDTH +: WIDTH];
                index = i;
            end
    end
`endif
endmodule

// How many bits are one.
(* duologue_block = "population_count:{WIDTH}" *)
module duologue_population_count #(parameter WIDTH = 32) (input [WIDTH-1:0] a, output reg [$clog2(WIDTH+1)-1:0] out);
`ifndef SYNTHESIS
    integer i;
    always @* begin
        out = 0;
        for (i = 0; i < WIDTH; i = i + 1) out = out + a[i];
    end
`endif
endmodule

// How many zeros stand above the highest one.
(* duologue_block = "leading_zeros:{WIDTH}" *)
module duologue_leading_zeros #(parameter WIDTH = 32) (input [WIDTH-1:0] a, output reg [$clog2(WIDTH+1)-1:0] out);
`ifndef SYNTHESIS
    integer i;
    always @* begin
        out = WIDTH;
        for (i = 0; i < WIDTH; i = i + 1) if (a[i]) out = WIDTH - 1 - i;
    end
`endif
endmodule

// The square root of an integer rounded down, and the integer less its square.
(* duologue_block = "square_root:{WIDTH}" *)
module duologue_square_root #(parameter WIDTH = 32) (
    input [WIDTH-1:0] a,
    output reg [(WIDTH+1)/2-1:0] root,
    output [(WIDTH+1)/2:0] remainder
);
`ifndef SYNTHESIS
    reg [WIDTH+1:0] trial;
    integer i;
    always @* begin
        root = 0;
        for (i = (WIDTH + 1) / 2 - 1; i >= 0; i = i - 1) begin
            trial = root;
            trial[i] = 1;
            if (trial * trial <= a) root = trial;
        end
    end
    wire [WIDTH+1:0] square = root;
    assign remainder = a - square * square;
`endif
endmodule

// The words whose bit of `valid` is set to the front, in their order; what stands behind them may be any of the others.
(* duologue_block = "compact:{COUNT}x{WIDTH}" *)
module duologue_compact #(parameter COUNT = 16, WIDTH = 32) (
    input [COUNT*WIDTH-1:0] words,
    input [COUNT-1:0] valid,
    output reg [COUNT*WIDTH-1:0] words_out
);
`ifndef SYNTHESIS
    integer i, n;
    always @* begin
        words_out = {COUNT*WIDTH{1'bx}};
        n = 0;
        for (i = 0; i < COUNT; i = i + 1)
            if (valid[i]) begin
                words_out[n*WIDTH +: WIDTH] = words[i*WIDTH +: WIDTH];
                n = n + 1;
            end
    end
`endif
endmodule

// The encryption of a block by AES-128, with its key schedule. Byte i of key and blocks stands at bits 8i to 8i + 7.
(* duologue_block = "aes128" *)
module duologue_aes128 (input [127:0] key, block, output reg [127:0] out);
`ifndef SYNTHESIS
    function [7:0] twice(input [7:0] a);
        twice = a << 1 ^ (a[7] ? 8'h1b : 8'h00);
    endfunction

    // The inverse, which is the power 254, and the affine map behind it.
    function [7:0] substitute(input [7:0] a);
        integer i, j;
        reg [7:0] power, factor, product;
        begin
            power = 1;
            for (i = 0; i < 254; i = i + 1) begin
                factor = a;
                product = 0;
                for (j = 0; j < 8; j = j + 1) begin
                    if (power[j]) product = product ^ factor;
                    factor = twice(factor);
                end
                power = product;
            end
            substitute = power ^ {power[6:0], power[7]} ^ {power[5:0], power[7:6]} ^ {power[4:0], power[7:5]}
                ^ {power[3:0], power[7:4]} ^ 8'h63;
        end
    endfunction

    reg [7:0] box [0:255];
    reg [127:0] k, s;
    reg [7:0] constant;
    integer i, n;
    initial for (n = 0; n < 256; n = n + 1) box[n] = substitute(n);
    always @* begin
        k = key;
        out = block ^ key;
        constant = 1;
        for (n = 1; n <= 10; n = n + 1) begin
            for (i = 0; i < 16; i = i + 1) s[8*i +: 8] = box[out[8*(5*i%16) +: 8]];
            for (i = 0; i < 4; i = i + 1) k[8*i +: 8] = k[8*i +: 8] ^ box[k[96+8*((i+1)%4) +: 8]];
            k[7:0] = k[7:0] ^ constant;
            constant = twice(constant);
            for (i = 4; i < 16; i = i + 1) k[8*i +: 8] = k[8*i +: 8] ^ k[8*i-32 +: 8];
            for (i = 0; i < 16; i = i + 1)
                out[8*i +: 8] = k[8*i +: 8] ^ (n == 10 ? s[8*i +: 8] : s[8*i +: 8] ^ twice(s[8*i +: 8]
                    ^ s[8*(i/4*4+(i+1)%4) +: 8]) ^ s[32*(i/4) +: 8] ^ s[32*(i/4)+8 +: 8] ^ s[32*(i/4)+16 +: 8]
                    ^ s[32*(i/4)+24 +: 8]);
        end
    end
`endif
endmodule

// The compression of SHA-256: byte i of state and block stands at bits 8i to 8i + 7, the standard's words big-endian in them.
(* duologue_block = "sha256_compress" *)
module duologue_sha256_compress (input [255:0] state, input [511:0] block, output reg [255:0] out);
`ifndef SYNTHESIS
    function [31:0] turn(input [31:0] x, input integer n);
        turn = x >> n | x << (32 - n);
    endfunction

    function [31:0] swap(input [31:0] x);
        swap = {x[7:0], x[15:8], x[23:16], x[31:24]};
    endfunction

    // 32 bits of the cube roots of the primes, after the point.
    reg [31:0] k [0:63], w [0:63], v [0:7], t, u;
    integer i, n, prime;
    real root;
    initial begin
        n = 0;
        for (prime = 2; n < 64; prime = prime + 1) begin
            for (i = 2; i < prime && prime % i != 0; i = i + 1) ;
            if (i == prime) begin
                root = $pow(prime, 1.0 / 3.0);
                k[n] = $rtoi((root - $floor(root)) * 65536.0);
                k[n] = k[n] << 16 | $rtoi((root * 65536.0 - $floor(root * 65536.0)) * 65536.0);
                n = n + 1;
            end
        end
    end
    always @* begin
        for (i = 0; i < 8; i = i + 1) v[i] = swap(state[32*i +: 32]);
        for (i = 0; i < 64; i = i + 1) begin
            if (i < 16) w[i] = swap(block[32*i +: 32]);
            else w[i] = w[i-16] + (turn(w[i-15], 7) ^ turn(w[i-15], 18) ^ w[i-15] >> 3) + w[i-7]
                + (turn(w[i-2], 17) ^ turn(w[i-2], 19) ^ w[i-2] >> 10);
            t = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + (v[4] & v[5] ^ ~v[4] & v[6]) + k[i] + w[i];
            u = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + (v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]);
            for (n = 7; n > 0; n = n - 1) v[n] = v[n-1];
            v[4] = v[4] + t;
            v[0] = t + u;
        end
        for (i = 0; i < 8; i = i + 1) out[32*i +: 32] = swap(swap(state[32*i +: 32]) + v[i]);
    end
`endif
endmodule

// The permutation of SHA-3: bit z of lane (x, y) is bit 64 (5y + x) + z.
(* duologue_block = "keccak_f1600" *)
module duologue_keccak_f1600 (input [1599:0] state, output reg [1599:0] out);
`ifndef SYNTHESIS
    reg [63:0] a [0:24], b [0:24], c [0:4], t;
    reg [7:0] lfsr;
    integer i, x, y, n, round;
    always @* begin
        lfsr = 1;
        for (i = 0; i < 25; i = i + 1) a[i] = state[64*i +: 64];
        for (round = 0; round < 24; round = round + 1) begin
            for (x = 0; x < 5; x = x + 1) c[x] = a[x] ^ a[x+5] ^ a[x+10] ^ a[x+15] ^ a[x+20];
            for (i = 0; i < 25; i = i + 1) a[i] = a[i] ^ c[(i+4)%5] ^ {c[(i+1)%5][62:0], c[(i+1)%5][63]};
            b[0] = a[0];
            x = 1;
            y = 0;
            for (n = 1; n <= 24; n = n + 1) begin
                i = n * (n + 1) / 2 % 64;
                b[5*((2*x+3*y)%5)+y] = a[5*y+x] << i | a[5*y+x] >> (64 - i);
                i = x;
                x = y;
                y = (2 * i + 3 * y) % 5;
            end
            for (i = 0; i < 25; i = i + 1) a[i] = b[i] ^ ~b[i/5*5+(i+1)%5] & b[i/5*5+(i+2)%5];
            for (n = 0; n < 7; n = n + 1) begin
                a[0][(1<<n)-1] = a[0][(1<<n)-1] ^ lfsr[0];
                lfsr = lfsr << 1 ^ (lfsr[7] ? 8'h71 : 8'h00);
            end
        end
        for (i = 0; i < 25; i = i + 1) out[64*i +: 64] = a[i];
    end
`endif
endmodule

// 64 bytes of the key stream of ChaCha20 (RFC 8439), the first one at bits 0 to 7, as all bytes here.
(* duologue_block = "chacha20_block" *)
module duologue_chacha20_block (input [255:0] key, input [31:0] counter, input [95:0] nonce, output reg [511:0] out);
`ifndef SYNTHESIS
    reg [31:0] w [0:15];
    wire [511:0] start = {nonce, counter, key, 128'h6b206574_79622d32_3320646e_61707865};
    integer i, round, p, q, r, s;
    always @* begin
        for (i = 0; i < 16; i = i + 1) w[i] = start[32*i +: 32];
        for (round = 0; round < 20; round = round + 1)
            for (i = 0; i < 4; i = i + 1) begin
                p = i;
                q = 4 + (round % 2 ? (i + 1) % 4 : i);
                r = 8 + (round % 2 ? (i + 2) % 4 : i);
                s = 12 + (round % 2 ? (i + 3) % 4 : i);
                w[p] = w[p] + w[q]; w[s] = w[s] ^ w[p]; w[s] = {w[s][15:0], w[s][31:16]};
                w[r] = w[r] + w[s]; w[q] = w[q] ^ w[r]; w[q] = {w[q][19:0], w[q][31:20]};
                w[p] = w[p] + w[q]; w[s] = w[s] ^ w[p]; w[s] = {w[s][23:0], w[s][31:24]};
                w[r] = w[r] + w[s]; w[q] = w[q] ^ w[r]; w[q] = {w[q][24:0], w[q][31:25]};
            end
        for (i = 0; i < 16; i = i + 1) out[32*i +: 32] = start[32*i +: 32] + w[i];
    end
`endif
endmodule

`ifndef SYNTHESIS
// The parts of a number: (-1)^sign significand 2^scale, unless it is infinite or NaN.
module duologue_model_unpack #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output sign, infinite, nan, signalling,
    output [FRACTION:0] significand,
    output signed [31:0] scale
);
    localparam BIAS = (1 << (EXPONENT - 1)) - 1;
    wire [EXPONENT-1:0] exponent = a[FRACTION +: EXPONENT];
    wire [FRACTION-1:0] fraction = a[FRACTION-1:0];
    wire flush = MODE == "flush";
    assign sign = a[EXPONENT+FRACTION];
    assign infinite = &exponent && (flush || fraction == 0);
    assign nan = &exponent && !infinite;
    assign signalling = nan && !fraction[FRACTION-1];
    assign significand = exponent == 0 ? flush ? 0 : fraction : {1'b1, fraction};
    assign scale = $signed({1'b0, exponent}) + (exponent == 0) - BIAS - FRACTION;
endmodule

// The number of a format nearest to (-1)^sign magnitude 2^scale, or the neighbour in another direction; `more` says that the
// exact magnitude goes on below its lowest bit.
module duologue_model_pack #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0, WIDTH = 64) (
    input sign, infinite, nan, more,
    input [WIDTH-1:0] magnitude,
    input signed [31:0] scale,
    output reg [EXPONENT+FRACTION:0] out,
    output reg overflow, underflow, inexact
);
    localparam BIAS = (1 << (EXPONENT - 1)) - 1, TOP = (1 << EXPONENT) - 1;
    localparam FLUSH = MODE == "flush";
    reg [WIDTH+FRACTION+2:0] kept;
    reg [EXPONENT-1:0] stored;
    reg half, rest, outwards, tiny;
    integer i, exponent, drop;
    always @* begin
        exponent = scale + BIAS;
        for (i = 0; i < WIDTH; i = i + 1) if (magnitude[i]) exponent = i + scale + BIAS;
        tiny = exponent < 1;
        drop = exponent - BIAS - FRACTION - scale;
        if (tiny && !FLUSH) drop = 1 - BIAS - FRACTION - scale;
        kept = magnitude;
        half = 0;
        rest = more;
        if (drop < 0) kept = kept << -drop;
        for (i = 0; i < drop && i < WIDTH + 2; i = i + 1) begin
            rest = rest || half;
            half = kept[0];
            kept = kept >> 1;
        end
        outwards = ROUNDING == 2 ? sign : ROUNDING == 3 ? !sign : 0;
        inexact = half || rest;
        case (ROUNDING)
            0: kept = kept + (half && (rest || kept[0]));
            1: kept = kept + half;
            default: kept = kept + (inexact && outwards);
        endcase
        if (kept[FRACTION+1]) begin
            kept = kept >> 1;
            exponent = exponent + 1;
        end
        if (tiny && !FLUSH) exponent = kept[FRACTION];
        overflow = exponent >= TOP;
        inexact = inexact || overflow || exponent < 1 && FLUSH;
        underflow = tiny && inexact;
        stored = exponent;
        out = {sign, stored, kept[FRACTION-1:0]};
        if (overflow) out = {sign, {EXPONENT+FRACTION{1'b1}}} - (ROUNDING < 2 || outwards ? {FRACTION{1'b1}} : 1 << FRACTION);
        if (exponent < 1 && FLUSH) out = {sign, {EXPONENT+FRACTION{1'b0}}} | outwards << FRACTION;
        if (magnitude == 0 && !more || infinite || nan) begin
            {overflow, underflow, inexact} = 0;
            out = {sign, {EXPONENT{infinite}}, {FRACTION{1'b0}}};
        end
        if (nan) out = {1'b0, {EXPONENT{1'b1}}, !FLUSH, {FRACTION-1{1'b0}}};
    end
endmodule

// a + b, as integers of the lowest scale.
module duologue_model_add #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0) (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
    duologue_model_fma #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING)) model(
        .a({2'b0, {EXPONENT-1{1'b1}}, {FRACTION{1'b0}}}), .b(a), .c(b), .out(out), .flags(flags));
endmodule

// a b + c, as integers of the lowest scale.
module duologue_model_fma #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0) (
    input [EXPONENT+FRACTION:0] a, b, c,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
    localparam LEAST = 4 - (1 << EXPONENT) - 2 * FRACTION, WIDTH = (2 << EXPONENT) + 2 * FRACTION + 2;
    wire [2:0] sign, infinite, nan, signalling;
    wire [FRACTION:0] p, q, r;
    wire signed [31:0] p_scale, q_scale, r_scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT)
        of_a(.a(a), .sign(sign[0]), .infinite(infinite[0]), .nan(nan[0]), .signalling(signalling[0]),
            .significand(p), .scale(p_scale)),
        of_b(.a(b), .sign(sign[1]), .infinite(infinite[1]), .nan(nan[1]), .signalling(signalling[1]),
            .significand(q), .scale(q_scale)),
        of_c(.a(c), .sign(sign[2]), .infinite(infinite[2]), .nan(nan[2]), .signalling(signalling[2]),
            .significand(r), .scale(r_scale));
    wire signed [31:0] least = LEAST;
    wire [2*FRACTION+1:0] significand = p * q;
    wire [WIDTH-1:0] product = significand, first = product << (p_scale + q_scale - LEAST);
    wire [WIDTH-1:0] addend = r, second = addend << (r_scale - LEAST);
    wire opposite = ^sign;
    wire [WIDTH-1:0] magnitude = !opposite ? first + second : first > second ? first - second : second - first;
    wire lost = infinite[0] && q == 0 || infinite[1] && p == 0;
    wire far = infinite[0] || infinite[1];
    wire invalid = lost || far && infinite[2] && opposite && nan[1:0] == 0;
    wire of_sum = opposite && first == second ? ROUNDING == 2 : first < second ? sign[2] : sign[0] ^ sign[1];
    duologue_model_pack #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING), .WIDTH(WIDTH)) model(
        .sign(far ? sign[0] ^ sign[1] : infinite[2] ? sign[2] : of_sum), .infinite(far || infinite[2]),
        .nan(nan != 0 || invalid), .more(1'b0), .magnitude(magnitude), .scale(least), .out(out),
        .overflow(flags[2]), .underflow(flags[3]), .inexact(flags[4]));
    assign flags[1:0] = {1'b0, invalid || signalling != 0};
endmodule

module duologue_model_mul #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0) (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
    wire [1:0] sign, infinite, nan, signalling;
    wire [FRACTION:0] p, q;
    wire signed [31:0] p_scale, q_scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT)
        of_a(.a(a), .sign(sign[0]), .infinite(infinite[0]), .nan(nan[0]), .signalling(signalling[0]),
            .significand(p), .scale(p_scale)),
        of_b(.a(b), .sign(sign[1]), .infinite(infinite[1]), .nan(nan[1]), .signalling(signalling[1]),
            .significand(q), .scale(q_scale));
    wire [2*FRACTION+1:0] product = p * q;
    wire invalid = infinite[0] && q == 0 || infinite[1] && p == 0;
    duologue_model_pack #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING), .WIDTH(2*FRACTION+2))
        model(.sign(^sign), .infinite(infinite != 0), .nan(nan != 0 || invalid), .more(1'b0), .magnitude(product),
            .scale(p_scale + q_scale), .out(out), .overflow(flags[2]), .underflow(flags[3]), .inexact(flags[4]));
    assign flags[1:0] = {1'b0, invalid || signalling != 0};
endmodule

module duologue_model_div #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0) (
    input [EXPONENT+FRACTION:0] a, b,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
    localparam MORE = 2 * FRACTION + 4, WIDTH = FRACTION + 1 + MORE;
    wire [1:0] sign, infinite, nan, signalling;
    wire [FRACTION:0] p, q;
    wire signed [31:0] p_scale, q_scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT)
        of_a(.a(a), .sign(sign[0]), .infinite(infinite[0]), .nan(nan[0]), .signalling(signalling[0]),
            .significand(p), .scale(p_scale)),
        of_b(.a(b), .sign(sign[1]), .infinite(infinite[1]), .nan(nan[1]), .signalling(signalling[1]),
            .significand(q), .scale(q_scale));
    wire [WIDTH-1:0] dividend = {p, {MORE{1'b0}}};
    reg [WIDTH-1:0] quotient;
    reg more;
    // In a process: Icarus 11 divides wide words by 1 wrongly in an assignment outside of one.
    always @* begin
        quotient = 0;
        more = 0;
        if (q != 0 && !infinite[1]) begin
            quotient = dividend / q;
            more = dividend % q != 0;
        end
    end
    wire signed [31:0] scale = p_scale - q_scale - MORE;
    wire invalid = p == 0 && q == 0 || infinite == 3;
    duologue_model_pack #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING), .WIDTH(WIDTH)) model(
        .sign(^sign), .infinite(infinite[0] || q == 0), .nan(nan != 0 || invalid),
        .more(more), .magnitude(quotient),
        .scale(scale), .out(out), .overflow(flags[2]), .underflow(flags[3]), .inexact(flags[4]));
    assign flags[1:0] = {q == 0 && p != 0 && !infinite[0] && !nan[0], invalid || signalling != 0};
endmodule

module duologue_model_sqrt #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0) (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out,
    output [4:0] flags
);
    localparam MORE = 2 * FRACTION + 4, WIDTH = FRACTION + MORE + 4;
    wire sign, infinite, nan, signalling;
    wire [FRACTION:0] significand;
    wire signed [31:0] scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT) of_a(.a(a), .sign(sign),
        .infinite(infinite), .nan(nan), .signalling(signalling), .significand(significand), .scale(scale));
    // The scale that is left is even.
    wire [WIDTH-1:0] radicand = {significand, {MORE{1'b0}}} << scale[0];
    wire signed [31:0] left = scale - $signed({1'b0, scale[0]}) - MORE, half = left >>> 1;
    reg [WIDTH-1:0] root, trial;
    integer i;
    always @* begin
        root = 0;
        for (i = WIDTH / 2 - 1; i >= 0; i = i - 1) begin
            trial = root;
            trial[i] = 1;
            if (trial * trial <= radicand) root = trial;
        end
    end
    wire invalid = sign && !nan && (infinite || significand != 0);
    duologue_model_pack #(`DUOLOGUE_FORMAT, .ROUNDING(ROUNDING), .WIDTH(WIDTH)) model(
        .sign(sign), .infinite(infinite), .nan(nan || invalid), .more(root * root != radicand), .magnitude(root),
        .scale(half), .out(out), .overflow(flags[2]), .underflow(flags[3]), .inexact(flags[4]));
    assign flags[1:0] = {1'b0, invalid || signalling};
endmodule

module duologue_model_order #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a, b,
    output less, equal, unordered
);
    wire [EXPONENT+FRACTION:0] x, y;
    duologue_model_canonical #(`DUOLOGUE_FORMAT) of_a(.a(a), .out(x)), of_b(.a(b), .out(y));
    wire [EXPONENT+FRACTION-1:0] p = x, q = y;
    wire [EXPONENT+FRACTION-1:0] infinity = {{EXPONENT{1'b1}}, {FRACTION{1'b0}}};
    wire m = x[EXPONENT+FRACTION], n = y[EXPONENT+FRACTION];
    assign unordered = p > infinity || q > infinity;
    assign equal = !unordered && (x == y || p == 0 && q == 0);
    assign less = !unordered && !equal && (m != n ? m : m ? p > q : p < q);
endmodule

// A number as results are written: one NaN, and in mode flush one zero and one infinity of each sign.
module duologue_model_canonical #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee") (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out
);
    duologue_fp_convert #(.EXPONENT(EXPONENT), .FRACTION(FRACTION), .TO_EXPONENT(EXPONENT), .TO_FRACTION(FRACTION),
        .MODE(MODE)) model(.a(a), .out(out));
endmodule

module duologue_model_integral #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", ROUNDING = 0) (
    input [EXPONENT+FRACTION:0] a,
    output [EXPONENT+FRACTION:0] out
);
    wire sign, infinite, nan;
    wire [FRACTION:0] significand;
    wire signed [31:0] scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT) of_a(.a(a), .sign(sign),
        .infinite(infinite), .nan(nan), .signalling(), .significand(significand), .scale(scale));
    reg [FRACTION:0] kept;
    reg half, rest;
    integer i;
    always @* begin
        kept = significand;
        half = 0;
        rest = 0;
        for (i = 0; i < -scale && i < FRACTION + 3; i = i + 1) begin
            rest = rest || half;
            half = kept[0];
            kept = kept >> 1;
        end
        case (ROUNDING)
            0: kept = kept + (half && (rest || kept[0]));
            1: kept = kept + half;
            2: kept = kept + ((half || rest) && sign);
            3: kept = kept + ((half || rest) && !sign);
        endcase
    end
    duologue_model_pack #(`DUOLOGUE_FORMAT, .WIDTH(FRACTION + 1)) model(
        .sign(sign), .infinite(infinite), .nan(nan), .more(1'b0), .magnitude(kept), .scale(scale < 0 ? 0 : scale),
        .out(out), .overflow(), .underflow(), .inexact());
endmodule

module duologue_model_integer #(parameter EXPONENT = 8, FRACTION = 23, MODE = "ieee", WIDTH = 32, SIGNED = 1) (
    input [EXPONENT+FRACTION:0] a,
    output [WIDTH-1:0] out
);
    wire sign, infinite, nan;
    wire [FRACTION:0] significand;
    wire signed [31:0] scale;
    duologue_model_unpack #(`DUOLOGUE_FORMAT) of_a(.a(a), .sign(sign),
        .infinite(infinite), .nan(nan), .signalling(), .significand(significand), .scale(scale));
    wire [WIDTH+FRACTION+1:0] wide = significand;
    wire [WIDTH+FRACTION+1:0] magnitude = scale < 0 ? wide >> -scale : wide << (scale > WIDTH ? WIDTH : scale);
    // The greatest magnitude that there is of this sign.
    wire [WIDTH-1:0] most = SIGNED ? {sign, {WIDTH-1{!sign}}} : {WIDTH{!sign}};
    wire [WIDTH-1:0] bounded = infinite || magnitude > most ? most : magnitude;
    assign out = nan ? 0 : sign ? -bounded : bounded;
endmodule

module duologue_model_sort #(parameter COUNT = 16, WIDTH = 32, PAYLOAD = 32) (
    input [COUNT*WIDTH-1:0] keys,
    input [COUNT*PAYLOAD-1:0] payloads,
    output reg [COUNT*WIDTH-1:0] keys_out,
    output reg [COUNT*PAYLOAD-1:0] payloads_out
);
    reg [WIDTH-1:0] key;
    reg [PAYLOAD-1:0] payload;
    integer i, j;
    always @* begin
        {key, payload} = 0;
        keys_out = keys;
        payloads_out = payloads;
        for (i = 1; i < COUNT; i = i + 1)
            for (j = i; j > 0; j = j - 1)
                if (keys_out[j*WIDTH +: WIDTH] < keys_out[(j-1)*WIDTH +: WIDTH]) begin
                    key = keys_out[j*WIDTH +: WIDTH];
                    keys_out[j*WIDTH +: WIDTH] = keys_out[(j-1)*WIDTH +: WIDTH];
                    keys_out[(j-1)*WIDTH +: WIDTH] = key;
                    payload = payloads_out[j*PAYLOAD +: PAYLOAD];
                    payloads_out[j*PAYLOAD +: PAYLOAD] = payloads_out[(j-1)*PAYLOAD +: PAYLOAD];
                    payloads_out[(j-1)*PAYLOAD +: PAYLOAD] = payload;
                end
    end
endmodule
`undef DUOLOGUE_FORMAT
`endif
