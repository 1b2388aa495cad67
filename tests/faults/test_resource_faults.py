"""Faults 41 to 45: absurd parameters, interrupts, disks, databases, clusters."""

import errno
import os
import signal
import threading
import time
import tracemalloc

import duckdb
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.faults.fault_rows import AB, NAN, grown
from tests.helpers.alike import same_node, same_tree

import spinney
from spinney import (
    DataError,
    ForestClassifier,
    ForestRegressor,
    KMeans,
    KPrototypes,
    MiniBatchKMeans,
    ParameterError,
    TreeClassifier,
    TreeRegressor,
)
from spinney._support import threads
from spinney.cli import run
from spinney.data.schema import Attribute, Schema, Target
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.growth.binned import grow_binned, subtree
from spinney.growth.multiway import grow_multiway
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet

X, Y = np.arange(8.0)[:, None], [0, 1] * 4

ABSURD = [
    (TreeClassifier, "max_depth", -1),
    (TreeClassifier, "min_samples_leaf", NAN),
    (TreeClassifier, "min_gain", np.inf),
    (TreeClassifier, "max_leaves", 0),
    (TreeClassifier, "n_buckets", 10**12),
    (TreeClassifier, "random_state", 2**63),
    (TreeRegressor, "ccp_alpha", NAN),
    (ForestClassifier, "n_estimators", 0),
    (ForestClassifier, "n_estimators", 10**9),
    (ForestClassifier, "n_estimators", 10**12),
    (ForestRegressor, "n_estimators", 2**63),
    (KMeans, "n_clusters", 2**63),
    (KMeans, "n_init", 10**9),
    (KMeans, "max_iter", 0),
    (KPrototypes, "n_clusters", 2**63),
    (KPrototypes, "n_init", 2**63),
    (MiniBatchKMeans, "n_clusters", 2**63),
    (MiniBatchKMeans, "n_init", 10**12),
    (MiniBatchKMeans, "batch_size", 0),
]


@pytest.mark.parametrize("estimator, name, value", ABSURD)
def test_fault_41_absurd_parameters(estimator, name, value):
    has_target = not estimator.__name__.endswith(("Means", "Prototypes"))
    settings = {"buckets": "equal-width"} if name == "n_buckets" else {}
    model = estimator(**settings, **{name: value})
    tracemalloc.start()
    with pytest.raises((ParameterError, DataError), match=name):
        model.fit(X, *([Y] if has_target else []))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


def test_fault_41_absurd_work_of_functions():
    rows = {"x": X[:, 0], "y": [f"c{y}" for y in Y]}
    with pytest.raises(ParameterError, match="repeats=1000000000"):
        spinney.evaluate(rows, "y", "id3", repeats=10**9)
    with pytest.raises(ParameterError, match="n_clusters=range"):
        spinney.choose_k(X, range(1, 10**12))
    with pytest.raises(ParameterError, match="gap_tables=1000000000"):
        spinney.choose_k(X, [2], gap_tables=10**9)
    with pytest.raises(ParameterError, match="n_buckets=1000000000"):
        spinney.discretise(X[:, 0], "equal-width", n_buckets=10**9)
    with pytest.raises((ParameterError, DataError), match=r"folds"):
        spinney.evaluate(rows, "y", "id3", folds=10**12)


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize("most", [2**31, 2**63, 10**30])
def test_fault_41_no_limit_is_too_large(recipe, most):
    settings = {"pruning": "none", "min_samples_leaf": 1}
    model = TreeClassifier(recipe, max_depth=most, **settings)
    assert model.fit(X, [0] * 4 + [1] * 4).tree.n_leaves == 2
    model = TreeClassifier(recipe, max_leaves=most, **settings)
    assert model.fit(X, [0] * 4 + [1] * 4).tree.n_leaves == 2
    assert TreeClassifier(recipe, min_samples_split=most).fit(X, Y).tree.n_leaves == 1
    assert TreeClassifier(recipe, min_gain=most).fit(X, Y).tree.n_leaves == 1
    assert model.prune("cost-complexity", alpha=most).tree.n_leaves == 1
    with pytest.raises(ParameterError, match="alpha"):
        model.prune("cost-complexity", alpha=NAN)


MAX_DELAY = 3.0  # seconds, on a machine that others use too; alone it is below one


