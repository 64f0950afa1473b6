"""Measures the service: its start, its cost at rest, its answers during training, how much a watching class slows the
training, and what more cores gain.

Every figure is of the real daemon over HTTP, with a data directory of its own. wrk (Debian: wrk; skipped without it) counts
answers under load. Of repeated figures the table shows the median, and the JSON has all.
"""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

STARTS, SNAPSHOTS, POSTS, SPEEDUP_TRIPLES, CROWD_PAIRS = 5, 20, 5, 9, 12
IDLE_SECONDS, LOAD_SECONDS, CROWD_SECONDS = 3, 5, 3
STREAMS = 500
LENGTH = 240
UNITS = {"us": 1e-3, "ms": 1, "s": 1e3}
CHAPTER = [
    {"label": "RNN", "model": "rnn"},
    {"label": "LSTM", "model": "lstm"},
    {"label": "attention", "model": "attention"},
    {"label": "attention (no position)", "model": "attention", "position": "none"},
]


class Daemon:
    """A running service; leaving the `with` block ends it."""

    def __init__(self, program, data, *arguments):
        command = [program, "serve", "--listen", "127.0.0.1:0", "--data", data, *arguments]
        start = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        self.start_ms = 1e3 * (time.perf_counter() - start)
        self.url = line.split()[-1]
        self.connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=600)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method, path, body and json.dumps(body), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content.decode()}")
        return content

    def run(self, wait=0, **parameters):
        body = {"experiment": "train", **parameters}
        return json.loads(self.ask("POST", f"/api/runs?wait={wait}", body))

    def finish(self, path):
        while True:
            answer = json.loads(self.ask("GET", path))
            if answer["state"] not in ("queued", "running"):
                return answer
            time.sleep(0.02)


class Folder:
    """A data directory that exists only inside its `with` block."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="attnlab-bench-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def timed(action):
    start = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - start)


def measure_starts(program):
    """Milliseconds from the command to the line with the address: with an empty data directory, and with a run's data."""
    fresh, again = [], []
    for _ in range(STARTS):
        with Folder() as data:
            with Daemon(program, data) as daemon:
                fresh.append(daemon.start_ms)
                daemon.run(wait=60, epochs=2, train_examples=64, test_examples=32)
            with Daemon(program, data) as daemon:
                again.append(daemon.start_ms)
    return {"fresh_ms": fresh, "again_ms": again}


def count_switches(process):
    """Voluntary and involuntary context switches of all threads so far, which tell how often a thread was woken."""
    counts = [0, 0]
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        found = re.findall(r"ctxt_switches:\s*(\d+)", status.read_text())
        counts = [have + int(more) for have, more in zip(counts, found)]
    return counts


def measure_idle(daemon):
    process = daemon.process.pid
    time.sleep(1)
    before = count_switches(process)
    time.sleep(IDLE_SECONDS)
    voluntary, involuntary = (now - then for now, then in zip(count_switches(process), before))
    resident = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
    return {
        "resident_bytes": 1024 * int(resident.group(1)),
        "seconds": IDLE_SECONDS,
        "voluntary_switches": voluntary,
        "involuntary_switches": involuntary,
    }


def measure_first_event(daemon):
    """Milliseconds from sending a POST to the run's first event on a stream that was already open."""
    times = []
    for _ in range(POSTS):
        stream = http.client.HTTPConnection(urlsplit(daemon.url).netloc, timeout=60)
        stream.request("GET", "/api/events")
        answer = stream.getresponse()
        answer.readline()
        start = time.perf_counter()
        run = daemon.run(epochs=2, train_examples=64, test_examples=32)
        while not answer.readline().startswith(b"data: "):
            continue
        times.append(1e3 * (time.perf_counter() - start))
        stream.close()
        daemon.finish(f"/api/runs/{run['id']}")
    return times


