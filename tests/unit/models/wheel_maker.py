"""Small wheels made on the spot."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

VERSION = "1.0.7"


def make_wheel(
    folder: Path,
    distribution: str,
    members: dict[str, bytes],
    compression: int = zipfile.ZIP_STORED,
) -> Path:
    """Write a wheel for every platform."""
    stem = f"{distribution.replace('-', '_')}-{VERSION}"
    info = f"{stem}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {VERSION}\n"
    files = members | {
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={_encoded(body)},{len(body)}\n" for name, body in files.items()]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return path


def digest(body: bytes) -> str:
    """Return the sha256 of *body*, in hexadecimal."""
    return hashlib.sha256(body).hexdigest()


def _encoded(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
