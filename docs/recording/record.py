#!/usr/bin/env python3
"""Records a terminal as an animated SVG: record.py GORGO [-o FILE | --check FILE].

The commands are run in a terminal of their own, and what they print is what is shown. --check says
whether they still print what a recording shows.
"""
import argparse
import html
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = {
    "fire.tesla": """\
define Fire(area: string, measuredTemp: float)
from   Smoke(area = $a)
       and last Temp(area = $a and valeu > 45) within 5 min from Smoke
where  area = Smoke.area and measuredTemp = Temp.value;
""",
    "types.tesla": "event Temp(area: string, value: float);\nevent Smoke(area: string);\n",
    "events.ndjson": """\
{"type":"Temp","ts":1000,"attrs":{"area":"A1","value":46.5}}
{"type":"Temp","ts":2000,"attrs":{"area":"A2","value":60}}
{"type":"Smoke","ts":4000,"attrs":{"area":"A1"}}
{"type":"Smoke","ts":5000,"attrs":{"area":"A3"}}
""",
}
COMMANDS = [
    "cat fire.tesla",
    "gorgo check types.tesla fire.tesla",
    "sed -i s/valeu/value/ fire.tesla",
    "gorgo run types.tesla fire.tesla --events events.ndjson",
    "gorgo why types.tesla fire.tesla --events events.ndjson --rule fire.Fire",
]
COLUMNS, TYPING, READING, REST = 100, 0.035, 0.9, 5.0  # seconds for a letter, behind a command, in the end
COLOURS = {"1": "bold", "31": "red", "32": "green", "33": "yellow", "35": "magenta", "36": "cyan", "2": "quiet"}
STYLE = """
text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #d7dce5; white-space: pre; }
.back { fill: #14181f; } .prompt { fill: #5fb37c; } .bold { font-weight: 600; } .red { fill: #ff7b72; }
.green { fill: #5fb37c; } .yellow { fill: #e3b341; } .magenta { fill: #d2a8ff; } .cyan { fill: #76c7d8; } .quiet { fill: #8d96a5; }

@media (prefers-reduced-motion: reduce) { .line { animation: none !important; } }
"""


def in_terminal(command: str, folder: str, gorgo: Path) -> str:
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "PATH": f"{gorgo.parent}:{os.environ['PATH']}"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, shell=True, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        printed = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                printed += chunk
        except OSError:  # how a terminal ends
            pass
    os.close(ours)
    return printed.decode().replace("\r\n", "\n").rstrip("\n")


def spans_of(line: str) -> str:
    """A line with its colours, as SVG."""
    spans, kinds = "", set()
    for part in re.split(r"(\x1b\[[\d;]*m)", line):
        if code := re.fullmatch(r"\x1b\[([\d;]*)m", part):
            for number in code[1].split(";"):
                kinds = set() if number in ("", "0") else kinds | {COLOURS.get(number, "plain")}
        elif part:
            spans += f'<tspan class="{" ".join(sorted(kinds))}">{html.escape(part)}</tspan>' if kinds else html.escape(part)
    return spans


def record(gorgo: Path) -> list[tuple[float, str]]:
    """Lines with the seconds at which they are there."""
    lines, now = [], 0.5
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text)
        for command in COMMANDS:
            now += TYPING * len(command)
            lines.append((now, f'<tspan class="prompt">$ </tspan>{html.escape(command)}'))
            printed = in_terminal(command, folder, gorgo)
            now += 0.2
            lines += [(now, spans_of(line)) for line in printed.split("\n") if printed]
            now += READING
    return lines


def draw(lines: list[tuple[float, str]]) -> str:
    length, height = lines[-1][0] + REST, 18 * len(lines) + 28
    frames, texts = "", ""
    for i, (at, line) in enumerate(lines):
        share = 100 * at / length
        frames += f"@keyframes l{i} {{ 0%, {share:.2f}% {{ opacity: 0; }} {share + 0.01:.2f}%, 100% {{ opacity: 1; }} }}\n"
        texts += f'<text class="line" style="animation: l{i} {length:.1f}s step-end infinite" x="16" y="{28 + 18 * i}">{line}</text>\n'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" role="img" '
        'aria-label="A terminal: a rule with a mistake is checked, mended, run over events, and asked why it fired">\n'
        f'<style>{STYLE}{frames}</style>\n<rect class="back" width="820" height="{height}" rx="8"/>\n{texts}</svg>\n'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gorgo", type=Path)
    parser.add_argument("-o", dest="output", type=Path)
    parser.add_argument("--check", type=Path)
    options = parser.parse_args()
    svg = draw(record(options.gorgo.resolve()))
    if options.check:
        same = options.check.read_text() == svg
        print("as recorded" if same else f"the commands print something else: {' '.join(sys.argv[:2])} -o {options.check}")
        return 0 if same else 1
    if options.output:
        options.output.write_text(svg)
    else:
        sys.stdout.write(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
