// Whether two places on Earth are closer than a distance e (Šeděnka and Gasti, ASIACCS 2014): coordinates from its centre in
// floating point, without denormals and NaN; `limit` is 4 R^2 sin^2(e / 2R), the square of the chord, R being the radius.
module proximity_ecef #(parameter E = 8, F = 23) (
    (* party = "alice" *) input [E+F:0] xa, ya, za,
    (* party = "bob" *)   input [E+F:0] xb, yb, zb, limit,
    (* reveal = "alice" *) output near
);
    wire [E+F:0] dx, dy, dz, dx2, dy2, dz2, two, three;
    duologue_fp_sub #(.EXPONENT(E), .FRACTION(F), .MODE("flush"))
        x(.a(xa), .b(xb), .out(dx)), y(.a(ya), .b(yb), .out(dy)), z(.a(za), .b(zb), .out(dz));
    duologue_fp_sqr #(.EXPONENT(E), .FRACTION(F), .MODE("flush"))
        x2(.a(dx), .out(dx2)), y2(.a(dy), .out(dy2)), z2(.a(dz), .out(dz2));
    duologue_fp_add #(.EXPONENT(E), .FRACTION(F), .MODE("flush"))
        xy(.a(dx2), .b(dy2), .out(two)), xyz(.a(two), .b(dz2), .out(three));
    duologue_fp_lt #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) compare(.a(three), .b(limit), .out(near));
endmodule
