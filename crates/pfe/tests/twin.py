"""The protocol once more, in big integers, made from RFC 9496 and the BLAKE3 paper: computes every byte of a transcript.

    python3 twin.py vectors/dh.txt
"""
import sys
from itertools import chain

# BLAKE3 of one chunk (at most 1,024 bytes), in all three modes, with output of any length.
IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
KEYED, CONTEXT, MATERIAL = 16, 32, 64


def compress(cv, block, counter, length, flags):
    m = [int.from_bytes(block[4 * i:4 * i + 4], "little") for i in range(16)]
    v = cv + IV[:4] + [counter & 0xFFFFFFFF, counter >> 32, length, flags]

    def g(a, b, c, d, x, y):
        for z, one, other in ((x, 16, 12), (y, 8, 7)):
            v[a] = v[a] + v[b] + z & 0xFFFFFFFF
            v[d] ^= v[a]
            v[d] = (v[d] >> one | v[d] << 32 - one) & 0xFFFFFFFF
            v[c] = v[c] + v[d] & 0xFFFFFFFF
            v[b] ^= v[c]
            v[b] = (v[b] >> other | v[b] << 32 - other) & 0xFFFFFFFF

    for _ in range(7):
        for i, quarter in enumerate([(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                                     (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]):
            g(*quarter, m[2 * i], m[2 * i + 1])
        m = [m[i] for i in ORDER]
    return [v[i] ^ v[i + 8] for i in range(8)] + [v[i + 8] ^ cv[i] for i in range(8)]


def blake3(data, size, flags=0, key=None):
    cv = [int.from_bytes(key[4 * i:4 * i + 4], "little") for i in range(8)] if key else IV
    blocks = [data[i:i + 64] for i in range(0, len(data), 64)] or [b""]
    for i, block in enumerate(blocks[:-1]):
        cv = compress(cv, block, 0, 64, flags | (i == 0))[:8]
    last = blocks[-1]
    final = flags | (len(blocks) == 1) | 2 | 8
    words = chain(*(compress(cv, last.ljust(64, b"\0"), i, len(last), final) for i in range(-(-size // 64))))
    return b"".join(w.to_bytes(4, "little") for w in words)[:size]


def derive(context, material):
    return blake3(material, 32, MATERIAL, blake3(context.encode(), 32, CONTEXT))


def keyed(key, data, size=32):
    return blake3(data, size, KEYED, key)


# ristretto255 on affine Edwards points.
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, I = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)


def even(x):
    return x % P if x % P % 2 == 0 else -x % P


def root_of_ratio(u, v):
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    r = r * I % P if check in (-u % P, -u * I % P) else r
    return check in (u % P, -u % P), even(r)


A_D = root_of_ratio(1, (-1 - D) % P)[1]
ROOT_AD = 25063068953384623474111414158702152701244531502492656460079210482610430750235


def add(p, q):
    (a, b), (c, d) = p, q
    t = D * a * b * c * d % P
    return ((a * d + b * c) * pow(1 + t, -1, P) % P, (b * d + a * c) * pow(1 - t, -1, P) % P)


def neg(p):
    return (-p[0] % P, p[1])


O = (0, 1)


def mul(k, p):
    k, r = k % L, O
    while k:
        r, p, k = add(r, p) if k & 1 else r, add(p, p), k >> 1
    return r


def encode(p):
    x, y = p
    u1, u2 = (1 + y) * (1 - y) % P, x * y % P
    _, inv = root_of_ratio(1, u1 * u2 * u2)
    d1, d2 = inv * u1 % P, inv * u2 % P
    z = d1 * d2 * x * y % P
    if z * x * y % P % 2:
        x, y, d = y * I % P, x * I % P, d1 * A_D % P
    else:
        d = d2
    y = -y % P if x * z % P % 2 else y
    return even(d * (1 - y)).to_bytes(32, "little")


def decode(b):
    s = int.from_bytes(b, "little")
    u1, u2 = (1 - s * s) % P, (1 + s * s) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    square, inv = root_of_ratio(1, v * u2 * u2)
    dx = inv * u2 % P
    dy = inv * dx * v % P
    x, y = even(2 * s * dx), u1 * dy % P
    return (x, y) if square and s < P and s % 2 == 0 and x * y % P % 2 == 0 and y else None


def elligator(b):
    t = int.from_bytes(b, "little") % 2**255
    r = I * t * t % P
    u, v = (r + 1) * (1 - D * D) % P, (-1 - D * r) * (r + D) % P
    square, s = root_of_ratio(u, v)
    c = -1 if square else r
    s = s if square else -even(s * t) % P
    n = (c * (r - 1) * (D - 1) ** 2 - v) % P
    w0, w1, w2, w3 = 2 * s * v, n * ROOT_AD, 1 - s * s, 1 + s * s
    return (w0 * pow(w1, -1, P) % P, w2 * pow(w3, -1, P) % P)


BASE = decode(bytes.fromhex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"))


def point(id, kind, number):
    wide = keyed(derive("duologue v1 private function: points", id), bytes([kind]) + number.to_bytes(8, "little"), 64)
    half = add(elligator(wide[:32]), elligator(wide[32:]))
    return add(half, half)


# GF(16), element by element.
def gf(a, b):
    r = 0
    for i in range(4):
        r ^= (a << i) * (b >> i & 1)
    for i in (6, 5, 4):
        r ^= (0b10011 << i - 4) * (r >> i & 1)
    return r


def inv16(a):
    return next(b for b in range(16) if gf(a, b) == 1)


def elements(key):
    n = int.from_bytes(key, "little")
    return [sum((n >> 32 * i + k & 1) << i for i in range(4)) for k in range(32)]


def through(points, at):
    value = [0] * 32
    for x, y in points:
        c = 1
        for other, _ in points:
            c = gf(c, gf(at ^ other, inv16(x ^ other))) if other != x else c
        value = [v ^ gf(c, e) for v, e in zip(value, y)]
    return value


def number(vector):
    return sum((e >> i & 1) << 32 * i + k for k, e in enumerate(vector) for i in range(4))


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def table(run, gate, labels, out):
    gate = gate.to_bytes(8, "little")
    hashes = [keyed(derive("duologue v1 private function: labels of gates", run), gate + l, 48) for l in labels]
    digests = [int.from_bytes(h[16:], "little") for h in hashes]
    columns = [[d >> at & 1 for d in digests] for at in range(256)]
    i = next(at for at in range(256) if sum(columns[at]) == 2)
    j = next(at for at in range(256) if len(set(zip(columns[i], columns[at]))) == 4)
    xs, keys = [a + 2 * b + 1 for a, b in zip(columns[i], columns[j])], [elements(h[:16]) for h in hashes]
    low, high = list(zip(xs, keys))[:2], list(zip(xs, keys))[2:]
    y5, y6 = [], []
    for k in range(32):
        # The one pair of values at 5 and 6 with which both sides have a polynomial of degree 2: tried, not solved.
        def degree2(side, y5, y6):
            pts = [(x, [v[k]]) for x, v in side] + [(5, [y5])]
            return through(pts, 6)[0] == y6
        a, b = next((a, b) for a in range(16) for b in range(16) if degree2(low, a, b) and degree2(high, a, b))
        y5, y6 = y5 + [a], y6 + [b]
    w = [number(through([side[0], (5, y5), (6, y6)], 0)) for side in (low, high)]
    assert w == [number(through([side[1], (5, y5), (6, y6)], 0)) for side in (low, high)]
    position = next(p for p in range(128) if (w[0] ^ w[1]) >> p & 1)
    rows = [b"", b""]
    for value in (0, 1):
        mask = keyed(derive("duologue v1 private function: rows", run), gate + w[value].to_bytes(16, "little"))
        rows[w[value] >> position & 1] = xor(mask, out[value])
    halves = [number(y).to_bytes(16, "little") for y in (y5, y6)]
    return bytes([i, j, position]) + halves[0] + halves[1] + rows[0] + rows[1]


def main(path):
    given = {}
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            name, value = line.split(None, 1)
            given.setdefault(name, []).append(value.strip())
    one = lambda name: bytes.fromhex(given[name][0])
    scalar = lambda text: int.from_bytes(bytes.fromhex(text), "little")
    offer, a, x = one("offer"), scalar(given["a"][0]), [int(c) for c in given["x"][0]]
    id, ks = offer[-32:], [2 * scalar(k) for k in given["half-of-k"]]
    run = derive("duologue v1 private function: run", offer + (0).to_bytes(4, "little") + encode(mul(a, BASE)))
    inputs, r = len(x), mul(a, point(id, 1, 0))
    wire = lambda j: point(id, 0, j)
    label = lambda j, v: add(mul(a, wire(j)), mul(v, r))
    # The nodes of the function: for each its point K-side, the holder's label, its plain value.
    one_point, nodes, queries, tables, gates = neg(point(id, 1, 0)), [], [], [], 0

    def read(bit):
        n, flip = bit // 2, bit % 2
        k, s, v = nodes[n]
        return (add(one_point, neg(k)), neg(s), 1 - v) if flip else (k, s, v)

    def total(parts, signs):
        k, s, v = O, O, 0
        for (pk, ps, pv), sign in zip(parts, signs):
            k, s, v = add(k, mul(sign, pk)), add(s, mul(sign, ps)), v + sign * pv
        return k, s, v

    def ask(k, form):
        q = add(form[0], mul(k, BASE))
        zero = mul(a, q)
        own = add(form[1], mul(k, mul(a, BASE)))
        assert encode(own) == encode(add(zero, mul(form[2], r)))
        return q, zero, own

    double = lambda p: encode(add(p, p))
    operands = {}
    for line in given["node"]:
        kind, *bits = line.split()
        bits = [int(b) for b in bits]
        form = lambda g: total([read(b) for b in operands[g]], [1, 1, 1])
        if kind == "false":
            nodes.append((O, O, 0))
        elif kind == "input":
            j = len(nodes) - 1
            nodes.append((wire(j), label(j, x[j]), x[j]))
        elif kind == "majority":
            operands[len(nodes)] = bits
            f = form(len(nodes))
            q, zero, own = ask(ks[gates], f)
            labels = [double(add(zero, mul(v, r))) for v in range(4)]
            assert double(own) == labels[f[2]]
            j = inputs + gates
            out = [encode(label(j, v)) for v in (0, 1)]
            queries.append(encode(q))
            tables.append(table(run, gates, labels, out))
            nodes.append((wire(j), label(j, int(f[2] >= 2)), int(f[2] >= 2)))
            gates += 1
        elif kind == "parity":
            nodes.append(total([form(bits[0]), nodes[bits[0]]], [1, -2]))
        elif kind == "rest":
            nodes.append(total([read(operands[bits[0]][bits[1]]), nodes[bits[0]]], [1, -1]))
        elif kind == "either":
            nodes.append(total([form(bits[0]), nodes[bits[0]]], [1, -1]))
        elif kind == "choice":
            nodes.append(total([read(b) for b in bits], [1, 1]))
    outputs, result = [], ""
    for k, bit in zip(ks[gates:], given["output"]):
        f = read(int(bit))
        q, zero, own = ask(k, f)
        queries.append(encode(q))
        outputs.append(double(own))
        result += str([double(zero), double(add(zero, r))].index(outputs[-1]))
    made = {
        "announcement": encode(mul(a, BASE)),
        "labels": b"".join(encode(label(j, v)) for j, v in enumerate(x)),
        "queries": b"".join(queries),
        "tables": b"".join(tables),
        "outputs": b"".join(outputs),
    }
    for name, value in made.items():
        assert value.hex() == given[name][0], name
    assert result == given["result"][0], "result"
    assert blake3(b"", 4).hex() == "af1349b9" and decode(encode(BASE)) is not None
    print(f"{gates} gates, {len(outputs)} outputs: every byte is the same")


main(sys.argv[1])