def measure_snapshots(program):
    """Milliseconds for an attention matrix of 240 x 240: the first, which loads the run, and later ones."""
    result = {}
    with Folder() as data:
        with Daemon(program, data) as daemon:
            parameters = {"sequence_length": LENGTH, "epochs": 1, "train_examples": 64, "test_examples": 32}
            run = daemon.run(wait=300, **parameters)["id"]
        for name, suffix in (("npy", ".npy"), ("json", "")):
            with Daemon(program, data) as daemon:
                path = f"/api/runs/{run}/attention{suffix}?epoch=1&head=0"
                first = timed(lambda: daemon.ask("GET", path))
                warm = [timed(lambda: daemon.ask("GET", path)) for _ in range(SNAPSHOTS)]
                result[name] = {"first_ms": first, "warm_ms": warm, "bytes": len(daemon.ask("GET", path))}
    return result


def ask_with_wrk(daemon, path, connections):
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{LOAD_SECONDS}s"]
    output = subprocess.check_output([*command, "--latency", daemon.url.rstrip("/") + path], text=True)
    latencies = {f"p{share}_ms": float(number) * UNITS[unit] for share, number, unit in re.findall(
        r"^\s*(50|99)%\s+([\d.]+)(us|ms|s)$", output, re.MULTILINE
    )}
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    return {
        **latencies,
        "requests_per_second": float(re.search(r"Requests/sec:\s*([\d.]+)", output).group(1)),
        "failed": int(failed.group(1)) if failed else 0,
    }


def measure_answers(daemon, tell):
    """GET of a run: over 8 connections at rest, and over one while two workers train an LSTM each."""
    if shutil.which("wrk") is None:
        tell("skipped: answers under load need wrk (Debian: wrk)")
        return None
    run = daemon.run(wait=60, epochs=1, train_examples=64, test_examples=32)["id"]
    idle = ask_with_wrk(daemon, f"/api/runs/{run}", 8)
    busy = [daemon.run(model="lstm", epochs=2000, seed=seed)["id"] for seed in range(2)]
    time.sleep(0.5)
    training = ask_with_wrk(daemon, f"/api/runs/{busy[0]}", 1)
    for run in busy:
        daemon.ask("POST", f"/api/runs/{run}/cancel")
        daemon.finish(f"/api/runs/{run}")
    return {"idle": idle, "training": training}


def processor_seconds(process, thread=None):
    """Processor time in seconds of a process, or of only its threads with this name."""
    threads = Path(f"/proc/{process}/task").iterdir()
    used = [task for task in threads if thread in (None, (task / "comm").read_text().strip())]
    fields = [(task / "stat").read_text().rpartition(")")[2].split() for task in used]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


