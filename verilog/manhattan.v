// How far two places are from each other in a city of right angles: |dx| + |dy|, of which one negation is enough, since
// it is dx + dy or dx - dy up to the sign of dx.
module manhattan #(parameter L = 32) (
    (* party = "alice" *) input [L-1:0] xa, ya,
    (* party = "bob" *)   input [L-1:0] xb, yb,
    output [L:0] distance
);
    wire [L:0] dx = {1'b0, xa} - {1'b0, xb}, dy = {1'b0, ya} - {1'b0, yb};
    wire [L:0] sum = dx[L] ^ dy[L] ? dx - dy : dx + dy;
    assign distance = dx[L] ? -sum : sum;
endmodule
