"""Tests verification against the vectors of the service and against results of Node."""

from __future__ import annotations

import copy
import json
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

from qrn_client import VerificationFailed, WitnessPolicy, ed25519, verify_answer
from qrn_client.canonical import canonical_json

VECTORS = Path(os.environ["QRN_TEST_VECTORS"])
#: Made by Node for this run: signatures, and texts with their canonical form.
NODE = json.loads(Path(os.environ["QRN_TEST_NODE"]).read_text("utf-8"))


class Vectors(unittest.TestCase):
    def test_says_of_each_case_what_is_written_there(self) -> None:
        cases = [path for path in sorted(VECTORS.glob("*.json")) if not path.name.startswith("leaf-")]
        self.assertGreater(len(cases), 15)
        for path in cases:
            with self.subTest(path.name):
                case = json.loads(path.read_text("utf-8"))
                octets = {"octets": bytes.fromhex(case["octets"])} if "octets" in case else {}
                is_required = case.get("require_fixed", False)
                found = verify_answer(
                    response=case["response"],
                    certificate=case["certificate"],
                    keys=case["keys"],
                    require_fixed=is_required,
                    **octets,
                )
                self.assertEqual([check.name for check in found.checks if not check.ok], case["fails"])
                self.assertEqual(found.ok, case["fails"] == [])
                mode = case["certificate"]["certificate"]["entropy_mode"]
                labelled = "label" in case["certificate"]["certificate"] or "label" in case["response"]
                fixed = is_required or mode != "csprng"
                self.assertEqual(len(found.checks), 11 + fixed + labelled)

    def test_notices_each_changed_member_of_the_certificate_and_the_answer(self) -> None:
        case = json.loads((VECTORS / "worked-example.json").read_text("utf-8"))
        for root in ("response", "certificate"):
            for path, changed in _changes(case[root]):
                if path[0] in ("meta", "quantum_credits") and path[-1] != "request_id":
                    continue  # no certificate covers these
                if path[-1] in ("entropy_consumed_bytes", "processing_time_ms", "powered_by"):
                    continue
                found = verify_answer(**{**{name: case[name] for name in ("response", "certificate", "keys")}, root: changed})
                self.assertFalse(found.ok, f"{root}: {path}")

    def test_finds_what_somebody_forged_who_does_not_have_the_key_of_the_log(self) -> None:
        cases = {name: json.loads((VECTORS / f"{name}.json").read_text("utf-8")) for name in ("worked-example", "fixed-bytes")}
        forged = []
        for place in ("inclusion", "signature"):  # a hash of the path, and the last signature
            for name, case in cases.items():
                forged.append((name, place, ("certificate", "certificate", "proof"), _forged(case["certificate"]["certificate"]["proof"], place)))
                forged.append((name, "fixed", ("certificate", "lots", 0, "proof"), _forged(case["certificate"]["lots"][0]["proof"], place)))
        for name, run in ((name, case["certificate"]["lots"][0]["runs"][0]) for name, case in cases.items()):
            where = ("certificate", "lots", 0, "runs", 0)
            forged.append((name, "fixed", (*where, "hashes"), [_flipped(run["hashes"][0]), *run["hashes"][1:]]))
            forged.append((name, "fixed", (*where, "path"), [*run["path"], run["hashes"][0]]))
            forged.append((name, "fixed", (*where, "first"), run["first"] + 1))
        opening = cases["fixed-bytes"]["response"]["opening"]
        forged.append(("fixed-bytes", "fixed", ("response", "opening", "path"), opening["path"][:-4] + _flipped(opening["path"][-4:])))
        keys = cases["worked-example"]["keys"]["keys"]
        forged.append(("worked-example", "keys", ("keys", "keys", 0, "key_id"), "00000000"))
        forged.append(("worked-example", "signature", ("keys", "origin"), "another.example/log"))
        forged.append(("worked-example", "keys", ("keys", "keys"), [*keys, keys[0]]))
        forged.append(("worked-example", "certificate id", ("response", "metadata", "certificate_id"), "cert_" + "0" * 26))
        forged.append(("worked-example", "status", ("certificate", "certificate", "status"), "test"))
        for name, check, (root, *path, last), value in forged:
            case = copy.deepcopy(cases[name])
            at = case[root]
            for each in path:
                at = at[each]
            at[last] = value
            found = verify_answer(response=case["response"], certificate=case["certificate"], keys=case["keys"])
            failed = [each.name for each in found.checks if not each.ok]
            self.assertIn(check, failed, f"{name}: {root} {path} {last}")

    def test_checks_octets_that_come_without_anything_else(self) -> None:
        case = json.loads((VECTORS / "octets.json").read_text("utf-8"))
        found = verify_answer(octets=b"other octets", certificate=case["certificate"], keys=case["keys"])
        self.assertEqual([check.name for check in found.checks if not check.ok], ["delivered"])

    def test_takes_a_number_for_the_same_however_it_is_written(self) -> None:
        def doubled(text):
            return json.loads(text, parse_int=float)

        for name in ("fixed-bytes", "label-public", "evidence"):
            text = (VECTORS / f"{name}.json").read_text("utf-8")
            case = doubled(text)
            found = verify_answer(response=case["response"], certificate=case["certificate"], keys=case["keys"])
            self.assertEqual([check for check in found.checks if not check.ok], [], name)

    def test_takes_an_answer_of_null_for_one_that_fails(self) -> None:
        case = json.loads((VECTORS / "worked-example.json").read_text("utf-8"))
        found = verify_answer(response=None, certificate=case["certificate"], keys=case["keys"])
        failed = [check.name for check in found.checks if not check.ok]
        self.assertEqual(failed, ["certificate id", "request id", "metadata", "delivered"])
        self.assertTrue(verify_answer(certificate=case["certificate"], keys=case["keys"]).ok)

    def test_says_of_witnesses_what_the_service_says(self) -> None:
        verdicts = set()
        for case in NODE["witnessed"]:
            given = case["input"]
            policy = WitnessPolicy(**given["witnesses"])
            found = verify_answer(certificate=given["certificate"], keys=given["keys"], witnesses=policy)
            expected = {check["name"]: check for check in case["checks"]}
            for check in found.checks:
                self.assertEqual(check.ok, expected[check.name]["ok"], check.why)
                if check.name == "witnesses":
                    why = expected["witnesses"]["why"]  # it prints milliseconds everywhere
                    self.assertEqual(check.why.replace(".000Z", "Z"), why.replace(".000Z", "Z"))
                    verdicts.add(check.ok)
            self.assertEqual(len(found.checks), len(expected))
        self.assertEqual(verdicts, {True, False})

    def test_require_raises_with_the_checks_that_failed(self) -> None:
        case = json.loads((VECTORS / "value-changed.json").read_text("utf-8"))
        found = verify_answer(response=case["response"], certificate=case["certificate"], keys=case["keys"])
        with self.assertRaisesRegex(VerificationFailed, "delivered: The salt and the data hash to"):
            found.require()

    def test_never_raises_for_what_it_is_given(self) -> None:
        deep: object = []
        for _ in range(100_000):
            deep = [deep]
        case = json.loads((VECTORS / "worked-example.json").read_text("utf-8"))
        for odd in (None, 1, "x", [], {}, {"certificate": deep}, {"certificate": {"proof": "\ud800"}}, float("nan")):
            self.assertFalse(verify_answer(response=case["response"], certificate=odd, keys=case["keys"]).ok)
            self.assertFalse(verify_answer(response=case["response"], certificate=case["certificate"], keys=odd).ok)
            self.assertFalse(verify_answer(response=odd, certificate=case["certificate"], keys=case["keys"]).ok)
            policy = WitnessPolicy(keys=[odd], quorum=odd)
            for each in (case["certificate"], odd):
                self.assertFalse(verify_answer(certificate=each, keys=case["keys"], witnesses=policy).ok)
        octets = json.loads((VECTORS / "octets.json").read_text("utf-8"))
        for odd in (None, 1, deep):
            answer = {**octets["response"], "data": odd}
            found = verify_answer(response=answer, octets=b"", certificate=octets["certificate"], keys=octets["keys"])
            self.assertFalse(found.ok)
        labelled = json.loads((VECTORS / "label-public.json").read_text("utf-8"))
        labelled["certificate"]["certificate"]["label"]["user_data"] = deep
        self.assertFalse(verify_answer(response=labelled["response"], certificate=labelled["certificate"], keys=labelled["keys"]).ok)
        labelled["certificate"]["certificate"]["label"]["series"] = deep
        self.assertFalse(verify_answer(response=labelled["response"], certificate=labelled["certificate"], keys=labelled["keys"]).ok)
        nested = {**case["response"], "data": deep}
        self.assertFalse(verify_answer(response=nested, certificate=case["certificate"], keys=case["keys"]).ok)


