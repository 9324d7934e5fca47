// The sum of N products of words of L bits, modulo 2^(2L).
module dot #(parameter N = 16, L = 16) (
    (* party = "alice" *) input [N*L-1:0] a,
    (* party = "bob" *)   input [N*L-1:0] b,
    output reg [2*L-1:0] y
);
    integer i;
    always @* begin
        y = 0;
        for (i = 0; i < N; i = i + 1) y = y + a[L*i +: L] * b[L*i +: L];
    end
endmodule