class Readers:
    """Many event streams of one run, read by a process of their own (event_readers.c)."""

    def __init__(self, program, daemon, run, count):
        address = urlsplit(daemon.url)
        command = [program, address.hostname, str(address.port), f"/api/runs/{run}/events", str(count)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "open\n":
            raise RuntimeError("the streams did not open")

    def finish(self):
        return json.loads(self.process.communicate()[0])


def measure_watched_training(daemon, readers_program, count):
    """Training steps per second of two runs at once, with `count` streams on the first, and the streams' processor time."""
    runs = [daemon.run(epochs=10000, seed=seed)["id"] for seed in range(2)]
    readers = Readers(readers_program, daemon, runs[0], count) if count else None
    time.sleep(0.5)

    def look():
        done = sum(json.loads(daemon.ask("GET", f"/api/runs/{run}"))["progress"]["done"] for run in runs)
        used = processor_seconds(readers.process.pid) if readers else 0
        return time.perf_counter(), done, processor_seconds(daemon.process.pid, "MHD-single"), used

    before = look()
    time.sleep(CROWD_SECONDS)
    seconds, steps, service, client = (now - then for now, then in zip(look(), before))
    for run in runs:
        daemon.ask("POST", f"/api/runs/{run}/cancel")
        daemon.finish(f"/api/runs/{run}")
    result = {"steps_per_second": steps / seconds, "service_share": service / seconds, "client_share": client / seconds}
    if readers:
        received = readers.finish()
        again = Readers(readers_program, daemon, runs[0], 1).finish()
        received["lost"] = again["lasting_events"] - received["lasting_events"]
        result["received"] = received
    for run in runs:
        daemon.ask("DELETE", f"/api/runs/{run}")
    return result


def measure_crowd(program, readers_program, tell):
    """Trains unwatched and watched by a class, in turn. `slowdown_without_clients` takes into account that training can
    have only the processor time that the readers leave."""
    if not readers_program.exists():
        tell(f"skipped: the watching class needs {readers_program}, which make bench builds")
        return None
    counts = {"alone": 0, "watched": STREAMS}
    with Folder() as data, Daemon(program, data, "--workers", "2") as daemon:
        pairs = [
            {name: measure_watched_training(daemon, readers_program, count) for name, count in counts.items()}
            for _ in range(CROWD_PAIRS)
        ]
    ratios = [pair["watched"]["steps_per_second"] / pair["alone"]["steps_per_second"] for pair in pairs]
    left = [1 - pair["watched"]["client_share"] / os.cpu_count() for pair in pairs]
    slowdown = [1 - ratio for ratio in ratios]
    own_slowdown = [1 - ratio / rest for ratio, rest in zip(ratios, left)]
    return {"streams": STREAMS, "pairs": pairs, "slowdown": slowdown, "slowdown_without_clients": own_slowdown}


@contextlib.contextmanager
def another_program():
    """Runs a program that keeps a core busy during a measurement."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def time_runs(program, workers, model, epochs, count):
    """Seconds that the slowest of `count` runs takes, all started together on a new service."""
    with Folder() as data, Daemon(program, data, "--workers", str(workers)) as daemon:
        runs = [daemon.run(model=model, epochs=epochs, seed=seed)["id"] for seed in range(count)]
        return max(daemon.finish("/api/runs/" + run)["result"]["seconds"] for run in runs)


def measure_speedup(program, model, epochs):
    """Seconds of one run on one worker, of one run on as many workers as there are cores, and of as many runs at once, in
    turn. The last shows what cores that share memory and clock can gain at most, even for one run."""
    cores = os.cpu_count()
    ways = {"one": (1, 1), "all": (cores, 1), "each": (cores, cores)}
    seconds = {name: [] for name in ways}
    for _ in range(SPEEDUP_TRIPLES):
        for name, (workers, count) in ways.items():
            seconds[name].append(time_runs(program, workers, model, epochs, count))
    ratio = statistics.median(one / many for one, many in zip(seconds["one"], seconds["all"]))
    limit = statistics.median(cores * one / each for one, each in zip(seconds["one"], seconds["each"]))
    return {"model": model, "epochs": epochs, "seconds": seconds, "ratio": ratio, "limit": limit}


def measure_chapter(program, epochs):
    """Seconds for the chapter's table: its four models, three seeds each."""
    with Folder() as data, Daemon(program, data) as daemon:
        body = {"experiment": "train", "seeds": [0, 1, 2], "variants": CHAPTER, "epochs": epochs}
        start = time.perf_counter()
        comparison = json.loads(daemon.ask("POST", "/api/comparisons", body))["id"]
        daemon.finish(f"/api/comparisons/{comparison}")
        return {"epochs": epochs, "runs": 3 * len(CHAPTER), "seconds": time.perf_counter() - start}


def measure(program, options, tell):
    epochs = options.epochs or 60
    report = {"cores": os.cpu_count()}
    tell("measuring the service: start and rest")
    report["start"] = measure_starts(program)
    with Folder() as data, Daemon(program, data, "--workers", "2") as daemon:
        report["idle"] = measure_idle(daemon)
        report["first_event_ms"] = measure_first_event(daemon)
        tell("measuring the service: answers while it trains")
        report["answers"] = measure_answers(daemon, tell)
    tell("measuring the service: training while a class watches")
    report["crowd"] = measure_crowd(program, options.build / "tests/bench/event_readers", tell)
    report["snapshots"] = measure_snapshots(program)
    tell("measuring the service: one run on all cores")
    report["speedup"] = [measure_speedup(program, model, epochs) for model in ("attention", "lstm")]
    with another_program():
        report["speedup_beside"] = measure_speedup(program, "attention", epochs)
    tell("measuring the service: the chapter's table")
    report["chapter"] = measure_chapter(program, epochs)
    return report


def line(name, value, unit, target=""):
    return f"{name:58}{value:>10} {unit:12}{target:>12}"


def format_crowd(crowd):
    median = statistics.median
    watched = [pair["watched"] for pair in crowd["pairs"]]
    received = [one["received"] for one in watched]
    whole = sum(one["complete"] for one in received if one["in_order"] == one["streams"] and one["lost"] == 0)
    name = f"{crowd['streams']} streams on one run while two train: training slows by"
    slowdown, own_slowdown = (100 * median(crowd[key]) for key in ("slowdown", "slowdown_without_clients"))
    lines = [line(name, f"{own_slowdown:.1f}", "%", "< 10")]
    lines.append(line("  with the clients on the same machine", f"{slowdown:.1f}", "%"))
    for name, share in (("the service's HTTP thread", "service_share"), ("the clients", "client_share")):
        lines.append(line(f"  of one core, {name}", f"{100 * median(one[share] for one in watched):.1f}", "%"))
    lines.append(line("  whole and in order", f"{whole} of {sum(one['streams'] for one in received)}", ""))
    return lines


def format_report(report):
    median = statistics.median
    start, idle, answers, snapshots = (report[key] for key in ("start", "idle", "answers", "snapshots"))
    lines = [f"{'service':58}{'measured':>10} {'':12}{'target':>12}"]
    lines.append(line("start to the address, new data directory", f"{median(start['fresh_ms']):.0f}", "ms", "< 100"))
    lines.append(line("start to the address, with data", f"{median(start['again_ms']):.0f}", "ms", "< 100"))
    lines.append(line("idle, resident memory", f"{idle['resident_bytes'] / 1e6:.1f}", "MB", "< 20"))
    switches = idle["voluntary_switches"] + idle["involuntary_switches"]
    lines.append(line(f"idle, context switches in {idle['seconds']} s", switches, "", "0"))
    lines.append(line("POST of a run to its first event", f"{median(report['first_event_ms']):.1f}", "ms", "< 500"))
    if answers:
        quiet, busy = answers["idle"], answers["training"]
        lines.append(line("GET of a run, idle", f"{quiet['requests_per_second']:.0f}", "per second"))
        lines.append(line("GET of a run while two train, half within", f"{busy['p50_ms']:.2f}", "ms"))
        lines.append(line("GET of a run while two train, 99 % within", f"{busy['p99_ms']:.2f}", "ms", "< 10"))
    if report["crowd"]:
        lines += format_crowd(report["crowd"])
    for name, target in (("npy", "< 5"), ("json", "< 30")):
        kind = snapshots[name]
        lines.append(line(f"attention {LENGTH} x {LENGTH} as {name}, the first", f"{kind['first_ms']:.1f}", "ms"))
        lines.append(line(f"attention {LENGTH} x {LENGTH} as {name}", f"{median(kind['warm_ms']):.1f}", "ms", target))
    for row in report["speedup"]:
        name = f"one {row['model']} run, {report['cores']} workers against 1"
        lines.append(line(name, f"{row['ratio']:.2f}", "times", "1.7"))
        name = f"  {report['cores']} at once on {report['cores']} workers, against one after the other"
        lines.append(line(name, f"{row['limit']:.2f}", "times"))
    beside = report["speedup_beside"]
    name = f"  {beside['model']}, with another program on one of the cores"
    lines.append(line(name, f"{beside['ratio']:.2f}", "times"))
    chapter = report["chapter"]
    name = f"the chapter's table, {chapter['runs']} runs of {chapter['epochs']} epochs"
    lines.append(line(name, f"{chapter['seconds']:.1f}", "s", "< 12"))
    return "\n".join(lines)
