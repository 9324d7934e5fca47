// Whether two places of one zone are closer than a distance (Šeděnka and Gasti, ASIACCS 2014): coordinates on a plane in
// floating point, without denormals and NaN; `limit` is the square of the distance.
module proximity_utm #(parameter E = 8, F = 23) (
    (* party = "alice" *) input [E+F:0] xa, ya,
    (* party = "bob" *)   input [E+F:0] xb, yb, limit,
    (* reveal = "alice" *) output near
);
    wire [E+F:0] dx, dy, dx2, dy2, sum;
    duologue_fp_sub #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) x(.a(xa), .b(xb), .out(dx)), y(.a(ya), .b(yb), .out(dy));
    duologue_fp_sqr #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) x2(.a(dx), .out(dx2)), y2(.a(dy), .out(dy2));
    duologue_fp_add #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) both(.a(dx2), .b(dy2), .out(sum));
    duologue_fp_lt #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) compare(.a(sum), .b(limit), .out(near));
endmodule
