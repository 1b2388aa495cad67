"""Damaged model files and hostile tables, given to Spinney and to its peers.

``python -m benchmarks.hostile`` (``make hostile``) damages a model of each program in
its own format, by the same blind ways from the same seeds: a turned bit, another byte,
a piece left out, a piece written over another, a cut end. Each file is loaded and asked
to predict. Then each program is given tables that others have stumbled over. Every case
runs in a forked process of bounded time and memory.

What becomes of a case:

right
    An answer that is the right one: of a damaged file, the one of the sound file.
refused
    The error that the program has for it: its own class, or ValueError or TypeError; of
    skops, whose files are zip archives, BadZipFile.
other error
    Another exception, from somewhere inside.
wrong
    Another answer than the right one, without a word.
crash, hang, memory
    The process was ended by a signal, took too long, or asked for too much.

scikit-learn has no format of its own: pickles run what they hold, so its model is in
the format of skops. XGBoost has two.
"""

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tools.damage import OUTSIDE

__all__ = ["CASES", "OUTCOMES", "PROGRAMS", "forked", "main"]

OUTCOMES = ("right", "refused", "other error", "wrong", "crash", "hang", "memory")
SECONDS = 10.0
ROOM = 2 << 30
BLIND = tuple(deed for deed in OUTSIDE if deed.__name__ not in ("digit", "grow"))

Table = Any


def forked(work: Callable[[], str], *, seconds: float = SECONDS) -> str:
    """Return what work returns in a process of its own, or how that ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _bound(seconds)
        try:
            outcome = work()
        except MemoryError:
            outcome = "memory"
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is told)
            outcome = f"other error {type(error).__name__}: {error}"
        os.write(writing, outcome.encode("utf-8", "replace")[:2000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        outcome = pipe.read().decode("utf-8", "replace")
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        hang = number in (signal.SIGVTALRM, signal.SIGALRM)
        return "hang" if hang else f"crash {signal.Signals(number).name}"
    return outcome or "crash without a word"


def _bound(seconds: float) -> None:
    """Let this process have little time and memory, and say nothing."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.alarm(int(6 * seconds))  # for what sleeps
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    warnings.simplefilter("ignore")


# The programs


@dataclass(frozen=True)
class Program:
    """A program: how it fits, saves and loads a model, and what it raises.

    ``modules`` are imported before anything is forked.
    """

    package: str
    modules: tuple[str, ...]
    suffix: str
    fit: Callable[..., Any]  # of X, y and whether y is a number
    save: Callable[[Any, Path], object]
    load: Callable[[Path], Any]
    errors: Callable[[], tuple[type[BaseException], ...]]


def _spinney(X: Table, y: Any, **settings: Any) -> Any:
    from spinney import TreeClassifier, TreeRegressor

    numbers = settings.pop("numbers", False)
    estimator = TreeRegressor("cart") if numbers else TreeClassifier("cart")
    return estimator.fit(X, y, **settings)


def _scikit_learn(X: Table, y: Any, **settings: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    numbers = settings.pop("numbers", False)
    kind = DecisionTreeRegressor if numbers else DecisionTreeClassifier
    return kind(random_state=0).fit(X, y, **settings)


def _skops_load(path: Path) -> Any:
    import skops.io

    names = skops.io.get_untrusted_types(file=path)
    return skops.io.load(path, trusted=names)


def _lightgbm(X: Table, y: Any, **settings: Any) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    few = {"min_child_samples": 1, "min_data_in_bin": 1, "min_child_weight": 0}
    numbers = settings.pop("numbers", False)
    kind = LGBMRegressor if numbers else LGBMClassifier
    model = kind(n_estimators=40, learning_rate=0.5, n_jobs=1, verbose=-1, **few)
    return model.fit(X, y, **settings)


def _lightgbm_load(path: Path) -> Any:
    from lightgbm import Booster

    return Booster(model_file=str(path))


def _xgboost(X: Table, y: Any, **settings: Any) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    numbers = settings.pop("numbers", False)
    kind = XGBRegressor if numbers else XGBClassifier
    model = kind(
        n_estimators=40,
        learning_rate=0.5,
        min_child_weight=0,
        reg_lambda=0,
        n_jobs=1,
        enable_categorical=True,
    )
    return model.fit(X, y, **settings)


def _xgboost_load(path: Path) -> Any:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_jobs=1)
    model.load_model(path)
    return model


