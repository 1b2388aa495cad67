"""Damage model files, and see that they are refused or do no harm.

``python -m tools.fuzz_files --count 1000000`` tries as many mutations of the files in
``tests/golden``, and of some of them as JSON (``tools/damage.py`` has the ways). Each
loads, or is a ``ModelFormatError``; what loads can be printed, predicted with,
explained and exported, or says why not by a ``SpinneyError``. Of every twentieth
mutation all is tried that a user might do: all explanations, prunings, pictures, pages,
the lesson and every export; it is explained on rows and pruned by them, too. Whatever
else happens is a find: another error, a warning that is not ours, more than two
seconds, a crash, a hang, memory beyond a limit. Its bytes are stored in
``tests/golden/damaged``, which ``tests/output/test_damaged_files.py`` tries for ever.

``--record`` writes what came of it, with date and version, for ``tools/trust.py``; a
run that was ended goes on behind what is recorded of the same code and seed. A find
that was mended since is found no more: all that is kept is tried first.

Mutations are tried in a child process, which the system ends if one of them takes too
long, even inside of compiled code; the next child goes on behind it. Number n of a seed
is always the same mutation.
"""

import argparse
import datetime
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import spinney
from spinney.errors import ModelFormatError, SpinneyError, SpinneyWarning
from spinney.models import load_model
from spinney.output.export_formats import FORMATS
from tools.damage import mutated, mutated_json, mutated_text

__all__ = [
    "DAMAGED",
    "RULES",
    "Trial",
    "bounded",
    "file_name",
    "golden_files",
    "mutation",
    "originals",
    "recorded",
    "replayed",
    "rows_for",
    "tried",
]

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
DAMAGED = GOLDEN / "damaged"
RULES = "_rules.json"
AS_JSON = (  # models of each kind that are small as text
    *("kyphosis_costs.v2", "melon_c45.v2", "melon_m5.v2", "melon_recipes.v3"),
    *("price_forest.v1", "five_means.v1", "melon_prototypes.v1"),
)
SLOW = 2.0  # seconds of a processor: nothing that small may take longer
HANGS = 20.0  # when the system ends the process
ROOM = 1 << 30  # bytes that a process may ask for beyond what it has
PIECE = 20_000  # mutations of one child
# A disk would take most of the time: a file is written anew for every mutation.
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None

FULLY = 20  # of so many mutations, all that can be done is done with one
SLOW_FORMATS = ("png", "pdf")  # which draw what "svg" draws, by another program
# They need neither rows nor more to be said.
PRUNE_METHODS = ("error-based", "pessimistic", "collapse", "mdl", "simplify")
VALIDATED_METHODS = ("reduced-error", "pre-pruning")

