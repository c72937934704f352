"""Run it with pytest, or with python3 -m unittest."""

import unittest

from trireme_testkit import Trireme


class Reminders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trireme = Trireme()
        cls.addClassCleanup(cls.trireme.stop)

    def setUp(self):
        self.trireme.reset()

    def test_a_reminder_after_a_week(self):
        sink = self.trireme.sink("reminders")
        self.trireme.publish(sink.url, b"pay", delay="7d")
        self.trireme.advance("167h")
        self.assertEqual(sink.received(), [])
        self.trireme.advance("1h")
        self.assertEqual([r["body"] for r in sink.received()], ["pay"])

    def test_retries_with_backoff(self):
        sink = self.trireme.sink("flaky")
        sink.script({"status": 500}, {"hangUp": True}, {"status": 200})
        began = self.trireme.now()
        message = self.trireme.publish(sink.url, b"x", retries=3, retry_delay="pow(2, retried) * 1000")
        self.trireme.advance("1h")
        self.assertEqual([r["at"] - began for r in sink.received()], [0, 1000, 3000])
        self.assertEqual([d.get("status", 0) for d in self.trireme.deliveries(messageId=message)], [500, 0, 200])

    def test_a_session_that_expires(self):
        self.trireme.command("SET", "session", "ann", "EX", 1800)
        self.trireme.advance("29m59s")
        self.assertEqual(self.trireme.command("GET", "session"), "ann")
        self.trireme.advance("1s")
        self.assertIsNone(self.trireme.command("GET", "session"))


if __name__ == "__main__":
    unittest.main()