@pytest.fixture
def interrupts():
    """Send this process an interrupt in a while, and tell when it was sent."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent, timers = [], []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def begin(seconds):
        timers.append(threading.Timer(seconds, send))
        timers[0].start()
        return sent

    yield begin
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, before)


def threads_of_ours():
    return [t.name for t in threading.enumerate() if t.name.startswith("spinney")]


def left_behind():
    """Return our threads that stay, however busy the machine is."""
    end = time.monotonic() + 30
    while threads_of_ours() and time.monotonic() < end:
        time.sleep(0.01)
    return threads_of_ours()


RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.normal(size=(40_000, 6))
CLASSES = RANDOM.integers(0, 3, len(NUMBERS))
WORDS = {f"w{j}": RANDOM.integers(0, 30, 20_000).astype(str) for j in range(8)}

FITS = {
    "plain": lambda: (TreeClassifier("chaid"), WORDS, CLASSES[:20_000]),
    "default": lambda: (TreeClassifier(), NUMBERS, CLASSES),
    "kernels": lambda: (TreeClassifier("cart", n_jobs=1), NUMBERS, CLASSES),
    "loops in threads": lambda: (TreeClassifier("cart", n_jobs=2), NUMBERS, CLASSES),
    "ranked kernels": lambda: (TreeClassifier("c4.5", n_jobs=1), NUMBERS, CLASSES),
    "numbers": lambda: (TreeRegressor("m5"), NUMBERS, NUMBERS[:, 0] ** 2),
    "forest": lambda: (ForestClassifier(500, n_jobs=1), NUMBERS, CLASSES),
    "forest in threads": lambda: (ForestClassifier(500, n_jobs=2), NUMBERS, CLASSES),
    "k-means": lambda: (KMeans(64, n_init=100, n_jobs=2), NUMBERS),
    "batches": lambda: (MiniBatchKMeans(64, n_init=100, tol=0.0), NUMBERS),
    "prototypes": lambda: (
        KPrototypes(20, n_init=100),
        {**WORDS, "x": CLASSES[:20_000]},
    ),
}


def warm_up(model, rows):
    """Load and compile all that a fit needs; Python may swallow interrupts of that."""
    few = [
        {name: cells[:300] for name, cells in each.items()}
        if isinstance(each, dict)
        else each[:300]
        for each in rows
    ]
    settings = {"n_init": 1} if hasattr(model, "n_init") else {}
    if hasattr(model, "n_estimators"):
        settings = {"n_estimators": 2}
    clone(model).set_params(**settings).fit(*few)


def fit_again_and_again(model, rows):
    """Fit until something happens: a fit that is done is begun again."""
    while True:
        clone(model).fit(*rows)


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_42_an_interrupt_ends_a_fit(kind, interrupts):
    model, *rows = FITS[kind]()
    warm_up(model, rows)
    sent = interrupts(0.4)
    with pytest.raises(KeyboardInterrupt):
        fit_again_and_again(model := FITS[kind]()[0], rows)
    assert time.monotonic() - sent[0] < MAX_DELAY
    assert left_behind() == []
    with pytest.raises(NotFittedError):
        model.predict(rows[0])
    # The next fit works, in threads too.
    again = TreeClassifier("cart", max_depth=2, n_jobs=2).fit(NUMBERS, CLASSES)
    assert again.tree.n_leaves > 1


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_42_an_interrupt_ends_an_evaluation(interrupts):
    rows = {"x": NUMBERS[:3000, 0], "z": NUMBERS[:3000, 1], "y": CLASSES[:3000]}
    spinney.evaluate({name: cells[:90] for name, cells in rows.items()}, "y", folds=2)
    sent = interrupts(0.4)
    with pytest.raises(KeyboardInterrupt):
        spinney.evaluate(rows, "y", folds=10, repeats=5)
    assert time.monotonic() - sent[0] < MAX_DELAY
    assert left_behind() == []


# Python drops an interrupt that meets a finalizer; the shell hears it all the same.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("command", ["grow", "forest", "evaluate", "cluster"])
def test_fault_42_an_interrupt_ends_a_command(command, interrupts, tmp_path, capfd):
    lines = [
        f"{a:.3f},{b:.3f},c{c}"
        for (a, b), c in zip(NUMBERS[:5000, :2], CLASSES, strict=False)
    ]
    table = tmp_path / "t.csv"
    table.write_text("x,z,y\n" + "\n".join(lines) + "\n")
    options = {
        "grow": ["--target", "y", "-o", str(tmp_path / "m")],
        "forest": [
            "--target",
            "y",
            "-o",
            str(tmp_path / "m"),
            "--n-estimators",
            "5000",
        ],
        "evaluate": ["--target", "y", "--repeats", "1000"],
        "cluster": ["--columns", "x,z", "--n-clusters", "60", "--n-init", "5000"],
    }
    sent = interrupts(0.7)
    code = 0
    while not code:
        capfd.readouterr()
        code = run(
            [
                command,
                str(table),
                *options[command],
                *(["--overwrite"] if "-o" in options[command] else []),
            ]
        )
    assert time.monotonic() - sent[0] < MAX_DELAY
    assert code == 130
    out, err = capfd.readouterr()
    told = [
        line for line in err.splitlines() if line.startswith("spinney: interrupted")
    ]
    assert len(told) == 1
    assert "Traceback" not in out + err
    assert {path.name for path in tmp_path.iterdir()} <= {"t.csv", "m"}


ENGINES = {
    "binned": lambda rows: grow_binned.grow_binned_tree(rows, RECIPES["cart"]),
    "multiway": lambda rows: grow_multiway.grow_multiway_tree(rows, RECIPES["id3"]),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_fault_42_pauses_change_nothing(engine, monkeypatch):
    """Loops that look up after every node grow what they would in one go."""
    attributes = tuple(Attribute(f"x{j}", "numeric") for j in range(6))
    schema = Schema(attributes, Target("y", ("a", "b", "c")))
    columns = tuple(np.ascontiguousarray(NUMBERS[:400].T))
    rows = TrainingSet(schema, columns, CLASSES[:400], None)
    straight, paused = ENGINES[engine](rows), []

    class Slow(threads.Pace):
        SECONDS = -1.0

        def __enter__(self):
            paused.append(self.size)
            return super().__enter__()

    for module in (subtree, grow_multiway):
        monkeypatch.setattr(module, "Pace", Slow)
        monkeypatch.setattr(module, "CELLS_PER_PAUSE", 1)
    same_tree(straight, ENGINES[engine](rows), same_node)
    assert len(paused) > 30


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_fault_43_a_full_or_fixed_disk_leaves_the_old_file(
    number, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(number, os.strerror(number))

    model, path = grown({"x": [1, 1, 2, 2], "y": AB}), tmp_path / "m"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ParameterError, match=str(path)):
        model.save(path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_fault_43_no_memory_leaves_the_estimator_as_it_was(
    monkeypatch, capsys, tmp_path
):
    def short(*_, **__):
        raise MemoryError

    model = TreeClassifier("id3").fit(X, Y)
    old = model.tree
    monkeypatch.setattr("spinney.growth.growers.grow_tree", short)
    with pytest.raises(MemoryError):
        model.fit(X, Y)
    assert model.tree is old
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    assert (
        run(["grow", str(tmp_path / "t.csv"), "--target", "y", "--recipe", "id3"]) == 1
    )
    assert "out of memory" in capsys.readouterr().err


@pytest.mark.parametrize("answered", [0, 1, 3])
def test_fault_44_a_connection_lost_while_growing(answered, monkeypatch):
    """Spinney has no workers in other processes; a database is what can go away."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT i % 9 AS x, i % 9 > 4 AS y FROM range(50) r(i)"
    )
    fetch, calls = SqlEngine.fetch, []

    def losing(*arguments):
        calls.append(1)
        if len(calls) > answered:
            connection.close()
        return fetch(*arguments)

    monkeypatch.setattr(SqlEngine, "fetch", losing)
    with pytest.raises(DataError, match="the connection is lost"):
        grown(connection.table("t"))


