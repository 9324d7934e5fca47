// Operations on floating-point numbers of E bits of exponent and F bits of fraction, each a block by name; IEEE is 1 for
// denormals and NaN, 0 to do without both.
module float_add #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    (* party = "bob" *)   input [E+F:0] b,
    output [E+F:0] y
);
    duologue_fp_add #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush")) block(.a(a), .b(b), .out(y));
endmodule

module float_compare #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    (* party = "bob" *)   input [E+F:0] b,
    output less, equal, greater
);
    duologue_fp_cmp #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush"))
        block(.a(a), .b(b), .less(less), .equal(equal), .greater(greater), .unordered());
endmodule

module float_multiply #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    (* party = "bob" *)   input [E+F:0] b,
    output [E+F:0] y
);
    duologue_fp_mul #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush")) block(.a(a), .b(b), .out(y));
endmodule

module float_square #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    output [E+F:0] y
);
    duologue_fp_sqr #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush")) block(.a(a), .out(y));
endmodule

module float_divide #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    (* party = "bob" *)   input [E+F:0] b,
    output [E+F:0] y
);
    duologue_fp_div #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush")) block(.a(a), .b(b), .out(y));
endmodule

module float_root #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    output [E+F:0] y
);
    duologue_fp_sqrt #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush")) block(.a(a), .out(y));
endmodule

module float_exp #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    output [E+F:0] y
);
    duologue_fp_function #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush"), .FUNCTION("exp")) block(.a(a), .out(y));
endmodule

module float_exp2 #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    output [E+F:0] y
);
    duologue_fp_function #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush"), .FUNCTION("exp2")) block(.a(a), .out(y));
endmodule

module float_ln #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    output [E+F:0] y
);
    duologue_fp_function #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush"), .FUNCTION("ln")) block(.a(a), .out(y));
endmodule

module float_log2 #(parameter E = 8, F = 23, IEEE = 0) (
    (* party = "alice" *) input [E+F:0] a,
    output [E+F:0] y
);
    duologue_fp_function #(.EXPONENT(E), .FRACTION(F), .MODE(IEEE ? "ieee" : "flush"), .FUNCTION("log2")) block(.a(a), .out(y));
endmodule
