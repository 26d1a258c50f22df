#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Damages files of the store, for attack-store.sh.

    corrupt.py flip FILE OFFSET-IN-RECORD KEY   one bit of the byte that far from the only or first place of the
                                                bytes KEY (hexadecimal)
    corrupt.py random SEED FILE...              1 to 64 bytes, a page of zeros, or a cut, in each of these files
"""
import random
import sys

PAGE = 4096


def read(path):
    with open(path, "rb") as file:
        return bytearray(file.read())


def write(path, data):
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate(len(data))


def flip(path, offset, key):
    data = read(path)
    place = data.find(bytes.fromhex(key))
    if place < 0:
        sys.exit(f"{path}: {key} is not in it")
    data[place + int(offset)] ^= 0x01
    write(path, data)


def damage(dice, path):
    data = read(path)
    kind = dice.choice(("bytes", "bytes", "bytes", "page", "cut"))
    at = dice.randrange(len(data))
    if kind == "bytes":
        count = dice.randint(1, 64)
        for place in range(at, min(at + count, len(data))):
            data[place] ^= dice.randint(1, 255)
    elif kind == "page":
        at -= at % PAGE
        data[at:at + PAGE] = bytes(min(PAGE, len(data) - at))
    else:
        del data[at:]
    write(path, data)
    print(f"{path}: {kind} at {at}")


if sys.argv[1] == "flip":
    flip(*sys.argv[2:5])
else:
    dice = random.Random(int(sys.argv[2]))
    for path in sys.argv[3:]:
        damage(dice, path)
