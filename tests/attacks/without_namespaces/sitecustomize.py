"""A zygote that finds this on its path believes that the machine has no namespaces, as in Docker."""

from cellcheck.sandbox import kernel


def refuse(*_: object) -> None:
    """What the kernel says there."""
    raise PermissionError(1, "Operation not permitted", "unshare")


kernel.unshare = refuse  # type: ignore[assignment]
