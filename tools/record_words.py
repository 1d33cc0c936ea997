"""What the fields of a record hold, in words, for the schema that `tools.record_schema` writes."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "text": "A text whose characters, except for line breaks, can all be shown.",
    "scope": "An expression over its loops in the notation, such as {L[i:0:4] S[k:0:3] A[i,k]}.",
    "seconds": "A number of seconds.",
    "number": "A finite number.",
    "coefficient": "A fraction in lowest terms as numerator and denominator, or an infinity.",
    "range": "The first position, and the one after the last.",
    "row": "An index as a linear form of iterators: a constant, a list of [iterator, coefficient], "
    "and a list of [row, divisor, coefficient] for terms coefficient*(row // divisor). Iterators "
    "are numbers, loops first. At most 32 levels of // are read.",
    "record": "A derivation as einderive saves it: a formula, and equal programs with the steps "
    "that lead to them. Positions and numbers of things are counted from 0. An integer is written "
    "without a decimal point. A reader checks more than this schema can say: expressions are "
    "parsed, names have to be known in the formula, and `einderive check` verifies each step and "
    "each stage.",
    "input": "The formula and its operands.",
    "tensor": "An operand.",
    "candidate": "A program that is equal to the formula.",
    "step": "One step: both sides are equal as tensors.",
    "kind": "The kind of witness, which decides what the other fields are.",
    "ByLaw_by_its_term": "A step by a law as earlier releases wrote it. The reader finds the law.",
    "stage": "One scope of the program, and how it is computed.",
    "binding": "What the indices of the operator's definition stand for in the scope.",
    "operand": "What the operator reads.",
    "statistics": "Figures of the search.",
    "race": "A race of the programs. It is a statement of the record, which nothing verifies.",
    "trial": "A program that was tried.",
    "family": "The program on one family of hard inputs.",
    "kernel": "A generated kernel, for display.",
    "configuration": "One way to run the kernel.",
    "search": "What the search saw, for display.",
    "search_content": "The JSON that the data of a search unpack to. A table is an object of "
    "columns of the same length.",
    "State": "The expressions, in the order in which they were found.",
    "Equality": "The steps between states.",
    "Refused": "What was left out.",
}
"""What each object or value is."""

CONTENT = "Name, first position, end, the operands of the nearest operator that hold it, its roles."
"""The row of an iterator."""

WORDS: Mapping[str, Mapping[str, str]] = {
    "record": {
        "format": "The name of this format.",
        "version": "The version of this format.",
        "rule_set": "The version of the rules that made the steps.",
        "target": "The machine for which times are predicted.",
        "weights": "The tensors that stay the same from call to call, in the order of `tensors`.",
        "accuracy": "Which steps take part, by their rounding errors.",
        "nan": "Whether steps have to keep NaN and infinities where they were.",
        "input": "The formula and its operands.",
        "candidates": "The programs, the best of each idea first.",
        "statistics": "Figures of the search.",
        "measured": "A race of the programs. A list, which earlier releases wrote, is not shown.",
        "search": "What the search saw, where this was asked for.",
        "kernels": "Generated kernels, where this was asked for. Those of the best candidates come "
        "first.",
    },
    "input": {
        "text": "The formula in the notation, one statement a line.",
        "tensors": "The operands by their names, in the order of the formula's arguments.",
        "outputs": "The names of the statements that are outputs, in their order.",
    },
    "tensor": {"shape": "The extent of each dimension.", "dtype": "The type of the elements."},
    "candidate": {
        "predicted_seconds": "The predicted time of the program.",
        "program": "The program in the notation, one statement a stage.",
        "stages": "The stages, producers first.",
        "steps": "The steps from the formula to the program, in order.",
    },
    "step": {
        "rule": "The name of the rule that proposed the step.",
        "before": "The scope that is replaced.",
        "after": "The equal scope that replaces it. It has the same loops.",
        "witness": "How the right side is made from the left: a kind, and the fields of this kind. "
        "A position of a term counts the terms of a body as `ta.ir.subst.walk` lists them.",
    },
    "stage": {
        "scope": "The place of the scope among those of the program, producers first.",
        "operator": "The operator that computes it; eOperator for a generated kernel, folded for "
        "what is computed once from weights, view for what costs nothing.",
        "predicted_seconds": "The predicted time of the stage.",
        "binding": "How the operator is an instance of its definition; null without a definition.",
    },
    "binding": {
        "operands": "The operands of the operator, in their order.",
        "roles": "For each index of the definition, the numbers of the scope's iterators that play "
        "it.",
        "windows": "For each window: operand, dimension, loop, reduction, unit, stride, dilation.",
        "coefficient": "The number by which the whole is multiplied.",
    },
    "operand": {
        "source": "The name of a tensor, or the place of a scope of the program.",
        "rows": "The index in each dimension, as a row of the scope's iterators.",
        "fill": "What is read outside of the source.",
    },
    "statistics": {
        "states": "The number of distinct expressions that were seen.",
        "expanded": "The number of distinct expressions that were expanded.",
        "steps": "The number of steps that were accepted.",
        "seconds": "How long the search took.",
        "peak_bytes": "The peak memory of the process.",
        "stopped": "Why the search ended.",
        "pruned": "How often something was left out, by reason.",
        "bound": "The predicted seconds that every program takes at least.",
    },
    "race": {
        "made": "When the times were taken, in seconds since 1970.",
        "device": "The device: cpu or cuda.",
        "environment": "The processor, its threads and the versions of libraries, in words.",
        "interrupted": "Whether some programs were not tried or timed to the end.",
        "checks": "Whether each call checks what the formula assumes.",
        "trials": "All programs that were tried, the baselines first. One of them is chosen.",
        "stages": "For each candidate the seconds of its stages alone; null where not known.",
    },
    "trial": {
        "label": "The name of the program.",
        "candidate": "The number of its candidate; -1 for the formula as given, null for a plain "
        "program.",
        "operators": "Its operators.",
        "seconds": "The median of its times; null where nothing ran.",
        "spread": "Half of the interquartile range of its times.",
        "error": "Its error on random inputs; null where it is not finite.",
        "steps_that_can_cancel": "The rules of its steps that can lose digits.",
        "digits_by_step": "How many decimal digits such steps lost: pairs of a rule and a number.",
        "hard_inputs": "Its errors on hard inputs.",
        "verdict": "baseline, accepted, or why it was refused.",
        "chosen": "Whether it was chosen.",
        "lines": "The lines of a plain program; empty for others.",
    },
    "family": {
        "family": "The name of the family of inputs.",
        "error": "The error of the program there; null where it is not finite.",
        "written_error": "The error of the formula as written; null where it is not finite.",
        "digits_lost": "The decimal digits that were lost; null where this is not finite.",
        "accepted": "Whether this is accepted.",
        "standard": "Whether the formula as written has a digit right there.",
    },
    "kernel": {
        "candidate": "The number of its candidate.",
        "stages": "The places of the stages that it computes, producers first.",
        "language": "What the source is written in.",
        "plan": "Its operands and results, and its loops as pseudo-code.",
        "source": "The text that is compiled, for operands that lie in memory without gaps.",
        "configurations": "The ways to run it, among which one is chosen.",
    },
    "configuration": {
        "words": "Its blocks and warps, or its order of loops.",
        "chosen": "Whether it is the chosen one.",
        "seconds": "The time of one run; null where it is not known.",
        "timed": "Whether this time was measured, or predicted.",
        "registers": "The registers of a thread on a GPU; null where nothing was compiled.",
        "spilled": "The words of 32 bits that a thread keeps in memory instead; null as above.",
        "shared": "The bytes of memory that the threads of a block share; null as above.",
    },
    "search": {
        "version": "The version of the data.",
        "data": "Base64 of deflated JSON (zlib), which `$defs/search_content` describes. More than "
        "64 MiB of JSON are not read.",
    },
    "search_content": {
        "states": "A table of the expressions.",
        "equalities": "A table of the steps between them.",
        "refused": "A table of what was left out.",
        "reasons": "Texts, to which other fields refer by number.",
        "given": "The states of the given program, producers first.",
        "programs": "For each candidate the states on the way to it and those of its stages.",
        "asked": "The number of expanded states whose refusals were worked out.",
        "left_out": "The number of states that are not kept.",
    },
    "State": {
        "text": "The expression; what it reads has the name of its state.",
        "loops": "How many of the iterators are loops; the others are summed.",
        "iterators": "The iterators of each state.",
        "operator": "The library operator that computes it as one stage; empty for a generated "
        "kernel.",
        "nearest": "The nearest operator.",
        "distance": "The distance to the nearest operator.",
        "mismatches": "The numbers of the reasons why it is no instance of that operator.",
        "seconds": "The predicted time of the stage alone.",
        "total": "The predicted time with all that it reads, each as a single stage.",
        "best": "The predicted time of the cheapest program known for it; -1 where not known.",
        "found": "After how many seconds of the search it was known.",
        "expanded": "Its place among the expanded states from 1; 0 if it was not expanded.",
        "reads": "The states that it reads.",
    },
    "Equality": {
        "before": "The state that a step replaces.",
        "after": "The state that replaces it.",
        "rule": "The rule of the step.",
        "converging": "Whether the step lowers the distance to an operator or the predicted time.",
        "witness": "The witness in words.",
    },
    "Refused": {
        "state": "The state for which something was proposed.",
        "rule": "The rule that proposed it.",
        "reason": "The number of the reason why it was left out.",
        "count": "How often.",
    },
}
"""What each field holds, by the object it belongs to."""
