# SPDX-License-Identifier: Apache-2.0
"""Threads, signals, forks and memory: what a long-lived process with other things to do needs."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import taproot
from taproot import Constraints, DependencyTrees, SentenceError

RNG = np.random.default_rng(17)
SCORES = RNG.normal(0, 1, (13, 13))
BATCH = RNG.normal(0, 1, (12, 9, 9))
LENGTHS = RNG.integers(1, 9, 12)
LABELS = RNG.normal(0, 1, (12, 9, 9, 3))


def run_script(script: str, timeout: float = 60) -> str:
    """In another process, so that a hang or a crash there is a failure here."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


# Threads of Python.


def all_answers(d: DependencyTrees, other: DependencyTrees, values: np.ndarray, seed: int) -> list[Any]:
    s = d.sample_without_replacement(6, seed, ["auto", "trie", "beam", "list"][seed % 4])
    return [
        d.log_partition(),
        d.entropy(),
        d.marginals(),
        d.root_marginals(),
        d.expectation(values),
        d.kl_divergence(other),
        other.kl_divergence(d),
        d.expected_tries(),
        d.sample(40, seed),
        d.sample(3000, seed),
        d.sample(4, seed, "colbourn"),
        d.argmax(),
        d.mbr(),
        d.kbest(4).heads,
        s.heads,
        s.gumbel,
        s.kappa,
    ]


def pair(seed: int, batch: bool) -> tuple[DependencyTrees, DependencyTrees, np.ndarray]:
    if batch:
        return DependencyTrees(BATCH + seed, LENGTHS), DependencyTrees(BATCH * 0.5, LENGTHS), BATCH
    return DependencyTrees(SCORES * (1 + 0.1 * seed)), DependencyTrees(SCORES * 0.5), SCORES


def same(found: list[Any], expected: list[Any]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, expected, strict=True))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("count", [1, 3])
def test_different_objects_at_once(count: int) -> None:
    taproot.set_num_threads(count)
    cases = [(seed, batch) for seed in range(6) for batch in (False, True)]
    expected = [all_answers(*pair(*case), case[0]) for case in cases]
    with ThreadPoolExecutor(8) as executor:
        for _ in range(4):
            for found, of_case in zip(executor.map(lambda case: all_answers(*pair(*case), case[0]), cases), expected):
                assert same(found, of_case)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("batch", [False, True])
def test_the_same_object_at_once(batch: bool) -> None:
    taproot.set_num_threads(2)
    expected = [all_answers(*pair(1, batch), seed) for seed in range(8)]
    for _ in range(5):
        d, other, values = pair(1, batch)  # Fresh, so that they meet at the first question.
        barrier = threading.Barrier(8)

        def ask(seed: int) -> list[Any]:
            barrier.wait(30)
            return all_answers(d, other, values, seed)

        with ThreadPoolExecutor(8) as executor:
            for found, of_seed in zip(executor.map(ask, range(8)), expected):
                assert same(found, of_seed)


def test_the_first_question_from_many_threads() -> None:
    expected = DependencyTrees(BATCH, LENGTHS).marginals()
    for _ in range(30):
        d = DependencyTrees(BATCH, LENGTHS, constraints=[Constraints()] * 12)
        barrier = threading.Barrier(6)

        def ask(_: int) -> np.ndarray:
            barrier.wait(30)
            return d.marginals()

        with ThreadPoolExecutor(6) as executor:
            assert all(np.array_equal(found, expected) for found in executor.map(ask, range(6)))


def test_one_iterator_for_many_threads() -> None:
    """Every tree comes out once."""
    d = DependencyTrees(np.zeros((6, 6)))
    iterator = d.sample_without_replacement_iterator(3)

    def take(_: int) -> list[tuple[int, ...]]:
        found = []
        while (tree := next(iterator, None)) is not None:
            found.append(tuple(tree.heads.tolist()))
        return found

    with ThreadPoolExecutor(4) as executor:
        trees = [heads for part in executor.map(take, range(4)) for heads in part]
    assert len(trees) == len(set(trees)) == 5**4 and iterator.count == 5**4


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_may_change_meanwhile() -> None:
    d = DependencyTrees(BATCH, LENGTHS)
    expected = d.sample(2000, 5)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for count in (1, 2, 3):
                taproot.set_num_threads(count)
                assert taproot.get_num_threads() == count

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(30):
            assert np.array_equal(d.sample(2000, 5), expected)
    finally:
        stop.set()
        changer.join(30)
    assert not changer.is_alive()


