"""Which of Bob's users is near Alice and shares most of her interests? Alice learns who, Bob nothing.

Coroutines: the setup, which needs no inputs, goes on while Alice's position is still awaited.

    python nearby.py bob 127.0.0.1:7000
    python nearby.py alice 127.0.0.1:7000
"""

import asyncio
import sys

import duologue as duo
import numpy as np

USERS = 100
INTERESTS = 16

program = duo.program(f"app:social:{INTERESTS}")


async def position() -> dict[str, object]:
    await asyncio.sleep(0.1)
    return {"x": 5_000, "y": 5_000, "limit": 1_500, "interests": np.array([[1, 0, 1, 1] * 4], np.uint8)}


async def users() -> dict[str, object]:
    random = np.random.default_rng(7)
    places = random.integers(0, 10_000, (2, USERS))
    interests = random.integers(0, 2, (USERS, INTERESTS), dtype=np.uint8)
    return {"user_x": places[0], "user_y": places[1], "user_interests": interests}


async def main(name: str, address: str) -> None:
    meet = duo.listen if name == "bob" else duo.connect
    party = meet(address, party=name, insecure_plaintext=True)
    print(party.address, flush=True)
    async with party:
        setup = party.prepare_async(program, sizes={"users": USERS})
        prepared, inputs = await asyncio.gather(setup, position() if name == "alice" else users())
        result = await party.online_async(prepared, inputs)
    if name == "alice":
        print(f"user {result['user'][0]}" if result["found"][0] else "nobody")
    else:
        print("Bob learns", list(result))


asyncio.run(main(*sys.argv[1:]))