def _of(module: str, *names: str) -> Callable[[], tuple[type[BaseException], ...]]:
    return lambda: tuple(getattr(import_module(module), name) for name in names)


def _skops_save(model: Any, path: Path) -> None:
    import skops.io

    skops.io.dump(model, path)


PROGRAMS = {
    "Spinney": Program(
        "spinney",
        ("spinney", "pandas"),
        "spinney",
        _spinney,
        lambda model, path: model.save(path),
        lambda path: import_module("spinney").load(path),
        _of("spinney.errors", "SpinneyError"),
    ),
    "scikit-learn (skops)": Program(
        "scikit-learn",
        ("sklearn.tree", "skops.io", "pandas"),
        "skops",
        _scikit_learn,
        _skops_save,
        _skops_load,
        _of("zipfile", "BadZipFile"),  # what says that a file of skops is damaged
    ),
    "LightGBM (text)": Program(
        "lightgbm",
        ("lightgbm",),
        "txt",
        _lightgbm,
        lambda model, path: model.booster_.save_model(str(path)),
        _lightgbm_load,
        _of("lightgbm.basic", "LightGBMError"),
    ),
    "XGBoost (JSON)": Program(
        "xgboost",
        ("xgboost",),
        "json",
        _xgboost,
        lambda model, path: model.save_model(path),
        _xgboost_load,
        _of("xgboost.core", "XGBoostError"),
    ),
    "XGBoost (UBJSON)": Program(
        "xgboost",
        ("xgboost",),
        "ubj",
        _xgboost,
        lambda model, path: model.save_model(path),
        _xgboost_load,
        _of("xgboost.core", "XGBoostError"),
    ),
}