def test_errors_on_many_threads() -> None:
    scores = BATCH.copy()
    scores[3, 0] = -np.inf

    def ask(_: int) -> int:
        with pytest.raises(SentenceError) as caught:
            DependencyTrees(scores).entropy()
        return caught.value.sentence

    with ThreadPoolExecutor(4) as executor:
        assert set(executor.map(ask, range(200))) == {3}


def ticks_during(call: Callable[[], Any]) -> tuple[int, float]:
    """How often another Python thread gets to run while the call does, and how long that takes."""
    count = 0
    stop = threading.Event()
    running = threading.Event()

    def tick() -> None:
        nonlocal count
        running.set()
        while not stop.wait(0.001):
            count += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    running.wait(30)
    before, start = count, time.monotonic()
    call()
    found, took = count - before, time.monotonic() - start
    stop.set()
    ticker.join()
    return found, took


def grow(call: Callable[[int], Any], size: int) -> Callable[[], Any]:
    """The call at a size at which it takes some 0.3 s here, whatever machine this is."""
    while True:
        start = time.monotonic()
        call(size)
        if (took := time.monotonic() - start) > 0.3:
            return lambda: call(size)
        size = int(size * min(8.0, 0.4 / max(took, 1e-6))) + 1


LONG: dict[str, Callable[[int], Any]] = {
    "sample": lambda k: DependencyTrees(SCORES).sample(k, algorithm="colbourn"),
    "batch": lambda k: DependencyTrees(np.broadcast_to(BATCH[0], (k, 9, 9)), copy=False).entropy(),
    "without replacement": lambda k: DependencyTrees(SCORES).sample_without_replacement(k, algorithm="trie"),
    "beam": lambda k: DependencyTrees(SCORES).sample_without_replacement(k, algorithm="beam"),
    "kbest": lambda k: DependencyTrees(SCORES).kbest(k),
    "one long sentence": lambda n: DependencyTrees(np.zeros((n, n))).log_partition(),
}


@pytest.mark.parametrize("name", LONG)
def test_other_threads_run_meanwhile(name: str) -> None:
    call = grow(LONG[name], 300)
    # 300 would be possible; without the GIL's release there are one or two, before and after.
    found, took = ticks_during(call)
    assert found >= 10, f"{found} in {took} s"


def test_the_tick_test_can_fail() -> None:
    call = grow(lambda k: sum(range(k)), 10**6)  # C code that keeps the GIL.
    assert ticks_during(call)[0] < 10


# Signals.

