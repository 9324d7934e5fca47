// How far apart two places are: the root of the sum of two squares, in single precision.
module distance (
    (* party = "alice" *) input [31:0] xa, ya,
    (* party = "bob" *)   input [31:0] xb, yb,
    output [31:0] out
);
    wire [31:0] dx, dy, dx2, sum;
    duologue_fp_sub x(.a(xa), .b(xb), .out(dx)), y(.a(ya), .b(yb), .out(dy));
    duologue_fp_sqr square(.a(dx), .out(dx2));
    duologue_fp_fma both(.a(dy), .b(dy), .c(dx2), .out(sum));
    duologue_fp_sqrt root(.a(sum), .out(out));
endmodule
