#!/usr/bin/python3
"""Writes the lab sheet's runs on reviews.tsv, PyTorch's numbers in lab.json, as a C header:

    python3 make_lab_golden.py lab.json > golden_lab.h
"""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lab = json.load(file)
    print(f"/* Made by tests/reference/make_lab_golden.py from lab.json, torch {lab['torch']}. */")
    print("// clang-format off")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_LAB_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_LAB_H\n")
    print("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n")
    print("static const struct lab_run {")
    print("    uint64_t seed;\n    bool position;\n    size_t parameter_count, hits, of;\n    double test_accuracy;")
    print("    double losses[64];\n} lab_runs[] = {")
    for run in lab["reviews"]:
        losses = ", ".join(f"{loss:.9g}" for loss in run["first_64_step_losses"])
        print(f"    {{{run['seed']}, {str(run['position']).lower()}, {run['parameters']}, {run['hits']}, {run['of']},"
              f" {run['test_accuracy']},\n     {{{losses}}}}},")
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
