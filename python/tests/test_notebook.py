# SPDX-License-Identifier: Apache-2.0
"""The tutorial is stored without outputs, and runs from its first cell to its last."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.ipynb"

# Jupyter's warnings are not ours; the notebook's own warnings land in its outputs, which are checked.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notebook after it has run. A cell that raises, or whose `assert` fails, raises here."""
    for module in ("ipykernel", "torch", "matplotlib.font_manager"):  # The last prints a line when it looks for fonts.
        pytest.importorskip(module)
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(TUTORIAL, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))  # Neither the user's settings nor their history.
        patch.setenv("JUPYTER_DATA_DIR", str(folder / "jupyter"))  # Nor their kernels: this interpreter's.
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.delenv("MPLBACKEND", raising=False)
        # It looks for the data from its own folder upwards.
        resources = {"metadata": {"path": str(TUTORIAL.parent)}}
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    return notebook


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_every_cell_ran(executed: Any) -> None:
    assert [cell.execution_count for cell in code(executed)] == list(range(1, len(code(executed)) + 1))


def test_no_errors_or_warnings(executed: Any) -> None:
    for cell in code(executed):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", output.text


def test_drawings_and_plots(executed: Any) -> None:
    data = [output.get("data", {}) for cell in code(executed) for output in cell.outputs]
    assert sum("image/svg+xml" in kinds and "text/html" in kinds for kinds in data) >= 5
    assert sum("image/png" in kinds for kinds in data) >= 5
    drawings = [kinds["text/html"] for kinds in data if "text/html" in kinds]
    assert all(drawing.startswith("<svg") and "telescope" in drawing for drawing in drawings[:3])


def test_outputs_name_no_path_or_address(executed: Any) -> None:
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            shown = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            assert not re.search(r"/(home|root|tmp|usr|var)/| at 0x[0-9a-f]+", shown), cell.source


def test_is_stored_without_outputs() -> None:
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(TUTORIAL, as_version=4)
    nbformat.validate(notebook)
    for cell in code(notebook):
        assert cell.outputs == [] and cell.execution_count is None, "clear the outputs before you commit"
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert dict(notebook.metadata.language_info) == {"name": "python"}
    assert all(not cell.metadata for cell in notebook.cells)
