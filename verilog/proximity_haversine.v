// Whether two places on Earth are closer than a distance e (Šeděnka and Gasti, ASIACCS 2014), by the haversine of the angle:
// sin^2(Dlat / 2) + cos lat_A cos lat_B sin^2(Dlon / 2) < sin^2(e / 2R), R being the radius. By the addition theorem that is a
// sum of six products of a number that Alice computes of her place and one that Bob computes of his; in floating point, without
// denormals and NaN. `limit` is sin^2(e / 2R).
module proximity_haversine #(parameter E = 8, F = 23) (
    // Of half the latitude c^2, -2 c s and s^2 (c its cosine, s its sine); and of half the longitude s^2, -2 c s and c^2, times
    // the cosine of the latitude. The first one stands lowest.
    (* party = "alice" *) input [6*(1+E+F)-1:0] a,
    // Of half the latitude s^2, c s and c^2; and of half the longitude c^2, c s and s^2, times the cosine of the latitude.
    (* party = "bob" *)   input [6*(1+E+F)-1:0] b,
    (* party = "bob" *)   input [E+F:0] limit,
    (* reveal = "alice" *) output near
);
    localparam W = 1 + E + F;
    wire [W-1:0] term [0:5], lat, latitude, lon, longitude, sum;
    genvar i;
    generate
        for (i = 0; i < 6; i = i + 1) begin : terms
            duologue_fp_mul #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) m(.a(a[W*i +: W]), .b(b[W*i +: W]), .out(term[i]));
        end
    endgenerate
    duologue_fp_add #(.EXPONENT(E), .FRACTION(F), .MODE("flush"))
        lat2(.a(term[0]), .b(term[1]), .out(lat)), lat3(.a(lat), .b(term[2]), .out(latitude)),
        lon2(.a(term[3]), .b(term[4]), .out(lon)), lon3(.a(lon), .b(term[5]), .out(longitude)),
        both(.a(latitude), .b(longitude), .out(sum));
    duologue_fp_lt #(.EXPONENT(E), .FRACTION(F), .MODE("flush")) compare(.a(sum), .b(limit), .out(near));
endmodule
