"""The tests of the tests: what the checks catch, diagnose and accept, measured."""
