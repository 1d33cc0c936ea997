"""Entry points: reads einsum calls, formulas and graphs; searches, compiles, checks and reports."""
