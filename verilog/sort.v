// N words of L bits in ascending order, by Batcher's merges of odd and even places; N is a power of two.
module sort #(parameter N = 16, L = 32) (
    (* party = "alice" *) input [N*L/2-1:0] a,
    (* party = "bob" *)   input [N*L/2-1:0] b,
    output reg [N*L-1:0] y
);
    integer size, gap, i, j;
    reg [L-1:0] low, high;
    always @* begin
        y = {b, a};
        for (size = 1; size < N; size = 2 * size)
            for (gap = size; gap > 0; gap = gap / 2)
                for (j = gap % size; j + gap < N; j = j + 2 * gap)
                    for (i = j; i < j + gap && i + gap < N; i = i + 1)
                        if (i / (2 * size) == (i + gap) / (2 * size)) begin
                            low = y[L*i +: L];
                            high = y[L*(i+gap) +: L];
                            y[L*i +: L] = high < low ? high : low;
                            y[L*(i+gap) +: L] = high < low ? low : high;
                        end
    end
endmodule
