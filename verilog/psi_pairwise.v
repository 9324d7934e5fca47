// Which of Alice's N words are among Bob's N words of L bits (Huang, Evans, Katz, NDSS 2012, section 4.2).
module psi_pairwise #(parameter N = 16, L = 32) (
    (* party = "alice" *) input [N*L-1:0] a,
    (* party = "bob" *)   input [N*L-1:0] b,
    output reg [N-1:0] found
);
    integer i, j;
    always @* begin
        found = 0;
        for (i = 0; i < N; i = i + 1)
            for (j = 0; j < N; j = j + 1) if (a[L*i +: L] == b[L*j +: L]) found[i] = 1;
    end
endmodule
