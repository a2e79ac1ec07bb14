"""Walls around a process that runs somebody else's code: namespaces, Landlock, seccomp, limits."""
