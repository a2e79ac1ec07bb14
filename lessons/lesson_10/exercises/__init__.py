"""The exercises of lesson 10, a module a topic."""
