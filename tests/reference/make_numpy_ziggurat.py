#!/usr/bin/python3
"""Writes core/random/numpy_ziggurat.c: the strips of numpy's ziggurat for normal values.

The tables are computed from the outermost strip inwards in plain doubles. numpy's own density of strip 38 came
from an exp that was off by one unit in the last place, and all strips further in depend on it. With that one value
adjusted, all three columns equal numpy's byte for byte. The script verifies this by finding them in numpy's
library, so it needs numpy 1.24.

    /usr/bin/python3 tests/reference/make_numpy_ziggurat.py > core/random/numpy_ziggurat.c
"""
import math
import struct
import sys

import numpy.random._generator

OUTERMOST = 3.6541528853610087963519472518
AREA = 0.0049286732339746519
SCALE = 2.0 ** 52


def compute_strips():
    edge, density = [0.0] * 256, [1.0] * 256
    edge[255], density[255] = OUTERMOST, math.exp(-0.5 * OUTERMOST * OUTERMOST)
    for i in range(254, 0, -1):
        edge[i] = math.sqrt(-2.0 * math.log(density[i + 1] + AREA / edge[i + 1]))
        density[i] = math.exp(-0.5 * edge[i] * edge[i])
        if i == 38:
            density[i] = math.nextafter(density[i], 2.0)
    limit = [round(OUTERMOST * density[255] / AREA * SCALE), 0]
    limit += [round(edge[i - 1] / edge[i] * SCALE) for i in range(2, 256)]
    width = [AREA / density[255] / SCALE] + [edge[i] / SCALE for i in range(1, 256)]
    return limit, width, density


def main():
    limit, width, density = compute_strips()
    library = open(numpy.random._generator.__file__, "rb").read()
    for code, column in (("Q", limit), ("d", width), ("d", density)):
        if struct.pack("<256" + code, *column) not in library:
            sys.exit("numpy's library does not hold this table: is exp or log of this machine different?")
    print("/* The strips of numpy's ziggurat: see numpy_ziggurat.h. Written by tests/reference/make_numpy_ziggurat.py. */")
    print('#include "core/random/numpy_ziggurat.h"')
    print()
    print("/* clang-format off */")
    print("const struct numpy_ziggurat_strip numpy_ziggurat[NUMPY_ZIGGURAT_STRIPS] = {")
    for strip in zip(limit, width, density):
        print("    {0x%013x, %s, %s}," % (strip[0], strip[1].hex(), strip[2].hex()))
    print("};")


main()
