"""Checks what the caller said of an answer against its certificate."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Dict, Optional, Tuple

from ._members import MISSING, encoded, member, show, text


def label_finding(response: Any, document: Any) -> Optional[Tuple[Optional[str], str]]:
    """What is wrong, or None, and what holds; None where neither the certificate nor the answer has a label.

    response: MISSING where only the certificate is at hand, and of an answer in octets, which has no place for a label
    """
    certified, told = member(document, "label"), member(response, "label")
    if certified is MISSING and told is MISSING:
        return None
    if certified is MISSING:
        return "The answer has a label, the certificate has none.", ""
    if not isinstance(certified, dict) or not isinstance(certified.get("public"), bool):
        return "The label of the certificate is not an object that says whether it is public.", ""
    failure = _flaw(certified)
    if failure is None and response is not MISSING:
        try:
            failure = _difference(response, told, certified)
        except RecursionError:
            failure = "The label is nested too deeply to be compared."
    return failure, _holds(certified)


def _flaw(certified: Dict[str, Any]) -> Optional[str]:
    if _odd(certified):
        return f"{_odd(certified)} of the certificate's label is not well-formed text."
    serial, series = member(certified, "serial"), member(certified, "series")
    numbered = isinstance(serial, int) and not isinstance(serial, bool) and 1 <= serial < 2**53
    if "purpose" in certified or "purpose_commitment" in certified:
        if not (isinstance(series, str) and numbered):
            return "The label has a purpose without a series and a serial."
    elif series is not MISSING or serial is not MISSING:
        return "The label has a serial without a purpose."
    if "user_data" in certified and certified.get("user_data_sha256") != _digest(b"", certified["user_data"]):
        return "user_data_sha256 of the certificate is not the hash of its user_data."
    return None


def _odd(label: Dict[str, Any]) -> Optional[str]:
    """A member that should be text in Unicode and is not: it would hash like another one."""
    for name in ("purpose", "user_data"):
        if name in label and not (isinstance(label[name], str) and encoded(label[name]) is not None):
            return name
    return None


def _difference(response: Any, told: Any, certified: Dict[str, Any]) -> Optional[str]:
    if not isinstance(told, dict):
        return "The certificate has a label, the answer has none."
    salt = text(member(response, "metadata", "certificate_salt")) or ""
    if not re.fullmatch("[0-9a-f]{64}", salt):
        return "metadata.certificate_salt is not 64 hex digits."
    if _odd(told):
        return f"{_odd(told)} of the answer's label is not well-formed text."
    if told.get("public") is not certified["public"]:
        return "The label of the answer differs from the certificate in public."
    names = ("public", "purpose", "series", "user_data", "user_data_sha256")
    expected = {name: told[name] for name in names if name in told}
    if certified["public"]:
        if "user_data" in expected:
            expected["user_data_sha256"] = _digest(b"", expected["user_data"])
    else:
        for name, byte in (("purpose", b"\4"), ("user_data", b"\5")):
            if name in expected:
                expected[name + "_commitment"] = _digest(byte + bytes.fromhex(salt), expected.pop(name))
    differing = [
        name
        for name in sorted({*expected, *certified} - {"serial"})
        if isinstance(certified.get(name), (dict, list)) or expected.get(name, MISSING) != certified.get(name, MISSING)
    ]
    return f"The label of the answer differs from the certificate in {', '.join(differing)}." if differing else None


def _holds(certified: Dict[str, Any]) -> str:
    holds = "What the caller said of the answer is as certified."
    if "serial" not in certified:
        return holds
    of = f"the purpose {show(certified['purpose'])}" if "purpose" in certified else "its purpose"
    return f"{holds} It is answer {member(certified, 'serial')} of {show(certified.get('series'))}, its account and {of}."


def _digest(before: bytes, value: Any) -> str:
    words = encoded(value) if isinstance(value, str) else b""
    return "sha256:" + hashlib.sha256(before + (words or b"")).hexdigest()