INTERRUPTED = """
import os, resource, signal, sys, threading, time
import numpy as np
import taproot
from taproot import DependencyTrees

# Should it not be interrupted, it must not eat the machine.
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
signal.signal(signal.SIGINT, signal.default_int_handler)  # Of a background process it may be ignored.
taproot.set_num_threads({threads})
rng = np.random.default_rng(1)
long = rng.normal(0, 1, (101, 101))
middle = rng.normal(0, 0.3, (41, 41))
attractor = np.zeros((4, 4))  # Words 1 and 2 lead to each other, and only word 3 to the root.
attractor[0, 1:3] = -np.inf
attractor[1, 2] = attractor[2, 1] = 200
d = {distribution}
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

timer = threading.Timer(0.3, interrupt)
timer.start()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    took = time.monotonic() - sent[0]
    # And goes on: the same object, and another one.
    {after}
    other = DependencyTrees(np.zeros((20, 4, 4)))
    assert np.allclose(other.log_partition(), np.log(9)) and other.sample(100).shape == (100, 20, 3)
    assert np.array_equal(DependencyTrees(long).sample(300, 7), DependencyTrees(long).sample(300, 7))
    print("interrupted", took)
"""
ONE = "DependencyTrees(long)"
MANY = "DependencyTrees(np.broadcast_to(long, (16, 101, 101)), copy=False)"
SHORT = "DependencyTrees(middle)"
ATTRACTOR = "DependencyTrees(attractor)"
LONG_CALLS = {
    "sample": (ONE, 'd.sample(400_000, algorithm="colbourn")', "assert d.sample(5).shape == (5, 100)"),
    "sample of a batch": (MANY, 'd.sample(25_000, algorithm="colbourn")', "assert d.sample(5).shape == (5, 16, 100)"),
    "first question": (
        "DependencyTrees(np.broadcast_to(long, (200_000, 101, 101)), copy=False)",
        "d.log_partition()",
        "assert np.isfinite(d[199_999].log_partition())",
    ),
    "list": (
        SHORT,
        'd.sample_without_replacement(60_000, algorithm="list")',
        "assert len(d.sample_without_replacement(5)) == 5",
    ),
    "trie": (
        SHORT,
        'd.sample_without_replacement(2_000_000, algorithm="trie")',
        "assert len(d.sample_without_replacement(5)) == 5",
    ),
    "trie of a batch": (
        "DependencyTrees(np.broadcast_to(middle, (16, 41, 41)))",
        'd.sample_without_replacement(300_000, algorithm="trie")',
        "assert len(d.sample_without_replacement(5)) == 5",
    ),
    "beam": (
        ONE,
        'd.sample_without_replacement(20_000, algorithm="beam")',
        "assert len(d.sample_without_replacement(5)) == 5",
    ),
    "kbest": (SHORT, "d.kbest(3_000_000)", "assert len(d.kbest(5)) == 5"),
    "a walk that never ends": (
        ATTRACTOR,
        'd.sample(1, algorithm="wilson-marginal")',
        "assert d.sample(5).shape == (5, 3)",
    ),
    "walks that never end": (
        "DependencyTrees(np.broadcast_to(attractor, (4, 4, 4)))",
        'd.sample(1, algorithm="wilson-marginal")',
        "assert d.sample(5).shape == (5, 4, 3)",
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", LONG_CALLS)
def test_interrupt(name: str, threads: int) -> None:
    distribution, call, after = LONG_CALLS[name]
    script = INTERRUPTED.format(threads=threads, distribution=distribution, call=call, after=after)
    word, *took = run_script(script, 150).split()
    assert word == "interrupted"
    assert float(took[0]) < 15  # Half a second, had the machine nothing else to do.


def test_other_signal_handlers_run() -> None:
    """A handler that does not raise is run meanwhile, and the call goes on."""
    script = """
import signal, threading, os
import numpy as np
from taproot import DependencyTrees
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
d = DependencyTrees(np.random.default_rng(1).normal(0, 1, (101, 101)))
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
k = 2000
while not seen:  # However long that takes here.
    trees = d.sample(k, 3, "colbourn")
    k *= 2
assert trees.shape == (k // 2, 100) and (trees >= 0).all()
assert np.array_equal(trees[:50], d.sample(50, 3, "colbourn"))
"""
    run_script(script)


# Forks.

FORKED = """
import os, signal, sys, warnings
import multiprocessing
import numpy as np
import taproot
from taproot import DependencyTrees
warnings.simplefilter("ignore")  # Python 3.12 warns of threads: those are what this is about.
taproot.set_num_threads(3)
batch = np.random.default_rng(2).normal(0, 1, (20, 9, 9))
d = DependencyTrees(batch)
expected = d.log_partition(), d.sample(500, 3), DependencyTrees(batch[0]).sample(30_000, 4)

def check(_=0):
    signal.alarm(40)
    fresh = DependencyTrees(batch)
    for one in (d, fresh):
        assert np.array_equal(one.log_partition(), expected[0])
        assert np.array_equal(one.sample(500, 3), expected[1])
    assert np.array_equal(DependencyTrees(batch[0]).sample(30_000, 4), expected[2])
    assert taproot.get_num_threads() == 3
    taproot.set_num_threads(2)
    assert np.array_equal(fresh.sample(500, 3), expected[1])
    taproot.set_num_threads(3)
    signal.alarm(0)
    return True
"""


def test_fork() -> None:
    script = """
for _ in range(3):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check()
            # A child's child, too.
            if (second := os.fork()) == 0:
                status = 2
                check()
                os._exit(0)
            status = os.waitpid(second, 0)[1]
        finally:
            os._exit(1 if status else 0)
    assert os.waitpid(child, 0)[1] == 0
check()
"""
    run_script(FORKED + script, 120)


def test_processes_draw_seeds_of_their_own() -> None:
    script = """
import os, random
import numpy as np
import taproot
d = taproot.DependencyTrees(np.zeros((41, 41)))
def sampled():
    random.seed(0)  # Does not reach the seeds of the package.
    return d.sample(1).tobytes()
def sampled_in_child():
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(begin, sampled())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(end, 1000)
assert len({sampled(), sampled_in_child(), sampled_in_child(), sampled()}) == 4
"""
    run_script(script, 60)


@pytest.mark.parametrize(
    "call",
    ["d.sample(500, 3)", "DependencyTrees(batch).entropy()", "taproot.get_num_threads()", "taproot.set_num_threads(2)"],
)
def test_fork_while_another_thread_is_at_work(call: str) -> None:
    """As data loaders do: what the pool's lock was doing in the parent must not matter to the child."""
    script = f"""
import threading
stop = threading.Event()
started = threading.Event()
large = DependencyTrees(np.zeros((64, 61, 61)))
large.log_partition()
def work():
    while not stop.is_set():
        started.set()
        large.sample(100, algorithm="colbourn")
worker = threading.Thread(target=work)
worker.start()
started.wait()
statuses = []
try:
    for _ in range(5):
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            try:
                {call}
                os._exit(0)
            finally:
                os._exit(1)
        statuses.append(os.waitpid(child, 0)[1])
        if statuses[-1]:
            break
finally:
    stop.set()
    worker.join()
assert not any(statuses), statuses
"""
    run_script(FORKED + script, 120)


def test_multiprocessing_with_fork() -> None:
    script = """
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(check, range(4)) == [True] * 4
check()
"""
    run_script(FORKED + script, 120)


def test_exit_with_work_under_way() -> None:
    """The interpreter ends while a daemon thread is inside a call: no crash."""
    script = """
import threading, time
import numpy as np
from taproot import DependencyTrees
started = threading.Event()
def work():
    d = DependencyTrees(np.zeros((4, 60, 60)))
    while True:
        started.set()
        d.sample(2000, algorithm="colbourn")
threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.1)
"""
    run_script(script)


# Memory.


def resident() -> int:
    """Bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def everything_once(seed: int) -> None:
    constraints = [Constraints().forbid(0, 1) if n > 1 else None for n in LENGTHS]
    d = DependencyTrees(BATCH, LENGTHS, label_scores=LABELS, constraints=constraints)
    d.sample(3, seed)
    d.marginals()
    d.label_marginals()
    d.kbest(2)
    d.sample_without_replacement(3, seed)
    d.argmax()
    assert len(d[0].sample(2)) == 2
    single = DependencyTrees(SCORES)
    single.hessian_product(SCORES)
    iterator = single.sample_without_replacement_iterator(seed)
    for _ in range(3):
        next(iterator)
    single.kl_divergence(single)
    single.sample_without_replacement(3, seed, "beam")
    for failing in (
        lambda: DependencyTrees(np.full((2, 3, 3), np.nan)).entropy(),
        lambda: single.sample(1, algorithm="none"),
        lambda: single.sample(1, algorithm="wilson"),
        lambda: single.log_prob(np.full(12, 99)),
        lambda: DependencyTrees(np.zeros((2, 3))),
    ):
        try:
            failing()
        except ValueError:
            continue
        raise AssertionError


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_does_not_grow() -> None:
    for seed in range(150):
        everything_once(seed)
    gc.collect()
    before = resident()
    for seed in range(600):  # More than 10,000 calls.
        everything_once(seed)
    gc.collect()
    assert resident() - before < 4 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_large_answers_are_released() -> None:
    d = DependencyTrees(SCORES)
    for _ in range(3):
        d.kbest(2000), d.sample_without_replacement(2000), d.sample(20_000)
    before = resident()
    for seed in range(30):  # Some 2 MB each: what is kept of them would be seen.
        d.kbest(2000), d.sample_without_replacement(2000, seed), d.sample(20_000, seed)
        large = DependencyTrees(np.zeros((200, 200)))
        large.marginals()
    assert resident() - before < 16 << 20


class Array(np.ndarray):
    """An array to which one can have a weak reference."""


def tracked(values: np.ndarray) -> tuple[np.ndarray, weakref.ref[np.ndarray]]:
    array = values.copy().view(Array)
    return array, weakref.ref(array)


def test_arrays_are_released() -> None:
    scores, of_scores = tracked(BATCH)
    labels, of_labels = tracked(LABELS)
    lengths, of_lengths = tracked(LENGTHS.astype(np.int32))
    owned = sys.getrefcount(scores.base)
    d = DependencyTrees(scores, lengths, label_scores=labels, copy=False)
    d.marginals(), d.sample(3), d.kbest(2), d.sample_without_replacement(2)
    memory = scores.base
    del scores, labels, lengths
    one = d[2]
    del d
    gc.collect()
    assert np.isfinite(one.log_partition())  # Keeps alive what it reads.
    assert sys.getrefcount(memory) > owned
    del one
    gc.collect()
    assert of_scores() is None and of_labels() is None and of_lengths() is None
    assert sys.getrefcount(memory) <= owned


def test_copies_hold_nothing() -> None:
    scores = BATCH.copy()
    count = sys.getrefcount(scores)
    d = DependencyTrees(scores)
    d.marginals()
    assert sys.getrefcount(scores) == count
    DependencyTrees(scores, copy=False)
    gc.collect()
    assert sys.getrefcount(scores) == count


def test_failed_constructions_hold_nothing() -> None:
    scores = BATCH.copy()
    count = sys.getrefcount(scores)
    for wrong in ({"lengths": [1]}, {"root": "x"}, {"label_scores": BATCH}, {"constraints": [1] * 12}):
        with pytest.raises(ValueError):
            DependencyTrees(scores, copy=False, **wrong)
    with pytest.raises(SentenceError):
        DependencyTrees(scores * np.nan, copy=False).entropy()
    gc.collect()
    assert sys.getrefcount(scores) == count


def test_answers_outlive_the_object() -> None:
    d = DependencyTrees(SCORES)
    best, s, tree = d.kbest(50), d.sample_without_replacement(50), next(d.sample_without_replacement_iterator())
    copies = [best.heads.copy(), s.heads.copy(), s.weights.copy(), tree.heads.copy()]
    del d
    gc.collect()
    fill = [np.ones(1000) for _ in range(200)]  # Whatever was freed is overwritten.
    assert (
        all(np.array_equal(a, b) for a, b in zip([best.heads, s.heads, s.weights, tree.heads], copies))
        and len(fill) == 200
    )


def test_an_iterator_keeps_what_it_reads() -> None:
    array, of_array = tracked(SCORES)
    iterator = DependencyTrees(array, copy=False).sample_without_replacement_iterator(5)
    expected = DependencyTrees(SCORES).sample_without_replacement(20, 5).heads
    del array
    gc.collect()
    assert np.array_equal([next(iterator).heads for _ in range(20)], expected)
    del iterator
    gc.collect()
    assert of_array() is None


def test_a_signal_handler_that_calls_us() -> None:
    """While an outer call is at work on the same thread, with what that thread keeps."""
    run_script(
        """
import signal
import numpy as np, taproot
taproot.set_num_threads(1)
outer = taproot.DependencyTrees(np.random.default_rng(0).normal(size=(4, 4)))
inner = np.random.default_rng(1).normal(size=(2, 120, 120))
expected = outer.sample(3_000_000, seed=1)
calls = []
def handler(*_):
    calls.append(taproot.DependencyTrees(inner).sample(20).shape)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.02)
for _ in range(4):
    assert np.array_equal(outer.sample(3_000_000, seed=1), expected)
signal.signal(signal.SIGALRM, signal.SIG_IGN)  # A handler that is due would set the timer again.
assert calls
"""
    )


def test_a_signal_handler_that_asks_for_sparse_marginals() -> None:
    """A thread that asks for them keeps its memory, which the outer question is writing to."""
    pytest.importorskip("pyarrow")
    run_script(
        """
import signal
import numpy as np, pyarrow as pa, taproot
from taproot.arrow import Task
taproot.set_num_threads(1)
rng = np.random.default_rng(0)
def batch_of(size, n):
    scores = [rng.normal(size=(n + 1) ** 2) for _ in range(size)]
    return pa.record_batch({"id": np.arange(size), "scores": pa.array(scores)})
task = Task("marginals", threshold=0.01)
outer, inner = batch_of(64, 300), batch_of(3, 100)  # The outer one's first chunk takes a while.
expected = [task(batch) for batch in (outer, inner)]
calls = []
signal.signal(signal.SIGALRM, lambda *_: calls.append(task(inner).equals(expected[1])))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
for _ in range(3):
    assert task(outer).equals(expected[0])
signal.setitimer(signal.ITIMER_REAL, 0)
assert calls and all(calls)
"""
    )
