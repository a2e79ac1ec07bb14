"""The exercises of lesson 12, one module a topic."""
