"""The exercises of this lesson: cases, mistakes and variants, one module a topic."""
