"""Compiled functions in other processes: a spawned worker, an exported module that is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

import einderive as ed
from tests.amount import CAMPAIGN
from tests.frontend.autograd.test_node import LAYER, QUICK, SHAPES, operands
from tests.frontend.autograd.test_traced import Items, Layer

pytestmark = CAMPAIGN  # each starts an interpreter that imports torch

LOAD = """
import sys
import torch
import einderive.nn

folder = sys.argv[1]
module = torch.export.load(folder + "/module.pt2").module()
x = torch.load(folder + "/x.pt").requires_grad_()
y = module(x)
y.sum().backward()
torch.save((y.detach(), x.grad), folder + "/found.pt")
"""


@pytest.fixture(scope="module")
def layer() -> ed.CompiledFunction:
    return ed.compile(LAYER, dtypes="float64", **QUICK, **SHAPES)


def test_a_spawned_worker(layer: ed.CompiledFunction) -> None:
    items = Items(layer)
    loader = DataLoader(items, batch_size=2, num_workers=1, multiprocessing_context="spawn")
    expected = torch.stack([items[k] for k in range(4)])
    torch.testing.assert_close(torch.cat(list(loader)), expected)


@pytest.mark.filterwarnings("ignore")
def test_an_exported_module_in_a_second_process(layer: ed.CompiledFunction, tmp_path: Path) -> None:
    module, x = Layer(layer), operands(requires=False)[0]
    torch.export.save(torch.export.export(module, (x,)), tmp_path / "module.pt2")
    torch.save(x, tmp_path / "x.pt")
    subprocess.run([sys.executable, "-c", LOAD, str(tmp_path)], check=True)
    y, slope = torch.load(tmp_path / "found.pt")
    x.requires_grad_()
    expected = module(x)
    torch.testing.assert_close(y, expected.detach())
    torch.testing.assert_close(slope, torch.autograd.grad(expected.sum(), x)[0])
