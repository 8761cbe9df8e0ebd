from collections.abc import Sequence
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


def version() -> str: ...

def set_num_threads(threads: int) -> None:
    """How many threads batches run on; 0 means one per core."""

def get_num_threads() -> int:
    """How many threads batches run on."""

class Constraints:
    """
    What the trees of a sentence must and must not have. Calls chain; words and heads are 1..n, 0 is ROOT.

    >>> import numpy as np, taproot
    >>> c = taproot.Constraints().force(2, 1).forbid(0, 3)
    >>> d = taproot.DependencyTrees(np.zeros((4, 4)), constraints=c)
    >>> d.kbest(100).heads.tolist()
    [[2, 0, 1], [2, 0, 2]]
    """

    def __init__(self) -> None: ...

    def force(self, head: int, modifier: int) -> Constraints:
        """The head of `modifier` is `head`."""

    def forbid(self, head: int, modifier: int) -> Constraints:
        """The head of `modifier` is not `head`."""

    def allow_roots(self, words: Sequence[int]) -> Constraints:
        """Only these words may hang off ROOT."""

    def force_partial_tree(self, heads: Sequence[int]) -> Constraints:
        """
        Forces the head of every word for which `heads`, one entry a word, has one; negative ones are left open.
        """

    def fits(self, n: int) -> bool:
        """Whether all words and heads named are those of a sentence of n words."""

class Core:
    """The sentences behind a DependencyTrees; arrays are checked there."""

    def __init__(self, scores: Annotated[NDArray, dict(device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)] | None, multi: bool, constraints: Sequence[Constraints], label_scores: Annotated[NDArray, dict(device='cpu', writable=False)] | None) -> None: ...

    def failures(self) -> list[tuple[int, str, str]] | None: ...

    def log_partition(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def entropy(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def expected_tries(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def expected_steps(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def cross_entropy(self, other: Core, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def kl_divergence(self, other: Core, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def marginals(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def root_marginals(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def label_marginals(self, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def expectation(self, values: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def hessian_product(self, direction: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def log_prob(self, k: int, heads: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> list[tuple[int, str, str]] | None: ...

    def sample(self, k: int, seed: int, algorithm: str, step_limit: int, first_tree: int, first_sentence: int, heads: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu')], labels: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu')] | None) -> list[tuple[int, str, str]] | None: ...

    def sample_without_replacement(self, k: int, seed: int, algorithm: str, memory_limit: int, first_sentence: int) -> tuple[dict[str, Any], list[tuple[int, str, str]] | None]: ...

    def argmax(self, heads: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu')], labels: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu')] | None) -> list[tuple[int, str, str]] | None: ...

    def mbr(self, heads: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu')], labels: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu')] | None) -> list[tuple[int, str, str]] | None: ...

    def kbest(self, k: int) -> tuple[dict[str, Any], list[tuple[int, str, str]] | None]: ...

class DistinctIterator:
    def __init__(self, core: object, seed: int, algorithm: str, memory_limit: int, sentence: int) -> None: ...

    def next(self) -> tuple[Annotated[NDArray[numpy.int32], dict(order='C')], float, float] | None: ...

    def threshold(self) -> float: ...

    def size(self) -> int: ...

    def status(self) -> str: ...

def inclusion_probability(log_prob: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None: ...

def horvitz_thompson_weight(log_prob: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None: ...

def tree_svg(words: Sequence[str], heads: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], labels: Sequence[str]) -> str: ...

def marginals_svg(words: Sequence[str], marginals: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], threshold: float) -> str: ...