def test_fault_44_a_thread_that_fails_stops_the_others():
    begun = []

    def fail(number):
        begun.append(number)
        if number == 2:
            raise ValueError("a worker died")
        time.sleep(0.001)

    with pytest.raises(ValueError, match="a worker died"):
        threads.run_each([lambda n=n: fail(n) for n in range(5000)], max_threads=2)
    assert len(begun) < 5000


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize("rows", [[[1.0]] * 6, [[1.0], [1.0], [2.0], [2.0]]])
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_45_clusters_of_few_or_equal_points(kind, rows):
    model = kind(4, random_state=0).fit(rows)
    assert set(np.unique(model.predict(rows))) <= set(range(4))
    assert np.isfinite(model.cluster_centers_).all()


def test_fault_45_rows_and_weights_that_are_none():
    weights = [1, 0, 1]
    model = KMeans(2, random_state=0).fit([[1.0], [5.0], [2.0]], sample_weight=weights)
    assert sorted(model.cluster_centers_.ravel()) == [1.0, 2.0]
    for odd in (NAN, np.inf):
        with pytest.raises(DataError, match=r"(?i)nan|inf"):
            KMeans(2).fit([[1.0], [odd], [2.0]])
    for weights in ([0, 0, 0], [1, -1, 1], [1, NAN, 1]):
        with pytest.raises(DataError, match="sample_weight"):
            KMeans(2).fit([[1.0], [3.0], [2.0]], sample_weight=weights)


def test_fault_45_no_cluster_is_empty():
    """Starts that are one point leave clusters empty, which are filled."""
    cells = np.array([[0.0], [1.0], [10.0], [11.0], [20.0]])
    model = KMeans(3, init=np.zeros((3, 1)), n_init=1).fit(cells)
    assert np.bincount(model.labels_, minlength=3).min() >= 1
    assert np.isfinite(model.cluster_centers_).all()
