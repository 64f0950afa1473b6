#!/usr/bin/python3
"""numpy's examples of the task last-element: python3 make_last_element_golden.py > golden_last_element.h

Needs python3-numpy. The values and labels of three examples of seven steps from seed 5, and the labels of the chapter's
600 test examples of 60 steps from seed 2, as text.
"""
import textwrap

import numpy as np


def last_element(count, steps, seed):
    values = np.random.default_rng(seed).normal(0, 1, (count, steps, 1)).astype(np.float32)
    return values[:, :, 0], (values[:, -1, 0] > 0).astype(int)


print("/* Made by tests/reference/make_last_element_golden.py with numpy %s. */" % np.__version__)
values, labels = last_element(3, 7, 5)
print("static const float golden_last_values[] = {")
print(textwrap.fill(", ".join(f"{value:.9g}F" for value in values.flatten()), 118) + "};")
print("static const int golden_last_labels[] = {" + ", ".join(map(str, labels)) + "};")
print("static const char golden_last_test_labels[] =")
text = "".join(map(str, last_element(600, 60, 2)[1]))
print("\n".join(f'    "{line}"' for line in textwrap.wrap(text, 100)) + ";")