def _flipped(text: str) -> str:
    """Returns the base64 text with another first character."""
    return ("B" if text[0] != "B" else "C") + text[1:]


def _forged(proof: str, place: str) -> str:
    """Returns the proof with another hash in its path, or with another second-last byte in its last signature."""
    if place == "inclusion":
        lines = proof.split("\n")
        lines[2] = _flipped(lines[2])
        return "\n".join(lines)
    at = len(proof.rstrip("\n=")) - 4
    return proof[:at] + ("B" if proof[at] != "B" else "C") + proof[at + 1 :]


def _changes(value, path=()):
    """Yields copies of the value, each with one scalar changed, and the place of the change."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return
    for name, inner in items:
        if isinstance(inner, (dict, list)):
            for where, changed in _changes(inner, (*path, name)):
                outer = copy.copy(value)
                outer[name] = changed
                yield where, outer
        else:
            outer = copy.copy(value)
            outer[name] = "changed" if inner != "changed" else "x"
            yield (*path, name), outer


class Canonical(unittest.TestCase):
    def test_prints_what_node_prints(self) -> None:
        self.assertGreater(len(NODE["canonical"]), 1_000)
        for text, expected in NODE["canonical"]:
            self.assertEqual(canonical_json(json.loads(text)), expected.encode(), text)

    def test_gives_no_form_to_what_has_none(self) -> None:
        for value in (float("nan"), float("inf"), "\ud800", {"\udc00": 1}, {1: 2}, 10**400, b"x", object()):
            self.assertIsNone(canonical_json(value))


class Ed25519(unittest.TestCase):
    def test_says_once_when_it_is_slow_for_want_of_cryptography(self) -> None:
        row = [bytes.fromhex(part) for part in NODE["signatures"][0]]
        ed25519._say_slow.cache_clear()
        with mock.patch.dict(sys.modules, {"cryptography.exceptions": None}), self.assertLogs("qrn_client") as logs:
            self.assertTrue(ed25519.verify(*row) and ed25519.verify(*row))
        self.assertEqual(len(logs.output), 1)

    def test_accepts_what_node_signed_and_nothing_else(self) -> None:
        self.assertGreaterEqual(len(NODE["signatures"]), 8)
        for public_key, message, signature in ([bytes.fromhex(part) for part in row] for row in NODE["signatures"]):
            for verify in (ed25519.verify, ed25519.verify_in_python):
                self.assertTrue(verify(public_key, message, signature))
                self.assertFalse(verify(public_key, message + b"\x00", signature))
                for at in (0, 31, 32, 63):
                    wrong = bytearray(signature)
                    wrong[at] ^= 1
                    self.assertFalse(verify(public_key, message, bytes(wrong)), at)
                self.assertFalse(verify(public_key, message, signature[:63]))
                self.assertFalse(verify(public_key[:31], message, signature))
            s = int.from_bytes(signature[32:], "little") + ed25519._ORDER  # the same point, and malleable
            self.assertFalse(ed25519.verify_in_python(public_key, message, signature[:32] + s.to_bytes(32, "little")))

    def test_accepts_the_vectors_of_rfc_8032(self) -> None:
        rows = (
            (
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                "d25bf5f0595bbe24655141438e7a100b",
            ),
            (
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                "387b2eaeb4302aeeb00d291612bb0c00",
            ),
        )
        for row in rows:
            self.assertTrue(ed25519.verify_in_python(*(bytes.fromhex(part) for part in row)))
