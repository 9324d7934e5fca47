// The product of two matrices of N rows and N columns, modulo 2^(2L); rows stand behind one another.
module matrices #(parameter N = 4, L = 16) (
    (* party = "alice" *) input [N*N*L-1:0] a,
    (* party = "bob" *)   input [N*N*L-1:0] b,
    output reg [2*N*N*L-1:0] y
);
    integer row, column, i;
    reg [2*L-1:0] sum;
    always @*
        for (row = 0; row < N; row = row + 1)
            for (column = 0; column < N; column = column + 1) begin
                sum = 0;
                for (i = 0; i < N; i = i + 1)
                    sum = sum + a[L*(N*row + i) +: L] * b[L*(N*i + column) +: L];
                y[2*L*(N*row + column) +: 2*L] = sum;
            end
endmodule
