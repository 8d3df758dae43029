"""Builds the wheel of this pure Python package (PEP 517 and 427): `python3 build_wheel.py [FOLDER]`, or by way of pip.

It takes the metadata from pyproject.toml.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional

_ROOT = Path(__file__).resolve().parent
#: The time of each file, so that the same source gives the same wheel.
_TIME = (2020, 1, 1, 0, 0, 0)


def _project() -> Dict[str, str]:
    """Returns the texts in [project]. Python 3.9 has no tomllib."""
    text = (_ROOT / "pyproject.toml").read_text("utf-8")
    table = text[text.index("[project]") :].split("\n[", 1)[0]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', table, re.MULTILINE))


def _metadata(project: Dict[str, str]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        "License: Apache-2.0",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (_ROOT / "README.md").read_text("utf-8")


def _stem(project: Dict[str, str]) -> str:
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _sources(project: Dict[str, str]) -> List[Path]:
    package = _ROOT / project["name"].replace("-", "_")
    return sorted(path for path in package.rglob("*") if path.suffix == ".py" or path.name == "py.typed")


def build_wheel(
    wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    """Writes the wheel into the folder and returns its name."""
    project = _project()
    name = f"{_stem(project)}-py3-none-any.whl"
    info = f"{_stem(project)}.dist-info"
    members = {path.relative_to(_ROOT).as_posix(): path.read_bytes() for path in _sources(project)}
    members[f"{info}/LICENSE"] = (_ROOT / "LICENSE").read_bytes()
    members[f"{info}/METADATA"] = _metadata(project).encode()
    wheel = "Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members[f"{info}/WHEEL"] = wheel.encode()
    rows = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in members.items()]
    members[f"{info}/RECORD"] = ("\n".join([*rows, f"{info}/RECORD,,"]) + "\n").encode()
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            member = zipfile.ZipInfo(path, _TIME)
            member.external_attr = 0o644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """Writes the source archive into the folder and returns its name."""
    project = _project()
    name = f"{_stem(project)}.tar.gz"
    files = [_ROOT / each for each in ("pyproject.toml", "build_wheel.py", "README.md", "LICENSE")]
    with tarfile.open(Path(sdist_directory) / name, "w:gz") as archive:
        for path in [*files, *_sources(project)]:
            archive.add(path, f"{_stem(project)}/{path.relative_to(_ROOT).as_posix()}", recursive=False)
    return name


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
