"""Why a machine has no namespaces, and what its owner can do about it."""

from pathlib import Path

_APPARMOR = (
    "AppArmor keeps namespaces from ordinary users. An administrator can allow them: "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0"
)
_CONTAINER = (
    "A container's default rules forbid namespaces. Docker allows them with --cap-add SYS_ADMIN and "
    "--security-opt for each of seccomp=unconfined, apparmor=unconfined, systempaths=unconfined"
)
_SWITCHED_OFF = "User namespaces are switched off. An administrator can allow them: sysctl {}={}"


def why_no_namespaces(refusal: str, root: Path = Path("/")) -> str:
    """The kernel's refusal, and what is known to cause it, in one line. `root` is the machine's root folder."""
    settings = root / "proc/sys"
    if any((root / mark).exists() for mark in (".dockerenv", "run/.containerenv")):
        return f"{refusal}. {_CONTAINER}"
    if _read(settings / "user/max_user_namespaces") == "0":
        return f"{refusal}. {_SWITCHED_OFF.format('user.max_user_namespaces', 10000)}"
    if _read(settings / "kernel/unprivileged_userns_clone") == "0":
        return f"{refusal}. {_SWITCHED_OFF.format('kernel.unprivileged_userns_clone', 1)}"
    if _read(settings / "kernel/apparmor_restrict_unprivileged_userns") == "1":
        return f"{refusal}. {_APPARMOR}"
    return refusal


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except OSError:
        return ""
