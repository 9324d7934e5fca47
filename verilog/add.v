// A sum of words of L bits.
module add #(parameter L = 32) (
    (* party = "alice" *) input [L-1:0] a,
    (* party = "bob" *)   input [L-1:0] b,
    output [L-1:0] y
);
    assign y = a + b;
endmodule
