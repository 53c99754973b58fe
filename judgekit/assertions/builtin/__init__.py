"""The built-in assertions and scorers.

Every function in a module of this package that is declared with `@assertion` or `@scorer` is one;
`judgekit.assertions.registry` finds them, so a new type is listed nowhere else. All of them raise
`NotApplicableError` where the text or the field that they check is missing, and `UndecidedError`
where there is no trace, nothing to compare with, nothing was measured or a time limit was reached.

Some parameters are the same everywhere and are not described again: `output`; `path`, where its
text is, None for the whole output; `ignore_case`, whether upper and lower case are the same;
`timeout_s`, how many seconds the check may take; and the `case`. The `actual` of a result is what
was counted, measured or found.
"""
