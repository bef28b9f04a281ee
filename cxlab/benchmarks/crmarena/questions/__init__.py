"""The questions of an organisation: drawn so that they make sense, worded, and answered by the solvers."""
