"""tau2-bench's tasks and result files."""
