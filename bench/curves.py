#!/usr/bin/env python3
"""Runs partita and librdkafka in turn at the points of the scaling curves; writes every sample.

    curves.py --programs DIRECTORY --json DIRECTORY [--only NAME,...] [--rounds N] [--trial]

PROGRAMS has null_broker, load_partita and load_rdkafka. Each curve becomes DIRECTORY/NAME.json.
--trial runs the second point of each curve with few records: whether all is in place.

A round goes over all points of a curve, and at each of them the clients take turns, each against a
null broker of its own; every other round begins with the other client. A run that fails, or whose
records the broker did not all append, is an error that names the point. Nothing is left out
silently: a curve with an error is not written. librdkafka 2.0.2 was seen to leave a record in its
queue for ever with linger 0, so a run that stands still is repeated twice; each such run is said,
and counted in the JSON.
"""

import argparse
import datetime
import json
import os
import platform
import struct
import subprocess
import sys
import tempfile

SECONDS_IDLE_MAX = 30
ATTEMPTS = 3
ROOM_MIB = 4096
OPEN_RECORDS = 100_000
OPEN_BYTES = 64 << 20
CLIENTS = {"partita": "load_partita", "librdkafka": "load_rdkafka"}


class Failed(Exception):
    pass


class StoodStill(Failed):
    pass


