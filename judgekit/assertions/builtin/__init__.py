"""The built-in assertions and scorers.

Every function in a module of this package that is declared with `@assertion` or `@scorer` is one;
`judgekit.assertions.registry` finds them, so a new type is listed nowhere else.
"""
