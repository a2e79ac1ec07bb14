"""From a lesson's text to the notebooks: `notebooks/` for learners, `solutions/` executed."""
