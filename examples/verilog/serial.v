// A product in as many cycles as a factor has bits.
module serial (
    input clk, load,
    (* party = "alice" *) input [15:0] a,
    (* party = "bob" *)   input [15:0] b,
    output reg [31:0] p
);
    reg [15:0] left;
    always @(posedge clk)
        if (load) begin p <= 0; left <= b; end
        else begin
            p <= {{1'b0, p[31:16]} + (left[0] ? a : 16'd0), p[15:1]};
            left <= left >> 1;
        end
endmodule
