"""The machine code of kernels: made from their source, kept on disk and loaded again.

Not here: the source (`eops.cpu_kernels`), instructions for its lines (`lowering`), calls (`calls`).
May be imported by `eops.cpu_kernels` and tests; imports of `eops` only `eops.cpu_kernels` and
`eops.kept_files`.
"""
