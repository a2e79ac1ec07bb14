"""The exercises of lesson 11, a module a topic."""
