"""How many trees have been grown, for those who want to be told."""

from spinney._support.checks import Progress, check_progress


class GrownTrees:
    """Tells how many trees are grown, and of how many, as far as is known."""

    def __init__(self, progress: Progress | None) -> None:
        check_progress(progress)
        self.progress, self.done, self.total = progress, 0, 0

    def expect(self, number: int) -> None:
        """Expect more trees."""
        self.total += number
        self._report()

    def grown(self) -> None:
        """Count a tree; where rows are few there are fewer than was expected."""
        self.done = min(self.done + 1, self.total)
        self._report()

    def finish(self) -> None:
        """Tell that nothing more is to come."""
        self.done = self.total
        self._report()

    def _report(self) -> None:
        if self.progress is not None and self.total:
            self.progress(self.done, self.total)