Rows = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of a mutation: "refused", "used", or an unexpected error."""

    outcome: str
    seconds: float
    problem: str = ""


@cache
def golden_files() -> dict[str, bytes]:
    """Return the files of ``tests/golden``: trees, forests, clusters, rules."""
    paths = [*GOLDEN.glob("*.spinney"), *GOLDEN.glob(f"*{RULES}")]
    return {path.name: path.read_bytes() for path in sorted(paths)}


@cache
def originals() -> dict[str, bytes]:
    """Return all sound files by name: what is stored, and some of it as JSON."""
    texts = {
        f"{stem}.json": load_model(GOLDEN / f"{stem}.spinney").export("json").encode()
        for stem in AS_JSON
    }
    return golden_files() | texts


def suffix_of(name: str) -> str:
    """Return how a file of its form ends: rules, a model as JSON, a model file."""
    return next(end for end in (RULES, ".json", ".spinney") if name.endswith(end))


def file_name(name: str) -> str:
    """Return what a mutation of a file is called."""
    return f"m{suffix_of(name)}"


DAMAGE = {RULES: mutated_text, ".json": mutated_json, ".spinney": mutated}


def mutation(name: str, seed: int, number: int) -> bytes:
    """Return a mutation of a file; the same one for the same numbers."""
    damage = DAMAGE[suffix_of(name)]
    return damage(originals()[name], Random(f"{name} {seed} {number}"))


def loaded(path: Path) -> Any:
    """Return the model of a file; rules are text."""
    if not path.name.endswith(RULES):
        return spinney.load(path)
    return spinney.RuleSet.from_json(path.read_text("utf-8", errors="replace"))


@cache
def rows_for(name: str) -> Rows:
    """Return rows that a sound file predicts: known, unknown and missing cells."""
    stored = name if suffix_of(name) == RULES else f"{Path(name).stem}.spinney"
    model = loaded(GOLDEN / stored)
    schema = getattr(model, "clusters_", model).schema
    complete = isinstance(model, (spinney.KMeans, spinney.MiniBatchKMeans))
    rows = {}
    for attribute in schema.attributes:
        first = -1e155 if complete else None  # k-means takes no missing cell
        numbers: list[Any] = [first, -1e9, 0.0, 1.0, 3.5, 1e9]
        others = [None, *attribute.values[:4], "never seen"]
        cells = numbers if attribute.kind == "numeric" else others
        rows[attribute.name] = [cells[place % len(cells)] for place in range(6)]
    return rows


def _uses(model: Any, rows: Rows) -> list[Callable[[], object]]:
    """Return what is quickly done with a model."""
    always: list[Callable[[], object]] = [
        lambda: str(model),
        lambda: model.predict(rows),
    ]
    kind = kind_of(model)
    if kind == "forest":
        return [*always, lambda: str(model.trees[0]), lambda: model.importances]
    if kind == "rules":
        return [*always, lambda: model.to_json()]
    if kind == "clusters":
        return always
    return [
        *always,
        lambda: model.facts(),
        lambda: str(model.rules()),
        lambda: str(model.explain(node=0)),
        lambda: model.export("json"),
    ]


def kind_of(model: Any) -> str:
    """Return the kind of a model."""
    return str(getattr(model, "kind", "clusters"))


def _all_uses(model: Any, rows: Rows) -> list[Callable[[], object]]:
    """Return all that a user might do with a model, in Python or in the shell."""
    kind = kind_of(model)
    if kind == "rules":
        return _uses(model, rows)
    uses: list[Callable[[], object]] = [
        partial(model.export, name)
        for name, form in FORMATS.items()
        if kind in form.kinds and name not in SLOW_FORMATS
    ]
    if kind == "forest":
        return [
            *uses,
            lambda: str(model.importances()),
            lambda: str(model.interactions()),
            lambda: model.outputs(rows),
            lambda: model.trees[0].export("svg"),
            lambda: str(model.trees[0].explain(node=0)),
        ]
    if kind == "tree":
        uses += [partial(_explained, model, rows, node) for node in range(4)]
        uses += [partial(_explained_on_rows, model, rows, node) for node in range(4)]
        uses += [partial(_pruned, model, method) for method in PRUNE_METHODS]
        uses += [partial(_pruned_by, model, rows, way) for way in VALIDATED_METHODS]
        uses += [
            lambda: str(model.prune(alpha=0.1)),
            lambda: str(model.prune(nodes=[0])),
            lambda: model.outputs(rows),
            lambda: model.plot(bars=True).svg,
        ]
    return uses


def _explained(model: Any, rows: Rows, node: int) -> None:
    """Explain a node, each attribute there, and a row."""
    str(model.explain(node=node))
    for name in rows:
        with suppress(SpinneyError):
            str(model.explain(node=node, attribute=name))
    row = {name: cells[node : node + 1] for name, cells in rows.items()}
    str(model.explain(row=row))


def _with_target(model: Any, rows: Rows, n_rows: int) -> Rows:
    """Return the first of some rows, with targets that the model knows."""
    target = model.schema.target
    cells = [0.0, 3.5, 7.0] if target.is_numeric else list(target.classes)
    targets = [cells[place % len(cells)] for place in range(n_rows)]
    attributes = {name: column[:n_rows] for name, column in rows.items()}
    return {**attributes, target.name: targets}


def _explained_on_rows(model: Any, rows: Rows, node: int) -> None:
    """Explain a node as counted on few rows, and on more."""
    for n_rows in (3, 6):
        with suppress(SpinneyError):
            str(model.explain(node=node, data=_with_target(model, rows, n_rows)))


def _pruned(model: Any, method: str) -> None:
    str(model.prune(method))


def _pruned_by(model: Any, rows: Rows, method: str) -> None:
    """Prune a tree by validation rows."""
    str(model.prune(method, validation=_with_target(model, rows, 6)))


def used(model: Any, rows: Rows, *, fully: bool = False) -> None:
    """Do much with a model, or all; only an error nobody meant passes."""
    uses = _uses(model, rows)
    for use in uses + _all_uses(model, rows) if fully else uses:
        try:
            use()
        except SpinneyError as error:
            str(error)


@contextmanager
def bounded() -> Iterator[None]:
    """Let this process have little more memory than it has.

    What asks for more is refused by the system, as a MemoryError.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def tried(
    data: bytes, path: Path, rows: Rows, *, use: bool = True, fully: bool = False
) -> Trial:
    """Write a damaged file, and see what becomes of it.

    If it takes far too long the system ends the process (SIGVTALRM).
    """
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS)
    start = time.process_time()
    outcome, problem = "used" if use else "loaded", ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SpinneyWarning)
        try:
            model = loaded(path)
            if use:
                used(model, rows, fully=fully)
        except ModelFormatError:
            outcome = "refused"
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a find)
            outcome, problem = type(error).__name__, _where(error)
    seconds = time.process_time() - start
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if seconds > SLOW and not problem:
        outcome, problem = "slow", f"{seconds:.1f} s (slow)"
    return Trial(outcome, seconds, problem)


