"""Makes list.txt, users.csv, me.csv and expected.csv; with --check compares them. Needs Python alone.

expected.csv has for each user the distance, the interests in common, and whether the user is the one that is found."""

import pathlib
import random
import sys

FOLDER = pathlib.Path(__file__).parent
LIMIT = 2000
INTERESTS = (
    "astronomy baking beekeeping birds board-games books calligraphy ceramics chess choir cinema climbing cycling dance "
    "drawing fencing football gardening go guitar hiking history jazz judo juggling knitting languages maps mushrooms "
    "opera origami photography piano poetry radio rowing running sailing sewing skating swimming tennis theatre trains "
    "volunteering walking weaving woodwork"
).split()


def files():
    dice = random.Random(22)
    people = []
    for _ in range(200):
        likes = sorted(dice.sample(INTERESTS, dice.randint(0, 12)))
        people.append((dice.randint(0, 9999), dice.randint(0, 9999), likes))
    me = (5000, 5000, sorted(dice.sample(INTERESTS, 15)))
    rows = []
    for x, y, likes in people:
        rows.append((abs(x - me[0]) + abs(y - me[1]), len(set(likes) & set(me[2]))))
    keys = [(-common if metres <= LIMIT else 0, number) for number, (metres, common) in enumerate(rows)]
    least = min(keys)
    found = least[1] if least[0] < 0 else None
    table = lambda people: "x,y,interests\n" + "".join(f"{x},{y},{'; '.join(likes)}\n" for x, y, likes in people)
    lines = [f"{metres},{common},{int(number == found)}" for number, (metres, common) in enumerate(rows)]
    return {
        "list.txt": "\n".join(INTERESTS) + "\n",
        "users.csv": table(people),
        "me.csv": table([me]),
        "expected.csv": "metres,common,found\n" + "\n".join(lines) + "\n",
    }


if __name__ == "__main__":
    for name, text in files().items():
        if "--check" in sys.argv:
            assert (FOLDER / name).read_text() == text, f"{name} is not what this makes"
        else:
            (FOLDER / name).write_text(text)
    print(len(INTERESTS), "interests")
