"""Calculates what weather.tesla asks for from the days of Seattle's weather, and compares it with
what `gorgo run` gives: every composite, every digit, in the same order.

Nothing here follows the way Gorgo evaluates rules. Sums are exact fractions, each window is a list
of days, and time zones are Python's. The days are those of the National Centers for Environmental
Information (public domain), as the npm package vega-datasets 2 ships them.

usage: weather.py GORGO FOLDER ENGINE
"""

import csv
import datetime
import json
import math
import subprocess
import sys
from fractions import Fraction
from zoneinfo import ZoneInfo

DAY_MS = 86_400_000
FIELDS = ("precipitation", "temp_max", "temp_min", "wind")


def read_days(path):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            date = datetime.datetime.fromisoformat(row["date"].replace("/", "-"))
            utc = date.replace(tzinfo=datetime.timezone.utc)
            day = {name: float(row[name]) for name in FIELDS}
            day.update(ts=int(utc.timestamp()) * 1000, weather=row["weather"])
            yield day


def column(days, name):
    return [day[name] for day in days]


def total(values):
    return float(sum((Fraction(value) for value in values), Fraction(0)))


def variance(values, divisor):
    mean = total(values) / len(values)
    differences = [value - mean for value in values]
    rest = total(differences)
    squares = total(d * d for d in differences)
    return max(squares - rest * rest / len(values), 0.0) / divisor


def percentile(values, percent):
    ordered = sorted(values)
    rank = percent / 100 * (len(ordered) - 1)
    low = math.floor(rank)
    part = rank - low
    if part == 0 or ordered[low] == ordered[low + 1]:
        return ordered[low]
    return ordered[low] * (1 - part) + ordered[low + 1] * part


def week(days):
    if not days:
        return None
    maxima = column(days, "temp_max")
    return {
        "days": len(days),
        "mean": total(maxima) / len(maxima),
        "total": total(column(days, "precipitation")),
        "low": min(column(days, "temp_min")),
        "high": max(maxima),
    }


def month(days):
    if len(days) < 2:
        return None
    winds, minima = column(days, "wind"), column(days, "temp_min")
    return {
        "deviation": math.sqrt(variance(winds, len(winds) - 1)),
        "variance": variance(minima, len(minima)),
        "median": percentile(winds, 50),
        "ninth": percentile(column(days, "temp_max"), 90),
        "kinds": len(set(column(days, "weather"))),
        "first": winds[0],
        "last": days[-1]["weather"],
    }


def when(day, zone=datetime.timezone.utc):
    return datetime.datetime.fromtimestamp(day["ts"] / 1000, zone)


def cooler(now, before):
    """The last warmer day that no fog hides: a foggy day in between rules a candidate out."""
    for i in range(len(before) - 1, -1, -1):
        warm = before[i]
        fog = any(day["weather"] == "fog" for day in before[i + 1 :])
        if warm["temp_max"] > now["temp_max"] and not fog:
            return {
                "by": warm["temp_max"] - now["temp_max"],
                "days": (now["ts"] - warm["ts"]) // DAY_MS,
                "weekday": when(warm).isoweekday(),
            }
    return None


def gusts(now, before, consumed):
    if now["wind"] <= 6.0:
        return None
    for day in before:
        if day["wind"] > 6.0 and day["ts"] not in consumed:
            consumed.add(day["ts"])
            local = when(day, ZoneInfo("America/Los_Angeles"))
            return {"first": day["wind"], "second": now["wind"], "month": local.month}
    return None


def dry(wet, days):
    """The days strictly within the five behind the wet one decide."""
    for day in days:
        inside = wet["ts"] < day["ts"] < wet["ts"] + 5 * DAY_MS
        if inside and day["precipitation"] > 0.0:
            return None
    root = math.floor(math.sqrt(wet["precipitation"]) * 1000 + 0.5) / 1000.0
    return {"rain": wet["precipitation"], "root": root}


