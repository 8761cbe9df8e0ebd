# SPDX-License-Identifier: Apache-2.0
"""Parses a corpus with a neural scorer and Taproot in one Ray actor: text in; best trees, entropies and the probable
edges out. Scores go from the one to the other in memory and are never stored, because they are a thousand times as
large as the text.

    python parse.py IN... -o DIR [--actors N] [--threshold P]

IN is text with one sentence per line, or Parquet with the columns ``id`` and ``text``. The scorer here is tiny and not
trained; put your parser in its place. Where PyTorch finds a GPU, each actor takes one.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray
import torch
from torch import nn

from taproot.arrow import Task


class BiaffineScorer(nn.Module):
    """Scores [sentence, head, modifier] of padded sentences whose word 0 is ROOT (Dozat and Manning 2017)."""

    def __init__(self, buckets: int = 4096, width: int = 64) -> None:
        super().__init__()
        self.buckets = buckets
        self.embed = nn.Embedding(buckets, width)
        self.encode = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, width)
        self.modifier = nn.Linear(2 * width, width)
        self.weight = nn.Parameter(torch.randn(width + 1, width) / width**0.5)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states, _ = self.encode(self.embed(words))
        heads, modifiers = torch.relu(self.head(states)), torch.relu(self.modifier(states))
        modifiers = torch.cat([modifiers, torch.ones_like(modifiers[..., :1])], dim=-1)
        return 8 * torch.einsum("bhi,ji,bmj->bhm", heads, self.weight, modifiers)


class Parser:
    """What an actor keeps from batch to batch: the scorer and the tasks."""

    def __init__(self, threshold: float) -> None:
        torch.manual_seed(0)  # In place of a checkpoint, so that all actors have the same weights.
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.scorer = BiaffineScorer().to(self.device).eval()
        options: Any = {"id_type": "string", "threads": 1}
        self.tasks = [Task("argmax", **options), Task("entropy", **options)]
        self.tasks.append(Task("marginals", threshold=threshold, **options))

    def __call__(self, batch: pa.Table) -> pa.Table:
        texts = batch.column("text").to_pylist()
        scored = pa.record_batch({"id": batch.column("id").combine_chunks(), "scores": self.scores(texts)})
        found = {"id": batch.column("id"), "text": batch.column("text")}
        for task in self.tasks:
            answers = task(scored)
            found |= {name: answers.column(name) for name in answers.schema.names if name != "id"}
        return pa.table(found)

    @torch.no_grad()
    def scores(self, texts: list[str]) -> pa.Array:
        """The matrices of all sentences, one after the other, as a column of lists."""
        words = [text.split() for text in texts]
        lengths = np.array([len(own) for own in words])
        indices = torch.zeros((len(texts), lengths.max(initial=0) + 1), dtype=torch.long)
        for row, own in zip(indices, words):
            row[1 : len(own) + 1] = torch.tensor([1 + zlib.crc32(w.encode()) % (self.scorer.buckets - 1) for w in own])
        padded = self.scorer(indices.to(self.device)).float().cpu().numpy()
        within = np.arange(padded.shape[1]) <= lengths[:, None]
        values = padded[within[:, :, None] & within[:, None, :]]
        offsets = np.insert(np.cumsum((lengths + 1) ** 2), 0, 0)
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(values))


def read(inputs: list[str]) -> ray.data.Dataset:
    """Ids are texts. A line of a text file is named by the file and its number."""
    if all(name.endswith(".parquet") for name in inputs):
        rows = ray.data.read_parquet(inputs, columns=["id", "text"])
        return rows.map_batches(
            lambda b: b.set_column(0, "id", pc.cast(b.column("id"), pa.string())), batch_format="pyarrow"
        )
    tables = []
    for name in inputs:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        tables.append(pa.table({"id": [f"{Path(name).name}:{i}" for i in range(len(lines))], "text": lines}))
    return ray.data.from_arrow(tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="IN")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument("--actors", type=int, default=1)
    parser.add_argument("--threshold", type=float, default=0.01)
    options = parser.parse_args()
    ray.init(log_to_driver=False)
    parsed = read(options.inputs).map_batches(
        Parser,
        fn_constructor_args=[options.threshold],
        batch_format="pyarrow",
        batch_size=256,
        compute=ray.data.ActorPoolStrategy(size=options.actors),
        num_gpus=1 if torch.cuda.is_available() else 0,
    )
    parsed.write_parquet(options.output)
    sentences = sum(pq.read_metadata(path).num_rows for path in Path(options.output).glob("*.parquet"))
    print(f"{sentences} sentences are parsed in {options.output}")


if __name__ == "__main__":
    main()
