"""The built-in assertions and scorers.

Every function in a module of this package that is declared with `@assertion` or `@scorer` is one;
`judgekit.assertions.registry` finds them, so a new type is listed nowhere else. All of them raise
`NotApplicableError` where the text or the field that they check is missing, and `UndecidedError`
where there is no trace, nothing to compare with, nothing was measured or a time limit was reached;
only what a function raises beyond that is in its docstring.
"""