def _where(error: Exception) -> str:
    frame = error.__traceback__
    lines = []
    while frame is not None:
        code = frame.tb_frame.f_code
        lines.append(f"{Path(code.co_filename).name}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return f"{' '.join(str(error).split())[:120]} ({', '.join(lines[-3:])})"


@dataclass(slots=True)
class Sum:
    """The outcomes of many mutations; finds by the name of their file."""

    outcomes: Counter[str] = field(default_factory=Counter)
    finds: dict[str, str] = field(default_factory=dict)
    mended: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    memory: int = 0

    def add(self, other: dict[str, Any]) -> None:
        """Add what a child tells."""
        self.outcomes.update(other["outcomes"])
        self.slowest = max(self.slowest, other["slowest"])
        self.memory = max(self.memory, other.get("memory", 0))


def warmed(path: Path) -> None:
    """Use the sound files: compilers and imports are done before anything is timed."""
    for name, data in originals().items():
        file = path / file_name(name)
        file.write_bytes(data)
        used(loaded(file), rows_for(name), fully=True)


def run_piece(seed: int, first: int, last: int, keep: Path, path: Path) -> None:
    """Try the mutations of some numbers here; print lines of JSON on what comes."""
    names, total = list(originals()), Sum()
    warmed(path)
    with bounded(), open(path / "number", "wb", buffering=0) as last_begun:
        for number in range(first, last):
            name = names[number % len(names)]
            data = mutation(name, seed, number)
            os.pwrite(last_begun.fileno(), b"%12d" % number, 0)
            fully = number // len(names) % FULLY == 0
            trial = tried(data, path / file_name(name), rows_for(name), fully=fully)
            total.outcomes[trial.outcome] += 1
            total.slowest = max(total.slowest, trial.seconds)
            where = trial.problem.rpartition("(")[2]
            if trial.problem and where not in total.finds:
                total.finds[where] = trial.problem
                line = {"find": where, "says": f"{trial.outcome}: {trial.problem}"}
                line["kept"] = kept(name, data, keep)
                print(json.dumps(line), flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    told = {"outcomes": total.outcomes, "slowest": total.slowest, "memory": memory}
    print(json.dumps(told), flush=True)


def kept(name: str, data: bytes, keep: Path) -> str:
    """Store the bytes of a find; return by what name."""
    keep.mkdir(exist_ok=True)
    digest = sha256(data).hexdigest()[:12]
    path = keep / f"{name.partition('.')[0]}-{digest}{suffix_of(name)}"
    path.write_bytes(data)
    return path.name


def run_all(count: int, seed: int, keep: Path, record: Path | None = None) -> Sum:
    """Try many, in children one after the other, and keep the finds."""
    names, total = list(originals()), Sum(finds=replayed(keep))
    number, wheres = _gone_on(total, record, seed), set[str]()
    with TemporaryDirectory(dir=IN_MEMORY) as directory:
        while number < count:
            last = min(number + PIECE, count)
            command = [sys.executable, "-m", "tools.fuzz_files", "--piece", directory]
            command += ["--seed", str(seed), "--first", str(number)]
            command += ["--count", str(last - number), "--keep", str(keep)]
            child = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            for line in map(json.loads, child.stdout.splitlines()):
                if "find" not in line:
                    total.add(line)
                elif line["find"] not in wheres:
                    wheres.add(line["find"])
                    total.finds[line["kept"]] = line["says"]
                    print(f"{line['kept']}: {line['says']}", file=sys.stderr)
            if child.returncode < 0:  # ended by a signal: this mutation is a find
                last = _ended(Path(directory), names, seed, keep, total, child)
                total.outcomes["tried before that"] += last - 1 - number
            elif child.returncode:
                sys.exit(child.returncode)
            number = last
            if record:
                record.write_text(recorded(total, number, seed), "utf-8")
            if number < count:
                print(f"{number} mutations so far: {summed(total)}", flush=True)
    return total


def _gone_on(total: Sum, record: Path | None, seed: int) -> int:
    """Take what was recorded of this code and seed; return where to go on."""
    if record is None or not record.exists():
        return 0
    facts = json.loads(record.read_text("utf-8"))
    same = (facts["seed"], facts["files"], facts.get("code"))
    if same != (seed, len(originals()), _code()):
        return 0
    total.add({"outcomes": facts["outcomes"], "slowest": facts["slowest_seconds"]})
    total.memory = facts["resident_megabytes"]
    total.mended = {
        name: says
        for name, says in (facts["mended"] | facts["finds"]).items()
        if name not in total.finds  # which is what still does harm
    }
    return int(facts["mutations"])


@cache
def _code() -> str:
    """Return what tells this code of the package from any other."""
    texts = [path.read_bytes() for path in sorted((ROOT / "src").rglob("*.py"))]
    return sha256(b"".join(texts)).hexdigest()[:16]


def _ended(
    directory: Path,
    names: Sequence[str],
    seed: int,
    keep: Path,
    total: Sum,
    child: "subprocess.CompletedProcess[str]",
) -> int:
    """Keep what ended a child; return the number after it."""
    number = int((directory / "number").read_text())
    name, why = names[number % len(names)], signal.Signals(-child.returncode).name
    stored = kept(name, mutation(name, seed, number), keep)
    total.outcomes[why] += 1
    total.finds[stored] = f"the process was ended by {why}"
    print(f"{stored}: {total.finds[stored]}", file=sys.stderr)
    return number + 1


def summed(total: Sum) -> str:
    """Return one line on what came of mutations."""
    counts = ", ".join(f"{n} {outcome}" for outcome, n in total.outcomes.most_common())
    return (
        f"{counts}; the slowest took {total.slowest:.2f} s, {total.memory} MB "
        f"resident at most; {len(total.finds)} finds"
    )


def replayed(keep: Path) -> dict[str, str]:
    """Try what was found once; return what still does harm, and how."""
    harmful = {}
    with TemporaryDirectory(dir=IN_MEMORY) as directory, bounded():
        for path in sorted(keep.glob("*")):
            stem = path.name.partition("-")[0]
            name = next(name for name in originals() if name.startswith(stem))
            file, rows = Path(directory, path.name), rows_for(name)
            trial = tried(path.read_bytes(), file, rows, fully=True)
            if trial.problem:
                harmful[path.name] = f"{trial.outcome}: {trial.problem}"
    return harmful


def recorded(total: Sum, count: int, seed: int) -> str:
    """Return what came of a run as JSON, with date and version."""
    today = datetime.datetime.now(datetime.UTC).date()
    facts = {
        "version": spinney.__version__,
        "date": str(today),
        "mutations": count,
        "seed": seed,
        "files": len(originals()),
        "code": _code(),
        "outcomes": dict(total.outcomes.most_common()),
        "finds": total.finds,
        "mended": total.mended,
        "slowest_seconds": round(total.slowest, 2),
        "resident_megabytes": total.memory,
    }
    return json.dumps(facts, indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try many, say what came of them, keep the finds; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=DAMAGED, help="where finds go")
    parser.add_argument("--record", type=Path, help="write what came of it there")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--piece", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.piece:
        last = options.first + options.count
        run_piece(options.seed, options.first, last, options.keep, options.piece)
        return 0
    total = run_all(options.count, options.seed, options.keep, options.record)
    print(f"{options.count} mutations of {len(originals())} files: {summed(total)}")
    return 1 if total.finds else 0


if __name__ == "__main__":
    sys.exit(main())