def kinds(instant, days):
    """The report of one week: a group for each kind of weather, in the order of their last days."""
    groups = {}
    for day in days:
        if instant - 28 * DAY_MS <= day["ts"] < instant:
            groups[day["weather"]] = groups.pop(day["weather"], []) + [day]
    reports = [
        {"weather": name, "days": len(group), "warmth": total(column(group, "temp_max")) / len(group)}
        for name, group in groups.items()
        if len(group) > 1
    ]
    return sorted(reports, key=lambda report: -report["warmth"])[:3]


def rains(now, before):
    if now["wind"] <= 5.0:
        return None
    wet = [d for d in before if d["precipitation"] > 0.0 and d["ts"] > now["ts"] - 60 * DAY_MS][-5:]
    if not wet:
        return None
    mean = total(column(wet, "precipitation")) / len(wet)
    return {"days": len(wet), "mean": mean, "since": wet[0]["temp_min"]}


def lately(now, before):
    """A group for each kind of weather of the last twenty days, in the order of their last days."""
    if now["wind"] <= 5.0:
        return []
    groups = {}
    for day in before[-20:]:
        groups[day["weather"]] = groups.pop(day["weather"], []) + [day]
    reports = [
        {"weather": name, "days": len(group), "rain": total(column(group, "precipitation"))}
        for name, group in groups.items()
    ]
    return sorted(reports, key=lambda report: -report["rain"])


def notice(now, noticed):
    if now["wind"] <= 5.0:
        return None
    recent = [ts for ts, kind in noticed if kind == now["weather"] and ts > now["ts"] - 30 * DAY_MS]
    if len(recent) >= 2:
        return None
    noticed.append((now["ts"], now["weather"]))
    return {"weather": now["weather"], "wind": now["wind"]}


def expected(days):
    consumed, noticed = set(), []
    for i, now in enumerate(days):
        # A timer comes before the events of its instant, and none before the first event.
        if i > 0 and now["ts"] % (7 * DAY_MS) == 0:
            for report in kinds(now["ts"], days[max(i - 28, 0) : i]):
                yield "Kinds", now["ts"], report
        # A deadline is over before the events of its instant.
        for wet in days[max(i - 5, 0) : i]:
            if wet["ts"] + 5 * DAY_MS == now["ts"] and wet["precipitation"] > 0.0:
                yield "Dry", now["ts"], dry(wet, days[max(i - 5, 0) : i + 1])

        def within(count):
            return [d for d in days[max(i - count, 0) : i] if d["ts"] > now["ts"] - count * DAY_MS]

        yield "Week", now["ts"], week(within(7))
        yield "Month", now["ts"], month(within(30))
        yield "Cooler", now["ts"], cooler(now, within(30))
        yield "Gusts", now["ts"], gusts(now, within(20), consumed)
        yield "Rains", now["ts"], rains(now, days[:i])
        yield "Notice", now["ts"], notice(now, noticed)
        for report in lately(now, days[:i]):
            yield "Lately", now["ts"], report


def main():
    gorgo, folder, engine = sys.argv[1:]
    days = list(read_days(f"{folder}/seattle_weather.csv"))
    wanted = [composite for composite in expected(days) if composite[2] is not None]
    lines = "".join(
        json.dumps({"type": "Day", "ts": day["ts"],
                    "attrs": {k: v for k, v in day.items() if k != "ts"}}) + "\n"
        for day in days
    )
    command = [gorgo, "run", f"{folder}/weather.tesla", "--events", "-", "--engine", engine,
               "--strict"]
    output = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    given = [json.loads(line) for line in output.splitlines()]
    given = [(event["type"], event["ts"], event["attrs"]) for event in given]
    for number, (mine, theirs) in enumerate(zip(wanted, given)):
        if repr(mine) != repr(theirs):  # an int is no float here
            sys.exit(f"composite {number} differs:\n  calculated {mine}\n  gorgo gave {theirs}")
    if len(wanted) != len(given):
        sys.exit(f"{len(wanted)} composites were calculated, gorgo gave {len(given)}")
    counts = {name: sum(1 for w in wanted if w[0] == name) for name in sorted({w[0] for w in wanted})}
    print(f"{len(given)} composites of {len(days)} days are the same: {counts}")
    if len(counts) < 9:
        sys.exit("some rule gave nothing")


if __name__ == "__main__":
    main()
