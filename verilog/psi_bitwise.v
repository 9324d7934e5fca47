// The intersection of two sets of numbers below N, a bit for each number (Huang, Evans, Katz, NDSS 2012, section 4.1).
module psi_bitwise #(parameter N = 1024) (
    (* party = "alice" *) input [N-1:0] a,
    (* party = "bob" *)   input [N-1:0] b,
    output [N-1:0] y
);
    assign y = a & b;
endmodule
