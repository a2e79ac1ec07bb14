"""The lessons of the course, one folder each: text, exercises, probes, experiments, pictures, tables."""

TITLE = "Transformers, cell by cell"
TAGLINE = "from your first tensor to the Transformer"
