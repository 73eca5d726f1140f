#!/usr/bin/env python3
"""Draws the scaling curves that curves.py measured: DIRECTORY/NAME.json becomes OUTPUT/NAME.svg.

    draw_curves.py --json DIRECTORY --output DIRECTORY [--only NAME,...]

Two panels, CPU per record and memory: the medians of the rounds, and a band from the least to the
most. The same JSON gives the same bytes, with the same version of matplotlib.
"""

import argparse
import json
import os
import statistics
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "partita", "font.family": "sans-serif",
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
})

from matplotlib import pyplot, ticker  # noqa: E402, after the choice of what draws

LOOKS = {"partita": ("#0b5fa5", "o", "-"), "librdkafka": ("#c4561b", "s", "--")}
PANELS = (("cpu_ns", 1, "CPU per record", "ns"),
          ("memory_bytes", 1 << 20, "Peak memory of the client", "MiB"))


def short(value, _=None):
    """0.5, 10, 1,500, 10k, 1M: as it is said."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if value >= size and value >= 10_000:
            return "%g%s" % (value / size, letter)
    return format(value, ",.0f") if value >= 1000 else "%g" % value


def scale_axis(axis, scale, places):
    if scale == "log":
        axis.set_xscale("log")
    elif scale == "symlog":
        axis.set_xscale("symlog", linthresh=min(x for x in places if x > 0))
    axis.xaxis.set_major_locator(ticker.FixedLocator(places))
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(short))


def draw_panel(axis, told, name, unit, title, label):
    places = [point["x"] for point in told["points"]]
    highest, lowest = 0, float("inf")
    for client, (color, marker, line) in LOOKS.items():
        samples = [[each[name] / unit for each in point["samples"][client]]
                   for point in told["points"]]
        least, most = [min(each) for each in samples], [max(each) for each in samples]
        axis.fill_between(places, least, most, color=color, alpha=0.2, linewidth=0)
        axis.plot(places, [statistics.median(each) for each in samples], color=color,
                  marker=marker, markersize=5, linestyle=line, linewidth=1.6, label=client)
        highest, lowest = max([highest, *most]), min([lowest, *least])
    scale_axis(axis, told["x_scale"], places)
    if lowest > 0 and highest / lowest > 8:
        axis.set_yscale("log")
        axis.set_ylim(lowest / 1.5, highest * 1.5)
        few_decades = highest / lowest < 300
        axis.yaxis.set_major_locator(
            ticker.LogLocator(subs=(1, 2, 5) if few_decades else (1,), numticks=20))
        axis.yaxis.set_minor_locator(ticker.NullLocator())
    else:
        axis.set_ylim(0, highest * 1.12)
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(short))
    axis.set_title(title, fontsize=10, loc="left")
    axis.set_ylabel(label)
    axis.set_xlabel(told["x_label"])


def draw(told, path):
    figure, axes = pyplot.subplots(1, 2, figsize=(9.2, 3.7))
    for axis, (name, unit, title, label) in zip(axes, PANELS):
        draw_panel(axis, told, name, unit, title, label)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.suptitle(told["title"], x=0.01, ha="left", fontsize=11.5, weight="bold")
    figure.legend(handles, labels, loc="lower center", ncol=2, frameon=False)
    rounds = max(len(each) for point in told["points"] for each in point["samples"].values())
    what = "one round" if rounds == 1 else "median, and least to most, of %d rounds" % rounds
    figure.text(0.99, 0.03, what, ha="right", fontsize=8.5, color="#555555")
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    # The background is white in dark pages, too.
    figure.savefig(path, format="svg", facecolor="white",
                   metadata={"Date": None, "Creator": None, "Title": told["title"]})
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(prog="draw_curves", description="Draws the scaling curves.")
    parser.add_argument("--json", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else sorted(
        name[:-len(".json")] for name in os.listdir(given.json) if name.endswith(".json"))
    if not names:
        sys.exit("draw_curves: no figures in " + given.json)
    os.makedirs(given.output, exist_ok=True)
    for name in names:
        with open(os.path.join(given.json, name + ".json")) as file:
            told = json.load(file)
        path = os.path.join(given.output, name + ".svg")
        draw(told, path)
        print(path)


if __name__ == "__main__":
    main()
