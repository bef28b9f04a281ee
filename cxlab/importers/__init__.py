"""Other people's files into records: one module a source, each saying row by row what it could not take.

`conversations` reads conversations as people have them, by a mapping that is guessed and corrected; `transcripts` makes
a dataset of those between people. Both belong to no benchmark; each benchmark declares its own importers, and `sources`
lists all of them. An importer checks everything before it stores anything.
"""
