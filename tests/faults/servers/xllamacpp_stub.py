"""What the embedded engine's child imports in place of the wheel: one of the servers beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.faults.servers.stub import Stub


class CommonParams:
    """Takes every parameter."""

    def __init__(self) -> None:
        self.cpuparams = SimpleNamespace(n_threads=-1)
        self.cpuparams_batch = SimpleNamespace(n_threads=-1)
        self.model = SimpleNamespace(path="")
        self.model_alias: set[str] = set()
        self.hostnames = [""]
        self.api_keys = [""]

    def __getattr__(self, name: str) -> Any:
        """Pretend that the parameter was there all along."""
        return None


def start(server: type[Stub], parameters: Any) -> None:
    """Start a server as the wheel's `Server` does."""
    options = {
        "threads": parameters.cpuparams.n_threads,
        "threads-batch": parameters.cpuparams_batch.n_threads,
        "ctx-size": parameters.n_ctx,
        "batch-size": parameters.n_batch,
        "ubatch-size": parameters.n_ubatch,
        "parallel": parameters.n_parallel,
        "model": parameters.model.path,
        "alias": next(iter(parameters.model_alias)),
        "port": parameters.port,
    }
    words = {name: str(value) for name, value in options.items()}
    server(words, parameters.api_keys[0]).start()