class Point:
    """One value on a curve's axis: what the broker and both clients are started with."""

    def __init__(self, x, brokers, partitions, mode, records, delay_ms=0, **options):
        self.x = x
        self.broker = ["--brokers", str(brokers), "--partitions", str(partitions)]
        if delay_ms:
            self.broker += ["--delay-ms", str(delay_ms)]
        self.mode = mode
        self.records = records
        self.options = options

    def load(self, scale):
        """Words after the client's name. Warm-up is a tenth where the mode has one."""
        count = max(int(self.records * scale), 1)
        words = [self.mode, "--records", str(count)]
        if self.mode != "backlog":
            words += ["--warm-up", str(max(count // 10, 1))]
        for name, value in self.options.items():
            words += ["--" + name.replace("_", "-"), str(value)]
        return words


def flat_out(x, brokers=3, partitions=12, records=1_000_000, **options):
    options = {"open": OPEN_RECORDS, "room_mib": ROOM_MIB, **options}
    return Point(x, brokers, partitions, "curve", records, **options)


def of_partitions(count):
    """Fewer records where one costs librdkafka many microseconds."""
    records = {3000: 500_000, 10_000: 200_000}.get(count, 1_000_000)
    return flat_out(count, partitions=count, records=records, spread_over=count)


def of_size(size):
    """As many bytes at once as 100,000 small records, or 64 MiB."""
    records = min(1_000_000, max(1000, 1_000_000_000 // size))
    return flat_out(size, records=records, value_size=size, message_bytes_max=1 << 20,
                    open=min(OPEN_RECORDS, OPEN_BYTES // size))


def waiting(count):
    records = {1: 20_000, 10: 50_000}.get(count, 200_000)
    return Point(count, 3, 12, "closed", records, window=count, linger_ms=0)


def held_up(count):
    """Many short fillings of a small backlog; one of a large one, after one to warm up."""
    return Point(count, 3, 12, "backlog", min(1_000_000, 300 * count), open=count,
                 room_mib=ROOM_MIB)


# name: title, label of the axis, its scale (log, or linear up to the first value above 0), points
CURVES = {
    "partitions": (
        "Partitions that all get records in turn, 3 brokers", "partitions", "log",
        [of_partitions(n) for n in (12, 100, 1000, 3000, 10_000)]),
    "brokers": (
        "Brokers that lead 64 partitions between them", "brokers", "log",
        [flat_out(n, brokers=n, partitions=64) for n in (1, 2, 4, 8, 16, 32, 64)]),
    "waiters": (
        "Records awaited at a time, each sent after the answer to another, linger 0",
        "waiters", "log", [waiting(n) for n in (1, 10, 100, 1000, 10_000)]),
    "record_size": (
        "Size of the value; the key has 16 bytes", "bytes", "log",
        [of_size(n) for n in (10, 100, 1000, 10_000, 100_000, 1_000_000)]),
    "backlog": (
        "Records that wait while the brokers rest, and are sent then", "records", "log",
        [held_up(n) for n in (1000, 10_000, 100_000, 1_000_000)]),
    "lanes": (
        "Threads of partita; librdkafka has no such setting and runs alike at both", "lanes",
        "linear", [flat_out(n, records=2_000_000, lanes=n) for n in (1, 2)]),
    "round_trip": (
        "Answers that come so much later", "ms", "symlog",
        [flat_out(n, delay_ms=n) for n in (0, 1, 2, 5, 10, 20, 50, 100, 200)]),
}


class NullBroker:
    def __init__(self, programs, options):
        self.statistics = os.path.join(tempfile.gettempdir(), "partita-curves-%d" % os.getpid())
        self.process = subprocess.Popen(
            [os.path.join(programs, "null_broker"), *options, "--statistics", self.statistics],
            stdout=subprocess.PIPE, text=True)
        said = self.process.stdout.readline().split()
        if len(said) != 2 or said[0] != "bootstrap":
            self.end()
            raise Failed("null_broker does not start")
        self.bootstrap = said[1]

    def appended(self):
        """Records so far, and the batches and frames that were refused (broker_statistics.hpp)."""
        with open(self.statistics, "rb") as file:
            _, _, records, _, out_of_sequence, broken = struct.unpack("=6Q", file.read(48))
        return records, out_of_sequence + broken

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        if os.path.exists(self.statistics):
            os.unlink(self.statistics)


def finished(command, broker):
    """Exit code and output. A busy machine makes it slow: only what stands still is ended."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seen, idle = broker.appended(), 0
    while True:
        try:
            output, _ = child.communicate(timeout=1)
            return child.returncode, output
        except subprocess.TimeoutExpired:
            last, seen = seen, broker.appended()
            idle = idle + 1 if seen == last else 0
        except BaseException:
            child.kill()
            raise
        if idle >= SECONDS_IDLE_MAX:
            child.kill()
            child.communicate()
            raise StoodStill("no record reached the broker for %d s" % SECONDS_IDLE_MAX)


def run_client(programs, client, words, broker):
    command = [os.path.join(programs, CLIENTS[client]), *words,
               "--bootstrap", broker.bootstrap, "--statistics", broker.statistics]
    before, refused_before = broker.appended()
    code, output = finished(command, broker)
    if code != 0:
        raise Failed("ended with %d" % code)
    told = {}
    for line in output.splitlines():
        name, _, value = line.partition(" ")
        told[name] = float("%.8g" % float(value))
    records, refused = broker.appended()
    if told.get("answered") != records - before or refused != refused_before:
        raise Failed("%s answered, %d appended, %d refused"
                     % (told.get("answered"), records - before, refused - refused_before))
    for name in ("cpu_ns", "memory_bytes"):
        if name not in told:
            raise Failed("tells no " + name)
    return told


def sample(programs, client, point, words, unfinished):
    """One run, against a broker of its own, which nothing of an earlier run can reach."""
    for attempt in range(ATTEMPTS):
        broker = NullBroker(programs, point.broker)
        try:
            return run_client(programs, client, words, broker)
        except StoodStill as why:
            unfinished[client] = unfinished.get(client, 0) + 1
            say("    %s %s%s" % (client, why, ", again" if attempt + 1 < ATTEMPTS else ""))
            if attempt + 1 == ATTEMPTS:
                raise
        finally:
            broker.end()
    return None


def say(text):
    print(text, flush=True)


def first_line_of(path, key):
    with open(path) as file:
        for line in file:
            if line.startswith(key):
                return line.partition(":")[2].strip()
    return "unknown"


def load_average():
    return [round(each, 2) for each in os.getloadavg()]


def machine():
    return {"cpu": first_line_of("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
            "memory_mib": int(first_line_of("/proc/meminfo", "MemTotal").split()[0]) // 1024,
            "kernel": platform.release()}


def version_of(programs):
    done = subprocess.run([os.path.join(programs, "load_rdkafka"), "version"],
                          stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.partition(" ")[2].strip() or "unknown"


def measure(programs, name, rounds, scale, chosen):
    """The points with all samples."""
    points = CURVES[name][3][chosen]
    found = [{"x": point.x, "broker": " ".join(point.broker), "load": " ".join(point.load(scale)),
              "unfinished": {}, "samples": {client: [] for client in CLIENTS}}
             for point in points]
    for number in range(rounds):
        clients = list(CLIENTS) if number % 2 == 0 else list(reversed(CLIENTS))
        for point, into in zip(points, found):
            where = "%s at %d, round %d of %d" % (name, point.x, number + 1, rounds)
            say(where)
            for client in clients:
                try:
                    told = sample(programs, client, point, point.load(scale), into["unfinished"])
                except Failed as why:
                    raise Failed("%s, %s: %s\n  %s %s" % (where, client, why, CLIENTS[client],
                                                         into["load"])) from None
                into["samples"][client].append(told)
                say("    %-10s %12.1f ns/record %10.2f MiB"
                    % (client, told["cpu_ns"], told["memory_bytes"] / (1 << 20)))
    return found


def write(directory, name, told):
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, name + ".json")
    with open(path + ".new", "w") as file:
        json.dump(told, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(prog="curves", description="The scaling curves.")
    parser.add_argument("--programs", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--only", default=",".join(CURVES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trial", action="store_true")
    given = parser.parse_args()
    names = given.only.split(",")
    for name in names:
        if name not in CURVES:
            sys.exit("curves: there is no curve '%s', only %s" % (name, ", ".join(CURVES)))
    if given.rounds < 1:
        sys.exit("curves: --rounds takes a number from 1 on")
    chosen = slice(1, 2) if given.trial else slice(None)
    for name in names:
        facts = machine()
        facts["load_before"] = load_average()
        try:
            points = measure(given.programs, name, given.rounds, 0.01 if given.trial else 1, chosen)
        except (Failed, OSError) as why:
            sys.exit("curves: failed: %s" % why)
        facts["load_after"] = load_average()
        title, label, scale, _ = CURVES[name]
        write(given.json, name, {
            "curve": name, "title": title, "x_label": label, "x_scale": scale,
            "command": "./dev bench curves --only %s --rounds %d" % (name, given.rounds),
            "date": datetime.date.today().isoformat(), "machine": facts,
            "librdkafka": version_of(given.programs), "points": points})


if __name__ == "__main__":
    main()
