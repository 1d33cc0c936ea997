"""The words by which people look for a page, where the page itself uses others.

A search for one of them lists the page first (`_static/search.js`).
"""

from __future__ import annotations

from typing import Any, Final

from docutils import nodes
from sphinx.addnodes import index
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

WORDS: Final = {
    "index": "install, installation, pip install, requirements, never wrong, license",
    "tutorial": "getting started, first steps, introduction, beginner, example, own formula",
    "quickstart": "command line, cli, evaluate, exit codes, shell completion, usage",
    "notation": "syntax, formula, padding, stride, gather, scatter, index, where, mask",
    "formulas": "softmax, convolution, attention, layer norm, batch norm, cumsum, stencil",
    "gallery": "conv, conv2d, convolution, attention, box filter, pictures, examples, distances",
    "explorer": "html, browser, notebook, jupyter, search tree, visualise, visualize, dark mode,"
    " print, server",
    "gradients": "gradient, grad, derivative, backward, autograd, autodiff, jacobian, jvp",
    "guarantees": "never wrong, correctness, error, errors, digits, precision, float16, bfloat16,"
    " nan, infinity, trust, accuracy, rounding, proof",
    "memory": "cache, remember, disk, store, recompile, einderive_cache, persistent",
    "effort": "budget, time limit, memory limit, out of memory, deterministic, reproducible,"
    " compile time, seconds",
    "record": "save, load, json, file, schema, serialise, version",
    "machine": "cpu, profile, threads, bandwidth, roofline, cost model, prediction",
    "sizes": "dynamic shapes, dynamic, named sizes, batch size, variable size, other shapes",
    "measurements": "benchmark, benchmarks, speed, performance, ratio, how fast, speedup",
    "measurements/gpu": "gpu, cuda, h100, nvidia, triton",
    "measurements/never-slower": "never slower",
    "measurements/kernels": "kernel, kernels, compiled loops, llvm, numba",
    "api": "reference, functions, import, python, compile, derive, load",
    "slow-numpy": "slow, numpy, speed up, faster, performance, broadcasting",
    "slow-torch": "slow, torch, pytorch, model, cdist",
    "pytorch": "torch.compile, nn.module, layer, training, train, vmap, export, autograd, pytorch",
    "prove-equality": "prove, proof, equal, equality, equivalent, same, verify, counterexample",
    "why-not": "why, why not, not found, not faster, not taken, slower, baseline chosen, refused,"
    " left out",
    "use-in-tests": "test, tests, testing, pytest, assert, unit test, specification",
    "calculus": "how it works, theory, search, theorem, reindexing, distance",
    "architecture": "internals, source, packages, design, compiler",
    "rules": "rule, rewrite, rewriting, identity, split, skew",
    "operators": "operator, matmul, conv2d, pooling, library",
    "functions": "function, exp, log, tanh, gelu, relu, max, reducer",
    "definitions": "mean, var, std, norm, softmax, logsumexp, argmax, word",
    "laws": "law, algebra, simplify, exp(a+b)",
    "comparison": "torch.compile, jax, xla, einsum, opt_einsum, inductor, taso, mirage, compare,"
    " vs, alternatives",
    "adding-a-baseline": "baseline, add baseline",
    "glossary": "words, terms, baseline, candidate, eoperator, meaning",
    "adding-a-rule": "add rule, custom, own, extend, plugin, contribute",
    "adding-an-operator": "add operator",
    "adding-a-back-end": "back end, backend, add kernel",
}


def _add(_app: Sphinx, doctree: nodes.document, page: str) -> None:
    words = [word.strip() for word in WORDS.get(page, "").split(",")]
    entries = [("single", word, "", "main", None) for word in words if word]
    doctree.append(index(entries=entries))


def setup(app: Sphinx) -> dict[str, Any]:
    SearchEnglish.stopwords = frozenset()  # "why not" asks for a page too
    app.connect("doctree-resolved", _add)
    app.add_js_file("search.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
