"""A progress bar that leaves no trace: when it is done, the cell shows its result and nothing else."""

from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

if TYPE_CHECKING:
    Bar = tqdm[Any]
else:
    Bar = tqdm  # the notebook's bar or the terminal's, whichever fits


class Progress(Bar):
    """`tqdm`, with the loss beside the bar.

    >>> for step in (bar := Progress(range(3), desc="training", disable=True)):
    ...     bar.show_loss(1.0 / (step + 1))
    """

    def show_loss(self, loss: float) -> None:
        """Write `loss` beside the bar, at the bar's own next refresh."""
        self.set_postfix_str(f"loss {loss:.4f}", refresh=False)

    def close(self) -> None:
        """Finish, and clear the bar away where a notebook would keep it."""
        open_before = not self.disable
        super().close()
        if open_before and _in_notebook():
            from IPython.display import clear_output

            clear_output()


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None
