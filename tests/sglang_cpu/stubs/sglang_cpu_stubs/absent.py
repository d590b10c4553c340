"""Importable stand-ins for packages that are not installed.

SGLang imports torchvision, torchaudio and triton at start-up whatever the device. Serving a Llama
on CPU calls none of them, and their wheels either do not load beside the CPU build of torch or
weigh a gigabyte.
"""

from __future__ import annotations

import importlib
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class AbsentClass(type):
    """Metaclass of a class that can be named, derived from and constructed, and does nothing."""

    def __getattr__(cls, name: str) -> type:
        return absent_class(name)


def absent_class(name: str) -> type:
    """A fresh do-nothing class.

    Dunder names are refused, so that no protocol is claimed by accident.
    """
    if name.startswith("__"):
        raise AttributeError(name)

    def accept(self: object, *args: object, **kwargs: object) -> None:
        pass

    return AbsentClass(name, (), {"__init__": accept, "__call__": accept})


class AbsentModule(ModuleType):
    """Every attribute is a do-nothing class."""

    def __getattr__(self, name: str) -> Any:
        value = absent_class(name)
        setattr(self, name, value)
        return value


class AbsentConstexpr:
    """`triton.language.constexpr`: keeps its value."""

    def __init__(self, value: object = None) -> None:
        self.value = value


class AbsentTritonError(Exception):
    """Stands for triton's exception classes, which appear in `except` clauses."""


def cdiv(numerator: int, denominator: int) -> int:
    """`triton.cdiv`, called while launch grids are worked out on the host."""
    return -(-numerator // denominator)


def next_power_of_2(number: int) -> int:
    """`triton.next_power_of_2`, likewise."""
    return 1 << (number - 1).bit_length() if number > 0 else 1


TRITON_ATTRIBUTES: dict[str, object] = {
    "cdiv": cdiv,
    "next_power_of_2": next_power_of_2,
    "constexpr": AbsentConstexpr,
    "OutOfResources": AbsentTritonError,
    "PTXASError": AbsentTritonError,
}


def keep(function: Any) -> Any:
    """A decorator that changes nothing."""
    return function


class AbsentTritonModule(AbsentModule):
    """Attributes are submodules that double as decorators: kernel definitions import, none runs."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Both `@triton.jit` and `@triton.autotune(...)` leave the function as it is."""
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]
        return keep

    def __contains__(self, item: object) -> bool:
        return False

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = TRITON_ATTRIBUTES.get(name)
        if value is None and name[0].isupper():
            value = absent_class(name)
        elif value is None:
            value = importlib.import_module(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class AbsentPackages(MetaPathFinder, Loader):
    """Finds any module of the named packages.

    `sgl_kernel` is here for its submodules: the package itself lies beside this one and is found
    first.
    """

    packages: frozenset[str] = frozenset({"torchvision", "torchaudio", "sgl_kernel"})
    module_class: type[ModuleType] = AbsentModule

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.packages:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self.module_class(spec.name)
        module.__version__ = "0.0"  # type: ignore[attr-defined]
        module.__file__ = "<stand-in>"
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


class AbsentTriton(AbsentPackages):
    """The same for triton, whose names are used as decorators at import time."""

    packages = frozenset({"triton"})
    module_class = AbsentTritonModule
