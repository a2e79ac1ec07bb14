"""Python in the browser: its verdicts are those of any other Python, and the site serves it whole."""
