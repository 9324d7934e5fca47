// AES-128 (FIPS 197): Alice's key, Bob's block. The first byte stands highest.
module aes128 (
    (* party = "alice" *) input [127:0] key,
    (* party = "bob" *)   input [127:0] block,
    output [127:0] y
);
    wire [127:0] keys [0:10], states [0:10];
    assign keys[0] = key, states[0] = block ^ key, y = states[10];
    genvar i;
    generate
        for (i = 1; i <= 10; i = i + 1) begin : rounds
            next_key #(i) expand(keys[i-1], keys[i]);
            round #(i == 10) step(states[i-1], keys[i], states[i]);
        end
    endgenerate
endmodule

// The key of round N from the one before it.
module next_key #(parameter N = 1) (input [127:0] k, output [127:0] y);
    localparam [7:0] CONSTANT = N < 9 ? 1 << (N - 1) : N == 9 ? 8'h1b : 8'h36;
    wire [31:0] word;
    sub one(k[23:16], word[31:24]), two(k[15:8], word[23:16]), three(k[7:0], word[15:8]), four(k[31:24], word[7:0]);
    assign y[127:96] = k[127:96] ^ word ^ {CONSTANT, 24'b0};
    assign y[95:64] = k[95:64] ^ y[127:96];
    assign y[63:32] = k[63:32] ^ y[95:64];
    assign y[31:0] = k[31:0] ^ y[63:32];
endmodule

// A round; the last one mixes no columns.
module round #(parameter LAST = 0) (input [127:0] s, k, output [127:0] y);
    function [7:0] twice(input [7:0] a);
        twice = {a[6:0], 1'b0} ^ {3'b0, a[7], a[7], 1'b0, a[7], a[7]};
    endfunction

    function [31:0] mix(input [31:0] c);
        mix = c ^ {4{c[31:24] ^ c[23:16] ^ c[15:8] ^ c[7:0]}} ^ {twice(c[31:24] ^ c[23:16]), twice(c[23:16] ^ c[15:8]),
            twice(c[15:8] ^ c[7:0]), twice(c[7:0] ^ c[31:24])};
    endfunction

    // Byte i stands at 120 - 8 i; row i % 4 goes i % 4 columns to the left.
    wire [127:0] t;
    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : bytes
            sub byte_of(s[8*(15 - (5*i) % 16) +: 8], t[8*(15-i) +: 8]);
        end
    endgenerate
    assign y = k ^ (LAST ? t : {mix(t[127:96]), mix(t[95:64]), mix(t[63:32]), mix(t[31:0])});
endmodule

// The S-box: the inverse in GF(256), written h x + l over GF(16) with x^2 = x + 8, and the affine map behind it.
module sub (input [7:0] a, output [7:0] y);
    wire [3:0] h = {^(a & 8'ha0), ^(a & 8'hac), ^(a & 8'hd2), ^(a & 8'h70)};
    wire [3:0] l = {^(a & 8'h18), ^(a & 8'hfc), ^(a & 8'h04), ^(a & 8'ha1)};
    // The norm is 8 h^2 + h l + l^2, of which squares are linear.
    wire [3:0] product, high, low;
    wire [3:0] norm = product ^ {h[0] ^ h[2] ^ h[3], h[1], h[1] ^ h[2] ^ h[3], h[2]}
        ^ {l[3], l[1] ^ l[3], l[2], l[0] ^ l[2]};
    wire [3:0] inverse;
    invert of(norm, inverse);
    times both(h, l, product), upper(inverse, h, high), lower(inverse, h ^ l, low);
    wire [7:0] u = {high, low};
    assign y = 8'h63 ^ {^(u & 8'h06), ^(u & 8'hd0), ^(u & 8'hee), ^(u & 8'h3b),
        ^(u & 8'h25), ^(u & 8'h69), ^(u & 8'h3f), ^(u & 8'h45)};
endmodule

// A product in GF(16), modulo x^4 + x + 1: three products of halves, of three bits each.
module times (input [3:0] a, b, output [3:0] y);
    function [2:0] halves(input [1:0] a, input [1:0] b);
        halves = {a[1] & b[1], (^a & ^b) ^ (a[1] & b[1]) ^ (a[0] & b[0]), a[0] & b[0]};
    endfunction
    wire [2:0] high = halves(a[3:2], b[3:2]), low = halves(a[1:0], b[1:0]);
    wire [2:0] middle = halves(a[3:2] ^ a[1:0], b[3:2] ^ b[1:0]) ^ high ^ low;
    wire [6:0] p = {high, 4'b0} ^ {2'b0, middle, 2'b0} ^ {4'b0, low};
    assign y = p[3:0] ^ {1'b0, p[6:4]} ^ {p[6:4], 1'b0};
endmodule

// The inverse in GF(16), and of zero zero, by five products between two linear maps: the middle of the S-box of Boyar and
// Peralta, "A small depth-16 circuit for the AES S-box" (SEC 2012).
module invert (input [3:0] a, output [3:0] y);
    wire p = a[3] ^ a[0], q = a[3] ^ a[1], r = a[3], s = a[2] ^ a[1];
    wire first = p & r, left = s ^ first, right = q ^ first;
    wire u = ((p ^ q) & left) ^ q;
    wire v = (right & (r ^ s)) ^ s;
    wire both = s & (left ^ v);
    wire w = both ^ r ^ v;
    wire z = (u & (left ^ both)) ^ p ^ q;
    assign y = {w, u ^ v, u, v ^ z};
endmodule
