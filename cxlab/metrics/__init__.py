"""Arrays in, floats out: numpy only, no models, no I/O.

One module an idea: `paths` (a path compared with a procedure), `agreement` (raters among themselves),
`passk` (repeated trials), `intervals` (how sure is a mean), `paired` (is a difference real),
`classification` (labels against gold). An undefined value is nan, never 0; a misuse raises BadOption.
"""
