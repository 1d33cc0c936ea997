"""From the Python source of a kernel to LLVM's instructions, without numba's compiler.

numba takes a second for what LLVM compiles in a quarter of one: it finds types by iteration over
byte code of any form.  Kernels and the functions that they call are of a simple form: assignments,
`if`, loops over ranges, arithmetic, one `return` at the end.  So one pass over the syntax tree
finds the types and writes the instructions.  Types, and the rules for operands of several types,
are those of numba (`operations`; a test compares them).  For a construct that this room does not
support, it raises Unknown, and numba compiles the kernel.

Not here: the machine code that LLVM makes of it, the operations of kernels (`eops.cpu_kernels`).
May be imported by `eops.cpu_kernels`.
"""
