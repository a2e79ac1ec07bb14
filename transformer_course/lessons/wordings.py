"""What a probe says in words beside the result: it is said where an aspect looks at it, and left out elsewhere."""

from cellcheck.authoring.spec import USUAL, Case, Observation


def only_usually(observation: Observation, case: Case, *keys: str) -> Observation:
    """An observation without what stands under these keys, but in the usual cases."""
    return observation if case.tags >= USUAL else {k: seen for k, seen in observation.items() if k not in keys}
