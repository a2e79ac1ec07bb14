"""`submit()`, as it is used in a notebook: by nbgrader's exchange where there is one, else as one file to hand in.

It needs the standard library and what Colab has; nbgrader only where its exchange is used.
"""
