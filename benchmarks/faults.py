"""Is anything lost when a command is killed? Kills every command that writes, at every rename and at random moments.

Then the command is run again, as a user would (training with `--resume`), and its folder is compared with that of an
undisturbed run, byte by byte and hidden files included. In between, every file under its proper name must be whole: the
old one or the new one. Some kills hit a command that is recovering from a kill. Prints a card and, as its last line,
one JSON object: `kills`, and how many of the killed runs `recovered` or were `damaged`.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from reliability.commands import SCENARIOS, Scenario, first_files, needed_for
from reliability.inputs import read_files, write_files
from reliability.kills import RENAMES, Ended, Kill, fresh_folder, run_command, warm_up

QUICK_KILLS = 40
SHARE_KILLED_TWICE = 0.25
# What a run writes while it runs: neither old nor new, and checked by the comparison at the end.
_RUNNING = ("checkpoint/", "training.jsonl", "tuning.json", "made.work/")


@dataclass(frozen=True)
class Undisturbed:
    """A scenario, its folder before and after an undisturbed run, and how that run went."""

    name: str
    scenario: Scenario
    before: dict[str, bytes]
    after: dict[str, bytes]
    run: Ended

    def kills(self, *, at_renames: bool) -> list[Kill]:
        """A kill at each step that is a rename, or at each other one."""
        steps = enumerate(self.run.steps)
        return [Kill(step) for step, name in steps if (name.partition("-")[2] in RENAMES) == at_renames]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_KILLS} kills, under a minute")
    parser.add_argument("--kills", type=int, metavar="N", help="kills (default: every rename, and as many more)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same kills at steps")
    parser.add_argument(
        "--commands",
        nargs="+",
        choices=SCENARIOS,
        default=list(SCENARIOS),
        metavar="COMMAND",
        help=", ".join(SCENARIOS),
    )
    parser.add_argument(
        "--failures", type=Path, default=Path("fault-failures"), help="where damaged folders are written"
    )
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    try:
        undisturbed = run_undisturbed(options.commands, scratch)
        wanted = options.kills or (QUICK_KILLS if options.quick else None)
        kill_all(undisturbed, scratch, wanted, random.Random(options.seed), options.failures)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run_undisturbed(names: list[str], scratch: Path) -> list[Undisturbed]:
    """Run the scenarios once each, without a kill."""
    found: dict[str, Undisturbed] = {}
    for name in needed_for(names):
        scenario = SCENARIOS[name]
        before = first_files()
        for earlier in scenario.after:
            before |= found[earlier].after
        folder = fresh_folder(scratch, before)
        warm_up(scenario.command, folder)
        shutil.rmtree(folder)
        write_files(folder, before)
        run = run_command(scenario.command, folder, scratch / "log")
        if run.code != 0:
            raise SystemExit(f"faults: {name} fails undisturbed: {run.said}")
        found[name] = Undisturbed(name, scenario, before, read_files(folder), run)
        shutil.rmtree(folder)
    return [found[name] for name in names]


def kill_all(
    undisturbed: list[Undisturbed], scratch: Path, wanted: int | None, chance: random.Random, failures: Path
) -> None:
    """Kill and recover, print the card and the JSON line."""
    planned = plan(undisturbed, wanted, chance)
    counts: dict[str, Counter[str]] = {each.name: Counter() for each in undisturbed}
    for number, (each, kill) in enumerate(planned):
        second = Kill(chance.randrange(60)) if chance.random() < SHARE_KILLED_TWICE else None
        folder = fresh_folder(scratch, each.before)
        kills, problem = kill_and_recover(each, folder, scratch / "log", kill, second)
        if not kills:
            counts[each.name]["too late"] += 1
        else:
            counts[each.name]["kills"] += kills
            counts[each.name]["recovered" if problem is None else "damaged"] += kills
        if problem is not None:
            place = failures / f"{each.name}-{number}"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder, place / "folder", symlinks=True)
            facts = {"command": each.scenario.command, "kill": asdict(kill), "second": second and asdict(second)}
            steps = None if kill.step is None else each.run.steps[max(0, kill.step - 3) : kill.step + 1]
            (place / "failure.json").write_text(
                json.dumps({**facts, "steps": steps, "problem": problem}, indent=2) + "\n"
            )
        shutil.rmtree(folder)
    total = sum(counts.values(), Counter())
    print(f"faults, {total['kills']:,} kills of {len(undisturbed)} commands in {len(planned):,} runs")
    names = ("kills", "recovered", "damaged")
    print(f"  {'command':18}" + "".join(f"{name:>11}" for name in names))
    for name, found in counts.items():
        print(f"  {name:18}" + "".join(f"{found[each]:11,}" for each in names))
    if total["damaged"]:
        print(f"  damaged folders are in {failures}")
    print(json.dumps({name: total[name] for name in names}))
    sys.exit(int(total["damaged"] > 0))


def plan(undisturbed: list[Undisturbed], wanted: int | None, chance: random.Random) -> list[tuple[Undisturbed, Kill]]:
    """Which kills: first every rename, then by turns other steps and random moments; or a sample of all of them."""
    renames = [(each, kill) for each in undisturbed for kill in each.kills(at_renames=True)]
    wanted = 2 * len(renames) if wanted is None else wanted
    others = [(each, kill) for each in undisturbed for kill in each.kills(at_renames=False)]
    for kills in (renames, others):
        chance.shuffle(kills)
    moments = []
    for number in range(wanted):
        each = undisturbed[number % len(undisturbed)]
        moments.append((each, Kill(seconds=chance.uniform(0, each.run.seconds))))
    num_renames = min(len(renames), max(wanted // 2, wanted - len(others) - len(moments)))
    rest = wanted - num_renames
    return [*renames[:num_renames], *others[: rest // 2], *moments[: rest - min(rest // 2, len(others))]]


def kill_and_recover(
    each: Undisturbed, folder: Path, log: Path, kill: Kill, second: Kill | None
) -> tuple[int, str | None]:
    """Kill a command, perhaps kill it again while it recovers, and let it recover; returns the kills, and what is wrong."""
    again = [*each.scenario.command, *each.scenario.resume]
    kills = 0
    for arguments, moment in ((each.scenario.command, kill), (again, second)):
        if moment is None:
            continue
        ended = run_command(arguments, folder, log, moment)
        if ended.code is not None:
            break
        kills += 1
        if torn := torn_files(each, read_files(folder)):
            return kills, f"neither old nor new after the kill: {', '.join(torn)}"
    if not kills:
        return 0, None
    ended = run_command(again, folder, log)
    found = read_files(folder)
    differing = [
        name
        for name in sorted({*found, *each.after})
        if found.get(name) != each.after.get(name) and not name.endswith(".lock")  # a lock ends with its process
    ]
    if differing:
        return kills, f"differs from an undisturbed run: {', '.join(differing)}; exit code {ended.code}: {ended.said}"
    if ended.code not in (0, 2):  # 2: what was to be made is there, which the comparison has shown
        return kills, f"exit code {ended.code}: {ended.said}"
    return kills, None


def torn_files(each: Undisturbed, found: dict[str, bytes]) -> list[str]:
    """The files under their proper names that are neither those from before nor those from after the command."""
    return [
        name
        for name, content in found.items()
        if not any(part.startswith(".") for part in name.split("/"))
        and not any(part in name for part in _RUNNING)
        and content not in (each.before.get(name), each.after.get(name))
    ]


if __name__ == "__main__":
    main()
