// The intersection of two sets of N words of L bits, by sort, compare, shuffle (Huang, Evans, Katz, NDSS 2012, section 5).
//
// Both give their words in ascending order, without zero. Merged, equal words stand side by side; each pair leaves its
// word, all else zero; and a network that Bob sets at random hides where they stood.
module psi_sort #(parameter N = 16, L = 32) (
    (* party = "alice" *) input [N*L-1:0] a,
    (* party = "bob" *)   input [N*L-1:0] b,
    (* party = "bob" *)   input [N*$clog2(N)-N:0] switches,
    output [N*L-1:0] y
);
    reg [2*N*L-1:0] merged;
    reg [N*L-1:0] left;
    reg [L-1:0] low, high, first, second, third;
    integer i, j, gap;

    // Batcher's bitonic merger: one list ascends, the other descends.
    always @* begin
        for (i = 0; i < N; i = i + 1) begin
            merged[L*i +: L] = a[L*i +: L];
            merged[L*(2*N-1-i) +: L] = b[L*i +: L];
        end
        for (gap = N; gap > 0; gap = gap / 2)
            for (j = 0; j < 2 * N; j = j + 2 * gap)
                for (i = j; i < j + gap; i = i + 1) begin
                    low = merged[L*i +: L];
                    high = merged[L*(i+gap) +: L];
                    merged[L*i +: L] = high < low ? high : low;
                    merged[L*(i+gap) +: L] = high < low ? low : high;
                end
    end

    // Of three words behind one another no more than one pair is equal, since no list has a word twice.
    always @*
        for (i = 0; i < N; i = i + 1) begin
            first = i == 0 ? {L{1'b0}} : merged[L*(2*i-1) +: L];
            second = merged[2*L*i +: L];
            third = merged[L*(2*i+1) +: L];
            left[L*i +: L] = second == first || second == third ? second : {L{1'b0}};
        end

    shuffle #(N, L) hide(left, switches, y);
endmodule

// Waksman's network of N log N - N + 1 switches, of which each exchanges two words if its bit is set.
module shuffle #(parameter N = 2, L = 1) (
    input [N*L-1:0] x,
    input [N*$clog2(N)-N:0] s,
    output [N*L-1:0] y
);
    generate
        if (N == 2) begin : pair
            assign y = s[0] ? {x[0 +: L], x[L +: L]} : x;
        end else begin : halves
            localparam H = N / 2, INNER = H * $clog2(H) - H + 1;
            wire [H*L-1:0] upper, lower, upper_out, lower_out;
            genvar i;
            for (i = 0; i < H; i = i + 1) begin : outer
                wire [L-1:0] one = x[2*L*i +: L], two = x[2*L*i+L +: L];
                assign upper[L*i +: L] = s[i] ? two : one;
                assign lower[L*i +: L] = s[i] ? one : two;
                wire [L-1:0] above = upper_out[L*i +: L], below = lower_out[L*i +: L];
                // The first pair behind the halves needs no switch.
                if (i == 0) begin : fixed
                    assign y[0 +: 2*L] = {below, above};
                end else begin : switched
                    assign y[2*L*i +: 2*L] = s[H + i - 1] ? {above, below} : {below, above};
                end
            end
            shuffle #(H, L) first(upper, s[N - 1 +: INNER], upper_out);
            shuffle #(H, L) second(lower, s[N - 1 + INNER +: INNER], lower_out);
        end
    endgenerate
endmodule
