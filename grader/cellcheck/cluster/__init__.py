"""Grading on the machines of a Dask cluster. Workers judge and draft; this machine alone writes the gradebook."""
