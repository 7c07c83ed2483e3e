"""Profiles the longest launch of a kernel: what Nsight Compute measures of it, a line.

    profile.py KERNEL COMMAND...

KERNEL: a regular expression for demangled names. The first launches of a bench are those of filling
up, and of small batches; which one is the longest is found by a first run.
"""

import csv
import subprocess
import sys

METRICS = {
    "gpu__time_duration.sum": "time",
    "launch__grid_size": "blocks",
    "launch__registers_per_thread": "registers",
    "smsp__inst_executed.sum": "instructions",
    "sm__inst_issued.avg.pct_of_peak_sustained_active": "issue %",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active": "ALU %",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active": "FP64 %",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps %",
    "dram__bytes_read.sum": "read",
    "lts__t_bytes.sum": "through L2",
}


def launches(kernel, command, metrics, *options):
    """What each launch of the kernel took, by its number."""
    run = subprocess.run(
        ["ncu", "--clock-control", "none", "--kernel-name-base", "demangled", "--kernel-name",
         "regex:" + kernel, "--kill", "yes", "--csv", "--print-units", "base", "--metrics",
         ",".join(metrics), *options, *command],
        capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL, check=False)
    rows = csv.DictReader(line for line in run.stdout.splitlines() if line.startswith('"'))
    found = {}
    for row in rows:
        launch = found.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"]})
        launch[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    if not found:
        sys.exit(f"no launch of {kernel}: {run.stdout[-500:]}")
    return found


def main():
    kernel, *command = sys.argv[1:]
    time = "gpu__time_duration.sum"
    all_launches = launches(kernel, command, [time], "--launch-count", "150")
    longest = max(all_launches, key=lambda number: all_launches[number][time])
    (launch,) = launches(kernel, command, METRICS, "--launch-skip", str(longest),
                         "--launch-count", "1").values()
    name = launch["kernel"].replace("gorgo::gpu::", "").split("(")[0].removeprefix("void ")
    values = [f"{text} {launch[metric]:.4g}" for metric, text in METRICS.items() if metric in launch]
    print(f"{name}: " + ", ".join(values))


main()
