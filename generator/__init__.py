"""Published receipts: articles about local LLMs whose every number traces to a raw measurement."""

__version__ = "0.1.0"
