"""Measures training by attnlab and by PyTorch in turn: seconds per run, their ratio, operations per second, memory.

One thread on both sides. The repetitions alternate, because a machine's speed drifts over minutes: only the ratio of
neighbouring runs means anything. If /usr/bin/python3 has no PyTorch, attnlab is measured alone.
"""
import json
import os
import resource
import statistics
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TORCH_PYTHON = "/usr/bin/python3"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ATTNLAB_WORKERS": "1"}

LENGTH, WIDTH, TEXT_LENGTH, HIDDEN = 60, 32, 20, 64
# Multiplications and additions of the forward pass for one example, counted from the models' formulas; a backward pass
# takes twice as many. attnlab gets the same results with fewer operations, so its figure says how fast it would have to
# compute to take the same time without its shortcuts.
RECURRENT = 2 * LENGTH * (WIDTH * WIDTH + WIDTH)
ATTENTION = 2 * (3 * LENGTH * WIDTH * WIDTH + 2 * LENGTH * LENGTH * WIDTH)
BLOCK = 2 * (TEXT_LENGTH * WIDTH * (4 * WIDTH + 2 * HIDDEN) + 2 * TEXT_LENGTH * TEXT_LENGTH * WIDTH)

# Name; arguments of attnlab; default epochs; training and test examples; operations of an example's forward pass; target.
CASES = [
    ("rnn", ["--model", "rnn"], 60, 2000, 600, RECURRENT, 12),
    ("lstm", ["--model", "lstm"], 60, 2000, 600, 4 * RECURRENT, 9),
    ("attention", ["--model", "attention"], 60, 2000, 600, ATTENTION, 25),
    ("attention without positions", ["--model", "attention", "--position", "none"], 60, 2000, 600, ATTENTION, 40),
    ("transformer on text", ["--model", "transformer"], 12, 1600, 400, BLOCK, 8),
]


def find_reviews():
    path = Path(os.environ.get("ATTNLAB_REFERENCE", "../shared")) / "reference" / "reviews.tsv"
    return path.resolve() if path.exists() else None


def has_torch():
    command = [TORCH_PYTHON, "-c", "import torch"]
    return Path(TORCH_PYTHON).exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


def run_attnlab(program, arguments, epochs):
    """One complete run of the program, including its start."""
    command = [program, "run", "train", *arguments, "--epochs", str(epochs), "--json"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD})
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "processor_seconds": processor}


def peak_bytes(program, arguments):
    """The largest resident size of a run of one epoch (more epochs take no more memory)."""
    command = [program, "run", "train", *arguments, "--epochs", "1", "--json"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024


class Torch:
    """A process with PyTorch loaded, one for each model so that its memory is that model's."""

    def __init__(self, reviews):
        self.process = subprocess.Popen(
            [TORCH_PYTHON, HERE / "torch_side.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ONE_THREAD, "BENCH_REVIEWS": str(reviews or "")},
        )

    def run(self, name, epochs):
        self.process.stdin.write(f"{name} {epochs}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def measure_case(program, case, options, reviews):
    name, arguments, epochs, train, test, operations, target = case
    epochs = options.epochs or epochs
    if name == "transformer on text":
        arguments = [*arguments, "--task", str(reviews)]
    torch = Torch(reviews) if options.torch else None
    ours, theirs = [], []
    for repeat in range(options.repeats + 1):  # the first warms up
        pair = run_attnlab(program, arguments, epochs), torch.run(name, epochs) if torch else None
        if repeat > 0:
            ours.append(pair[0])
            theirs.append(pair[1])
    work = operations * (3 * train + test) * epochs
    seconds = median(ours, "seconds")
    row = {
        "name": name,
        "epochs": epochs,
        "seconds": seconds,
        "processor_seconds": median(ours, "processor_seconds"),
        "seconds_per_epoch": seconds / epochs,
        "gflops": work / seconds / 1e9,
        "sgemm_share": work / seconds / 1e9 / options.peak,
        "bytes": peak_bytes(program, arguments),
        "target_ratio": target,
        "runs": ours,
    }
    if torch:
        torch.close()
        row["torch"] = {
            "seconds": median(theirs, "seconds"),
            "processor_seconds": median(theirs, "processor_seconds"),
            "bytes": theirs[-1]["bytes"],
            "runs": theirs,
        }
        pairs = zip(ours, theirs)
        row["ratio"] = statistics.median(their["seconds"] / our["seconds"] for our, their in pairs)
        row["processor_ratio"] = row["torch"]["processor_seconds"] / row["processor_seconds"]
    return row


def measure(program, options, tell):
    options.peak = float(subprocess.check_output([options.build / "tests/bench/sgemm_peak"], text=True))
    reviews, rows = find_reviews(), []
    for case in CASES:
        if options.only and case[0] not in options.only:
            continue
        if case[0] == "transformer on text" and reviews is None:
            tell("skipped: transformer on text needs reference/reviews.tsv in the folder ATTNLAB_REFERENCE")
            continue
        tell(f"measuring {case[0]}")
        rows.append(measure_case(program, case, options, reviews))
    return {"sgemm_gflops": options.peak, "repeats": options.repeats, "models": rows}


HEADER = (
    "training, one thread, seconds per run   attnlab  PyTorch  ratio (CPU)  target  GFLOP/s  of sgemm    MB  PyTorch MB"
)


def format_report(report):
    lines = [HEADER]
    for row in report["models"]:
        torch = row.get("torch")
        theirs = f"{torch['seconds']:9.3f}" if torch else "        -"
        ratio = f"{row['ratio']:7.1f} ({row['processor_ratio']:.1f})" if torch else "-"
        memory = f"{torch['bytes'] / 1e6:12.0f}" if torch else "           -"
        lines.append(
            f"{row['name'] + ', ' + str(row['epochs']) + ' epochs':37}{row['seconds']:8.3f}{theirs}{ratio:>13}"
            f"{row['target_ratio']:8}{row['gflops']:9.1f}{row['sgemm_share']:9.0%}{row['bytes'] / 1e6:7.1f}{memory}"
        )
    lines.append(f"sgemm, 1024 x 1024 matrices, one thread: {report['sgemm_gflops']:.1f} GFLOP/s")
    return "\n".join(lines)
