"""Autograd in thirty lines: a tape that records what is calculated, and goes back through all of it by itself."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Tape:
    """Records the steps of a calculation, and goes back through them by itself.

    `record(inputs, output, backward)` notes one step down, and returns `output` itself.
    `inputs` is a list of the arrays that went in; `backward(gradient)`, given the
    gradient of the output, returns a list with one gradient for each of them. The tape
    keeps all these arrays, and tells them apart by what they are (`is`, or `id`), not by
    the numbers in them.

    `gradients(output, gradient, wanted)` begins with the gradient of `output`, which may
    come out of any step, and goes back. It returns a list: the gradient of each array in
    `wanted`, which may hold results, too, even `output` itself. If an array went into
    several steps, or several times into one, all its gradients add up; if nothing leads
    from it to `output`, they are zeros of its shape. Each step is asked at most once. No
    array is written into, and a tape that has been asked can be asked again. It may hold
    thousands of steps.

    >>> tape, x = Tape(), np.array([3.0])
    >>> square = tape.record([x, x], x * x, lambda g: [g * x, g * x])
    >>> y = tape.record([square, x], square + x, lambda g: [g, g])
    >>> tape.gradients(y, np.array([1.0]), [x])  # of x * x + x: 2x + 1, which is 7
    [array([7.])]
    """

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self.steps: list[tuple[list[np.ndarray], np.ndarray, Callable[..., Sequence[np.ndarray]]]] = []
        ### END SOLUTION

    def record(
        self, inputs: Sequence[np.ndarray], output: np.ndarray, backward: Callable[..., Sequence[np.ndarray]]
    ) -> np.ndarray:
        """Notes one step down, and returns its output."""
        ### BEGIN SOLUTION
        self.steps.append((list(inputs), output, backward))
        return output
        ### END SOLUTION

    def gradients(self, output: np.ndarray, gradient: np.ndarray, wanted: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The gradients of the wanted arrays: back through the steps, last one first."""
        ### BEGIN SOLUTION
        found = {id(output): gradient}
        for inputs, result, backward in reversed(self.steps):
            if id(result) in found:
                for each, more in zip(inputs, backward(found[id(result)]), strict=True):
                    found[id(each)] = found[id(each)] + more if id(each) in found else more
        return [found[id(each)] if id(each) in found else np.zeros_like(each) for each in wanted]
        ### END SOLUTION


def unbroadcast(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo broadcasting on the way back: an array of `shape` was stretched, and each entry gathers from all its copies.

    >>> unbroadcast(np.ones((4, 3)), (3,)), unbroadcast(np.ones((2, 3)), (2, 1)).T
    (array([4., 4., 4.]), array([[3., 3.]]))
    """
    in_front = tuple(range(gradient.ndim - len(shape)))
    gradient = np.asarray(gradient.sum(axis=in_front))
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return np.asarray(gradient.sum(axis=stretched, keepdims=True))


def array_of(value: Any, like: np.ndarray) -> np.ndarray:
    """The array of a variable, the very same; a number or an array becomes an array of the dtype of `like`."""
    array: np.ndarray = value.array if hasattr(value, "array") else np.asarray(value, dtype=like.dtype)
    return array


class Variable:
    """An array whose calculations are recorded on a tape.

    `Variable(array, tape)` keeps both. Each operation works out a new array, records the
    step with `self.recorded(inputs, output, backward)`, and returns what that returns: a
    new `Variable` on the same tape.

        a + b, a * b   entry by entry; shapes may broadcast, and `b` may be a number
        a @ b          products of matrices; axes in front may broadcast
        a ** n         each entry to the power of n, a Python number
        a.exp()        the exponential of each entry
        a.sum()        the sum over the last axis, which stays, with length one
        a.mT           the last two axes swapped

    The gradients have the shapes of the arrays: `unbroadcast(gradient, shape)` adds up
    what a stretched array's copies got. float32 stays float32. `a + b`, and what can be
    made of the others (`a - b`, `a / b`), are given.

    >>> tape = Tape()
    >>> x, w = Variable(np.array([[1.0, 2.0]]), tape), Variable(np.array([[3.0], [5.0]]), tape)
    >>> y = (x @ w) ** 2
    >>> y.array, tape.gradients(y.array, np.array([[1.0]]), [w.array])[0].T  # 13 squared; 26 times x
    (array([[169.]]), array([[26., 52.]]))
    """

    __array_ufunc__ = None  # so that `array * variable` asks the variable

    def __init__(self, array: np.ndarray, tape: "Tape") -> None:
        self.array, self.tape = array, tape

    def recorded(
        self, inputs: Sequence[np.ndarray], output: np.ndarray, backward: Callable[..., Sequence[np.ndarray]]
    ) -> "Variable":
        """Records a step, and puts its output into a variable."""
        return Variable(self.tape.record(inputs, output, backward), self.tape)

    def __add__(self, other: "Variable | np.ndarray | float") -> "Variable":
        a, b = self.array, array_of(other, self.array)
        return self.recorded([a, b], a + b, lambda g: [unbroadcast(g, a.shape), unbroadcast(g, b.shape)])

    def __mul__(self, other: "Variable | np.ndarray | float") -> "Variable":
        ### BEGIN SOLUTION
        a, b = self.array, array_of(other, self.array)
        return self.recorded([a, b], a * b, lambda g: [unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)])
        ### END SOLUTION

    def __matmul__(self, other: "Variable | np.ndarray") -> "Variable":
        ### BEGIN SOLUTION
        a, b = self.array, array_of(other, self.array)
        return self.recorded([a, b], a @ b, lambda g: [unbroadcast(g @ b.mT, a.shape), unbroadcast(a.mT @ g, b.shape)])
        ### END SOLUTION

    def __pow__(self, n: float) -> "Variable":
        ### BEGIN SOLUTION
        a = self.array
        return self.recorded([a], a**n, lambda g: [g * (n * a ** (n - 1))])
        ### END SOLUTION

    def exp(self) -> "Variable":
        """The exponential of each entry."""
        ### BEGIN SOLUTION
        result = np.exp(self.array)
        return self.recorded([self.array], result, lambda g: [g * result])
        ### END SOLUTION

    def sum(self) -> "Variable":
        """The sum over the last axis, which stays, with length one."""
        ### BEGIN SOLUTION
        a = self.array
        return self.recorded([a], a.sum(axis=-1, keepdims=True), lambda g: [g * np.ones_like(a)])
        ### END SOLUTION

    @property
    def mT(self) -> "Variable":
        """The last two axes swapped."""
        ### BEGIN SOLUTION
        return self.recorded([self.array], self.array.mT, lambda g: [g.mT])
        ### END SOLUTION

    def __radd__(self, other: np.ndarray | float) -> "Variable":
        return self + other

    def __rmul__(self, other: np.ndarray | float) -> "Variable":
        return self * other

    def __sub__(self, other: "Variable | np.ndarray | float") -> "Variable":
        return self + other * -1.0

    def __truediv__(self, other: "Variable | float") -> "Variable":
        return self * other**-1.0
