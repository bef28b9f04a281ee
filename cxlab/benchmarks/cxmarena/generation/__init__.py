"""The pipeline that makes a dataset, its tables, statistics and cost."""
