// Which of Bob's four places is nearest to Alice, and is it within her limit?
module nearest (
    (* party = "alice" *)  input [15:0] x, y, limit,
    (* party = "bob" *)    input [63:0] xs, ys, // four places, 16 bits each
    (* reveal = "alice" *) output reg [1:0] place,
    (* reveal = "both" *)  output found
);
    reg [15:0] dx, dy;
    reg [16:0] distance, best;
    integer i;
    always @* begin
        best = 17'h1ffff;
        place = 0;
        for (i = 0; i < 4; i = i + 1) begin
            dx = x > xs[16*i +: 16] ? x - xs[16*i +: 16] : xs[16*i +: 16] - x;
            dy = y > ys[16*i +: 16] ? y - ys[16*i +: 16] : ys[16*i +: 16] - y;
            distance = dx + dy;
            if (distance < best) begin best = distance; place = i; end
        end
    end
    assign found = best <= limit;
endmodule
