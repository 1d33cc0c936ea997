"""What an expression is: index rows, nodes, scopes, programs, and the only walks over them.

Not here: reading text, printing, and everything that is known or computed about expressions.
May be imported by every room.
"""
