"""`grader demo`: the whole way from a released lesson to a graded class, in a fresh course."""

from grader.demo.run import run_demo

__all__ = ["run_demo"]
