# The compiled part. It is private.
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "VERSION",
    "Binding",
    "Canceller",
    "Listener",
    "Matrix",
    "Party",
    "Prepared",
    "Program",
    "Query",
    "Rows",
    "Security",
    "check_settings",
    "key_form",
    "key_strings",
    "main",
    "new_key",
    "pack_bits",
    "pack_bytes",
    "pack_numbers",
    "public_key",
]

VERSION: str

def main(itself: list[str], words: list[str]) -> int: ...
def new_key(file: str | PathLike[str]) -> str:
    """Makes a key in a file that is not there yet; the public key."""

def public_key(file: str | PathLike[str]) -> str:
    """The public key of the private one in a file."""

def check_settings(settings: dict[str, Any]) -> None: ...
def key_form(name: str) -> str: ...
def key_strings(keys: list[Any], form: str) -> NDArray[np.uint8]: ...
def pack_numbers(array: NDArray[Any], ty: str) -> Matrix: ...
def pack_bytes(array: NDArray[np.uint8], ty: str) -> Matrix: ...
def pack_bits(array: NDArray[np.uint8]) -> Matrix: ...

@final
class Matrix:
    @property
    def lanes(self) -> int: ...
    @property
    def width(self) -> int: ...
    def array(self, ty: str) -> NDArray[Any]: ...
    def equals(self, other: Matrix) -> bool: ...

_Port = tuple[str, str, str, str]

@final
class Program:
    @staticmethod
    def from_bytes(file: str | PathLike[str], bytes: bytes) -> Program: ...
    @staticmethod
    def built_in(text: str) -> Program: ...
    def to_bytes(self) -> bytes: ...
    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def sizes(self) -> list[tuple[str, int, int]]: ...
    @property
    def inputs(self) -> list[_Port]: ...
    @property
    def outputs(self) -> list[_Port]: ...
    @property
    def meanings(self) -> dict[str, str]: ...
    def bind(self, sizes: dict[str, int], lanes: dict[str, int]) -> Binding: ...

@final
class Binding:
    @property
    def sizes(self) -> dict[str, int]: ...
    @property
    def input_lanes(self) -> dict[str, int]: ...
    @property
    def output_lanes(self) -> dict[str, int]: ...
    def plain(self, inputs: dict[str, Matrix]) -> dict[str, Matrix]: ...
    def cost(self, link: str, settings: dict[str, Any]) -> list[dict[str, Any]]: ...

_Column = tuple[str, str, str]

@final
class Query:
    def __new__(
        cls,
        learns: str,
        keys: list[str],
        figures: list[
            tuple[
                str,
                str,
                tuple[_Column, int] | None,
                tuple[Any, ...] | None,
                tuple[_Column, list[str]] | None,
                int,
            ]
        ],
    ) -> Query: ...
    @property
    def text(self) -> str: ...
    def tests(self, name: str) -> list[tuple[str, str, str]]: ...
    def groups(self, name: str) -> list[tuple[str, list[str]]]: ...
    def numbers(self, name: str) -> list[tuple[str, int]]: ...

@final
class Rows:
    def __new__(
        cls,
        query: Query,
        name: str,
        strings: NDArray[np.uint8],
        tests: list[NDArray[np.bool_]],
        groups: list[NDArray[np.uint32]],
        numbers: list[NDArray[np.int64]],
        pad: int | None,
    ) -> Rows: ...

@final
class Canceller:
    def __new__(cls) -> Canceller: ...
    def cancel(self) -> None: ...
    @property
    def is_cancelled(self) -> bool: ...

@final
class Security:
    @staticmethod
    def tls(file: str | PathLike[str], peer: str) -> Security: ...
    @staticmethod
    def plaintext() -> Security: ...

@final
class Listener:
    def __new__(cls, address: str) -> Listener: ...
    @property
    def address(self) -> str: ...

@final
class Party:
    @property
    def is_busy(self) -> bool: ...
    @staticmethod
    def connect(
        address: str,
        name: str,
        security: Security,
        times: tuple[float, float],
        canceller: Canceller,
        threads: int,
    ) -> Party: ...
    @staticmethod
    def accept(
        listener: Listener,
        name: str,
        security: Security,
        times: tuple[float, float],
        canceller: Canceller,
        threads: int,
    ) -> Party: ...
    def run(
        self, binding: Binding, settings: dict[str, Any], inputs: dict[str, Matrix]
    ) -> tuple[dict[str, Matrix], dict[str, Any]]: ...
    def prepare(self, binding: Binding, settings: dict[str, Any], public: dict[str, Matrix]) -> Prepared: ...
    def online(self, prepared: Prepared, inputs: dict[str, Matrix]) -> tuple[dict[str, Matrix], dict[str, Any]]: ...
    def query(
        self, query: Query, rows: Rows
    ) -> tuple[list[list[int | None]] | None, list[int], dict[str, Any]]: ...
    def close(self) -> None: ...
    def abandon(self) -> None: ...

@final
class Prepared:
    @property
    def is_left(self) -> bool: ...
    @property
    def binding(self) -> Binding: ...