def _shares(model: Any, X: Table) -> np.ndarray:
    """Return the predictions of a model as numbers."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    return np.asarray(model.predict(X))


# Damaged files


def _rows() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three numbers, and two classes that follow them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0.3)).astype(int)


def _sound(program: Program, folder: Path) -> str:
    """Save a sound model and what it predicts."""
    X, y = _rows()
    path = folder / f"sound.{program.suffix}"
    program.save(program.fit(X, y), path)
    np.save(folder / "wanted.npy", _shares(program.load(path), X[:20]))
    return "saved"


def damaged(sound: bytes, seed: int) -> bytes:
    """Return a file damaged in one blind way."""
    data, random = bytearray(sound), Random(seed)
    BLIND[seed % len(BLIND)](data, random)
    return bytes(data)


def _loaded(program: Program, path: Path, wanted: np.ndarray) -> str:
    X, _ = _rows()
    try:
        shares = _shares(program.load(path), X[:20])
    except (*program.errors(), ValueError, TypeError) as error:
        return f"refused {type(error).__name__}"
    same = shares.shape == wanted.shape and np.array_equal(shares, wanted)
    return "right" if same else "wrong"


def try_files(name: str, count: int) -> Counter[str]:
    """Return how often each outcome came of damaged files of a program."""
    program, outcomes = PROGRAMS[name], Counter[str]()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        made = forked(lambda: _sound(program, folder), seconds=60)
        if made != "saved":
            msg = f"{name} made no model: {made}"
            raise SystemExit(msg)
        sound = (folder / f"sound.{program.suffix}").read_bytes()
        wanted = np.load(folder / "wanted.npy")
        path = folder / f"m.{program.suffix}"
        for seed in range(count):
            data = damaged(sound, seed)
            if data == sound:
                continue
            path.write_bytes(data)
            outcome = forked(lambda: _loaded(program, path, wanted))
            outcomes[_kind_of(outcome)] += 1
    return outcomes


def _kind_of(outcome: str) -> str:
    return next((kind for kind in OUTCOMES if outcome.startswith(kind)), "other error")


# Hostile tables


@dataclass(frozen=True)
class Case:
    """A table that is hard: rows to fit, rows to predict, and what is right.

    ``right`` is a function of predictions and of the fitted rows' target; None where no
    answer is right and the table must be refused.
    """

    what: str
    rows: Callable[[], dict[str, Any]]
    right: Callable[[np.ndarray], bool] | None = None
    numbers: bool = False


def _frame(**columns: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


HALF = np.repeat([0, 1], 10)
LINE = np.arange(20.0)


def _is(*wanted: float) -> Callable[[np.ndarray], bool]:
    expected = np.array(wanted)
    return lambda p: (
        p.shape == expected.shape
        and bool((np.abs(np.asarray(p, float) - expected) < 0.05).all())
    )


def _twice_named() -> Any:
    import pandas as pd

    return pd.DataFrame(np.column_stack([LINE, LINE[::-1]]), columns=["a", "a"])


def _column(*cells: Any) -> np.ndarray:
    return np.array(cells, dtype=object)[:, None]


CASES = (
    Case(
        "no rows",
        lambda: {"X": np.empty((0, 2)), "y": np.empty(0, int)},
    ),
    Case("no columns", lambda: {"X": np.empty((20, 0)), "y": HALF}),
    Case(
        "rows and target of two lengths",
        lambda: {"X": LINE[:, None], "y": HALF[:-1]},
    ),
    Case(
        "NaN in the target, a number",
        lambda: {"X": LINE[:, None], "y": np.where(LINE == 3, np.nan, LINE)},
        numbers=True,
    ),
    Case(
        "∞ in the target",
        lambda: {"X": LINE[:, None], "y": np.where(LINE == 3, np.inf, LINE)},
        numbers=True,
    ),
    Case(
        "NaN among the weights",
        lambda: {
            "X": LINE[:, None],
            "y": HALF,
            "sample_weight": np.where(LINE == 2, np.nan, 1.0),
        },
    ),
    Case(
        "weights that are all 0",
        lambda: {"X": LINE[:, None], "y": HALF, "sample_weight": 0 * LINE},
    ),
    Case(
        "∞ in a column",
        lambda: {
            "X": np.where(LINE > 18, np.inf, LINE)[:, None],
            "y": HALF,
            "later": np.array([[2.0], [np.inf]]),
        },
        _is(0, 1),
    ),
    Case(
        "numbers of 1e308",
        lambda: {
            "X": np.where(HALF == 1, 1e308, -1e308)[:, None],
            "y": HALF,
            "later": np.array([[-1e307], [1e307]]),
        },
        _is(0, 1),
    ),
    Case(
        "whole numbers beyond 64 bits",
        lambda: {
            "X": _column(*[10**30 + int(10**20 * n) for n in range(20)]),
            "y": HALF,
            "later": _column(10**30, 10**30 + 19 * 10**20),
        },
        _is(0, 1),
    ),
    Case(
        "numbers that only float64 tells apart",
        lambda: {
            "X": (2.0**24 + HALF)[:, None],
            "y": HALF,
            "later": 2.0**24 + np.array([[0.0], [1.0]]),
        },
        _is(0, 1),
    ),
    Case(
        "constant columns",
        lambda: {"X": np.ones((20, 2)), "y": 1.0 * HALF, "later": np.ones((2, 2))},
        _is(0.5, 0.5),
        numbers=True,
    ),
    Case(
        "a column without any value",
        lambda: {
            "X": np.column_stack([LINE, np.full(20, np.nan)]),
            "y": HALF,
            "later": np.array([[1.0, np.nan], [18.0, np.nan]]),
        },
        _is(0, 1),
    ),
    Case(
        "one class",
        lambda: {"X": LINE[:, None], "y": 0 * HALF, "later": LINE[:2, None]},
        _is(0, 0),
    ),
    Case(
        "two columns of one name",
        lambda: {"X": _twice_named(), "y": HALF},
    ),
    Case(
        "text as it is",
        lambda: {
            "X": _frame(hue=["red"] * 10 + ["blue"] * 10),
            "y": HALF,
            "later": _frame(hue=["red", "blue"]),
        },
        _is(0, 1),
    ),
    Case(
        "a category that was never seen",
        lambda: {
            "X": _frame(hue=["red"] * 10 + ["blue"] * 10).astype("category"),
            "y": HALF,
            "later": _frame(hue=["red", "blue", "green"]).astype("category"),
        },
        lambda p: p.tolist()[:2] == [0, 1],
    ),
    Case(
        "fewer columns later",
        lambda: {
            "X": np.column_stack([LINE, LINE]),
            "y": HALF,
            "later": LINE[:2, None],
        },
    ),
    Case(
        "more columns later",
        lambda: {"X": LINE[:, None], "y": HALF, "later": np.ones((2, 3))},
    ),
    Case(
        "columns in another order later",
        lambda: {
            "X": _frame(a=LINE, b=0 * LINE),
            "y": HALF,
            "later": _frame(b=[0.0, 0.0], a=[1.0, 18.0]),
        },
        _is(0, 1),
    ),
    Case(
        "a column under another name later",
        lambda: {
            "X": _frame(a=LINE),
            "y": HALF,
            "later": _frame(z=[1.0, 18.0]),
        },
    ),
    Case(
        "text where numbers were, later",
        lambda: {
            "X": LINE[:, None],
            "y": HALF,
            "later": _column("1", "many"),
        },
    ),
)


def _fitted(program: Program, case: Case) -> str:
    settings = case.rows()
    later = settings.pop("later", settings["X"])
    try:
        model = program.fit(
            settings.pop("X"), settings.pop("y"), numbers=case.numbers, **settings
        )
        predictions = np.asarray(model.predict(later))
    except (*program.errors(), ValueError, TypeError) as error:
        return f"refused {type(error).__name__}: {error}"
    return "right" if case.right and case.right(predictions) else f"wrong {predictions}"


def try_tables(name: str) -> dict[str, str]:
    """Return what became of each hostile table."""
    program = PROGRAMS[name]
    return {
        case.what: forked(lambda case=case: _fitted(program, case), seconds=60)
        for case in CASES
    }


# What is told


def installed(names: Sequence[str]) -> dict[str, str]:
    """Return the versions of the programs that are there."""
    versions = {}
    for name in names:
        try:
            for module in PROGRAMS[name].modules:
                import_module(module)
            versions[name] = version(PROGRAMS[name].package)
        except (PackageNotFoundError, ImportError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return versions


def files_table(counts: dict[str, Counter[str]]) -> list[str]:
    """Return the outcomes of damaged files as lines of Markdown."""
    lines = ["| damaged files of | " + " | ".join(OUTCOMES) + " |"]
    lines.append("|---" * (len(OUTCOMES) + 1) + "|")
    for name, outcomes in counts.items():
        cells = " | ".join(str(outcomes[kind]) for kind in OUTCOMES)
        lines.append(f"| {name} | {cells} |")
    return lines


def tables_table(outcomes: dict[str, dict[str, str]]) -> list[str]:
    """Return the outcomes of hostile tables as lines of Markdown."""
    names = list(outcomes)
    lines = [
        "| table | " + " | ".join(name.partition(" (")[0] for name in names) + " |"
    ]
    lines.append("|---" * (len(names) + 1) + "|")
    for case in CASES:
        cells = " | ".join(_kind_of(outcomes[name][case.what]) for name in names)
        lines.append(f"| {case.what} | {cells} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="damaged files of each")
    parser.add_argument("--programs", help="names, divided by semicolons")
    parser.add_argument("--details", action="store_true", help="every message")
    options = parser.parse_args(arguments)
    names = options.programs.split(";") if options.programs else list(PROGRAMS)
    versions = installed(names)
    counts = {name: try_files(name, options.count) for name in versions}
    tables = {name: try_tables(name) for name in versions if name != "XGBoost (UBJSON)"}
    told = {name.partition(" (")[0]: number for name, number in versions.items()}
    print(", ".join(f"{name} {number}" for name, number in told.items()))
    print("", *files_table(counts), "", *tables_table(tables), sep="\n")
    if options.details:
        print(json.dumps(tables, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
