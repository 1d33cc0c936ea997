"""Times of a Triton kernel's configurations: measured once on a kind of device, kept on disk.

Not here: which configurations are worth a trial, and what times them (`eops.triton_kernels`).
May be imported by `eops.triton_kernels` and tests; imports of `eops` only `eops.cache_folder` and
`eops.kept_files`.
"""
