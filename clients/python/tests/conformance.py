"""Replays clients/conformance.json: `conformance.py CASES URL`. Case N is served below URL/N. Prints the result of each case."""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Dict, Tuple

from qrn_client import AsyncQrnClient, QrnClient, QrnError


def call_of(client: Any, case: Dict[str, Any]) -> Any:
    """Begins the call of a case: a value of QrnClient, an awaitable of AsyncQrnClient, or the blocks of a stream."""
    name, *given = case["call"]
    given = [value_of(each) for each in given]
    named: Dict[str, Any] = given.pop() if given and isinstance(given[-1], dict) else {}
    place, _, method = name.rpartition(".")
    if place == "stream":
        return client.stream(method, **named)
    params = named.pop("params", {})
    return getattr(client.draws if place else client, method)(*given, **named, **params)


def value_of(given: Any) -> Any:
    """Turns texts that the file writes in hex into bytes."""
    if not isinstance(given, dict):
        return given
    return bytes.fromhex(given["hex"]) if "hex" in given else {name: value_of(each) for name, each in given.items()}


def client_of(kind: Any, url: str, place: int, case: Dict[str, Any]) -> Any:
    options = dict(case.get("client", {}))
    if "timeout_s" in options:
        options["timeout"] = options.pop("timeout_s")
    return kind(f"{url}/{place}/v1", "qrn_p_key", **options)


def told(value: Any) -> Dict[str, Any]:
    if isinstance(value, QrnError):
        members = {name: getattr(value, name) for name in ("code", "status", "message", "request_id", "details", "attempts")}
        return {"fails": {**members, "kinds": [each.__name__ for each in type(value).__mro__], "retry_after_s": value.retry_after}}
    return {"gives": value.decode() if isinstance(value, bytes) else getattr(value, "values", value) if not isinstance(value, dict) else value}


def sync_outcome(url: str, numbered: Tuple[int, Dict[str, Any]]) -> Dict[str, Any]:
    with client_of(QrnClient, url, *numbered) as client:
        try:
            came = call_of(client, numbered[1])
            return told([value for block in came for value in block.values] if hasattr(came, "__next__") else came)
        except QrnError as error:
            return told(error)


async def async_outcome(url: str, place: int, case: Dict[str, Any]) -> Dict[str, Any]:
    async with client_of(AsyncQrnClient, url, place, case) as client:
        try:
            came = call_of(client, case)
            is_stream = hasattr(came, "__aiter__")
            return told([value async for block in came for value in block.values] if is_stream else await came)
        except QrnError as error:
            return told(error)


async def async_outcomes(url: str, cases: Any) -> Any:
    return await asyncio.gather(*(async_outcome(url, place, case) for place, case in enumerate(cases)))


if __name__ == "__main__":
    way, cases, url = sys.argv[1], json.loads(Path(sys.argv[2]).read_text("utf-8")), sys.argv[3]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if way == "sync":
            with ThreadPoolExecutor(8) as threads:
                outcomes = list(threads.map(partial(sync_outcome, url), enumerate(cases)))
        else:
            outcomes = asyncio.run(async_outcomes(url, cases))
    print(json.dumps({"outcomes": outcomes, "warnings": [str(each.message) for each in caught]}))
