// The whole product of words of L bits.
module multiply #(parameter L = 32) (
    (* party = "alice" *) input [L-1:0] a,
    (* party = "bob" *)   input [L-1:0] b,
    output [2*L-1:0] y
);
    assign y = a * b;
endmodule
