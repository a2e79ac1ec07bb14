"""The course in a browser, with nothing to install: what `make site` adds to the pages.

Python itself is Pyodide, which somebody has fetched into a folder (here, `environment/browser.py`): this room puts it
beside the pages with the wheels of the grader and the course, and builds a JupyterLite on top. Nothing is fetched.
"""
