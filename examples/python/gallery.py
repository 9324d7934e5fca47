"""Bob has a gallery of faces that outgrows a machine, Alice one face, 256 bits each. Who is it? Alice alone learns the place of the
nearest face, if at most 40 bits differ; Bob learns nothing. Each party has a cluster of Ray and four workers in it; the gallery is
cut into eight shards.

    ray start --head --port 6379          # each party on its own machines
    python gallery.py bob BOB'S-KEY-FILE ALICE'S-PUBLIC-KEY 0.0.0.0:7500 gallery.npy FACES
    python gallery.py alice ALICE'S-KEY-FILE BOB'S-PUBLIC-KEY bob.example:7500 mine.npy FACES

The cluster is the one of the environment variable RAY_ADDRESS, or the one on this machine. Faces are rows of 32 bytes in files of
NumPy, and Alice says how many Bob has.
"""

import sys

import duologue as duo
from duologue import Alice, Bob, bits
from duologue.cluster import ray

NEAR = 40


@duo.program(mine=Alice(bits(256), lanes=1), gallery=Bob(bits(256), lanes="faces"), to=Alice)
def nearest(mine: duo.Word, gallery: duo.Word) -> dict[str, duo.Word]:
    """The place of the face with the fewest different bits."""
    differ = duo.count_ones(mine ^ gallery)
    near = differ.min() <= NEAR
    return {"near": near, "place": duo.where(near, differ.argmin(), 0)}


name, key, peer, address, file, faces = sys.argv[1:]
mine = "mine" if name == "alice" else "gallery"

report = ray.drive(
    nearest,
    party=name,
    shards=8,
    workers=4,
    key=key,
    peer=peer,
    inputs={mine: file},
    sizes={"faces": int(faces)},
    state=f"job-of-{name}",
    connect=address if name == "alice" else None,
    listen=address if name == "bob" else None,
)
if name == "alice":
    print(f"face {report.outputs['place'][0]}" if report.outputs["near"][0] else "nobody is near")
