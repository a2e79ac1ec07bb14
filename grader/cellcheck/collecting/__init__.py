"""`cellcheck collect`: what learners handed in, as the platforms give it out, goes to nbgrader's `submitted/`."""
