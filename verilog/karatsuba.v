// A product of words of L bits in 2L bits by Karatsuba's three products of halves, down to words below 20 bits as in the paper.
// The middle product is that of the sums of halves; its factors' top bits are selections, so that it stays as short.
module karatsuba #(parameter L = 32) (
    (* party = "alice" *) input [L-1:0] a,
    (* party = "bob" *)   input [L-1:0] b,
    output [2*L-1:0] y
);
    generate
        if (L < 20) assign y = a * b;
        else begin : halves
            localparam LOW = (L + 1) / 2, HIGH = L - LOW;
            wire [2*HIGH-1:0] high;
            wire [2*LOW-1:0] low, differences;
            wire [LOW-1:0] a0 = a[LOW-1:0], b0 = b[LOW-1:0], a1 = a[L-1:LOW], b1 = b[L-1:LOW];
            // a0 - a1 and b1 - b0 by sign and magnitude.
            wire [LOW:0] da = a0 - a1, db = b1 - b0;
            wire [LOW-1:0] ma = da[LOW] ? -da[LOW-1:0] : da[LOW-1:0], mb = db[LOW] ? -db[LOW-1:0] : db[LOW-1:0];
            karatsuba #(HIGH) upper(a1[HIGH-1:0], b1[HIGH-1:0], high);
            karatsuba #(LOW) lower(a0, b0, low), middle(ma, mb, differences);
            wire [2*LOW+1:0] sum = da[LOW] ^ db[LOW] ? low + high - differences : low + high + differences;
            assign y = {high, low} + {sum, {LOW{1'b0}}};
        end
    endgenerate
endmodule
