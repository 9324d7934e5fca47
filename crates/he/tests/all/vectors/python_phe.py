"""Makes python_phe.json: `pip install phe==1.5.0 && python python_phe.py > python_phe.json`."""
import json
import math
import random

import phe

random.seed(19)
SMALL = [s for s in range(3, 1 << 16, 2) if all(s % d for d in range(3, int(s**0.5) + 1, 2))]


def is_prime(n):
    return all(pow(a, n - 1, n) == 1 for a in (2, 3, 5, 7, 11, 13))


def prime(bits):
    while True:
        p = random.getrandbits(bits) | 3 << (bits - 2) | 3
        if all(p % s > 1 for s in SMALL) and is_prime(p):
            return p


p, q = prime(256), prime(256)
assert math.gcd(p - 1, q - 1) == 2
public = phe.PaillierPublicKey(p * q)
private = phe.PaillierPrivateKey(public, p, q)
cases = []
for m in [0, 1, 2, public.n // 3 - 2, public.n - 1] + [random.randrange(public.n) for _ in range(12)]:
    r = random.randrange(1, public.n)
    c = public.raw_encrypt(m, r_value=r)
    assert private.raw_decrypt(c) == m
    cases.append({"m": f"{m:x}", "r": f"{r:x}", "c": f"{c:x}"})
print(json.dumps({"made by": f"python-phe {phe.__version__}", "p": f"{p:x}", "q": f"{q:x}", "cases": cases}, indent=1))
