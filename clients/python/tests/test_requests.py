"""Sends the requests of test/vectors/requests.json with the client: a refused one must have the specification's error code."""

from __future__ import annotations

import json
import os
import unittest
from pathlib import Path
from typing import Any, Dict, Optional

from qrn_client import QrnClient, QrnError

NOT_SENT = "refused by the client"
TABLE = json.loads(Path(os.environ["QRN_TEST_CALLS"]).read_text("utf-8"))


class Requests(unittest.TestCase):
    def setUp(self) -> None:
        self.client = QrnClient(os.environ["QRN_URL"], TABLE["key"])
        self.addCleanup(self.client.close)

    def check(self, call: Dict[str, Any]) -> None:
        outcome = self.code_of(call["endpoint"], call["given"])
        with self.subTest(call["endpoint"], given=str(call["given"])[:120]):
            code = call.get("code")
            self.assertIn(outcome, [code] if code is None else [code, NOT_SENT])

    def code_of(self, endpoint: str, given: Dict[str, Any]) -> Optional[str]:
        try:
            getattr(self.client, endpoint)(**given)
        except QrnError as error:
            return error.code
        except TypeError:  # a required argument is missing
            return NOT_SENT
        return None

    def test_of_each_kind_come_out_as_the_table_has_them(self) -> None:
        calls = [call for call in TABLE["calls"] if takes(call["given"])]
        self.assertGreater(len(calls), 100)
        for call in calls:
            self.check(call)

    def test_of_batches_come_out_as_the_table_has_them(self) -> None:
        calls = [call for call in TABLE["batches"] if call["given"]["type"] in ("integers", "floats", "uuid", "gaussians")]
        self.assertGreater(len(calls), 50)
        for call in calls:
            params = call["given"].pop("params")
            if takes(params):
                self.check({**call, "given": {**call["given"], **params}})

    def test_with_a_number_that_is_not_whole_are_not_sent(self) -> None:
        broken = [call for call in TABLE["calls"] if not takes(call["given"])]
        self.assertGreater(len(broken), 5)
        for call in broken:
            with self.subTest(call["endpoint"], given=str(call["given"])[:120]), self.assertRaises((TypeError, QrnError)):
                getattr(self.client, call["endpoint"])(**call["given"])


def takes(given: Dict[str, Any]) -> bool:
    """Returns whether the client's types allow the value: only mean and stddev may be fractions."""
    return not any(isinstance(value, float) for name, value in given.items() if name not in ("mean", "stddev"))


if __name__ == "__main__":
    unittest.main()
