"""Runs development servers of Trireme in tests, with a clock that the test owns. It needs nothing but Python's standard library.

docs/testing.md describes the API behind it.
"""

import json
import os
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

_LAST = "TRIREME_ADMIN_TOKEN"


class Trireme:
    """A running server with a frozen clock; a context manager that stops it.

    binary: default TRIREME_BIN, else trireme on the path. flags: more flags of "trireme dev".
    start_timeout: seconds of real time that the server may take to be ready.
    """

    def __init__(self, binary=None, flags=(), start_timeout=60):
        args = [binary or os.environ.get("TRIREME_BIN") or "trireme", "dev", "--clock", "frozen", "--http", "127.0.0.1:0", "--resp", "off", *flags]
        self._process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.env = {}  # the variables that clients read
        late = threading.Timer(start_timeout, self._process.kill)
        late.start()
        for line in self._process.stdout:
            name, found, value = line.rstrip("\n").partition("=")
            if found and name.isupper() and " " not in name:
                self.env[name] = value
            if name == _LAST:
                break
        late.cancel()
        if _LAST not in self.env:
            self.stop()
            raise RuntimeError(f"{args[0]}: not ready; its exit code is {self._process.returncode}")
        threading.Thread(target=self._process.stdout.read, daemon=True).start()  # what else it prints is for people
        self.url = self.env["UPSTASH_REDIS_REST_URL"]
        self.token = self.env["UPSTASH_REDIS_REST_TOKEN"]
        self.messages_token = self.env["QSTASH_TOKEN"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Stops the server and waits for its end."""
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def request(self, method, path, body=None, token=None, headers=None):
        """Sends a request and returns the JSON of the response. token: default the admin token."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers or {}, method=method)
        request.add_header("Authorization", "Bearer " + (token or self.env[_LAST]))
        try:
            with urllib.request.urlopen(request) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()}") from None
        return json.loads(text) if text else None

    def command(self, *words):
        """Runs a Redis command and returns its result."""
        return self.request("POST", "/", [str(w) for w in words], self.token)["result"]

    def publish(self, url, body=b"", **options):
        """Publishes a message; options are those of docs/messages.md, such as delay="7d" or retry_delay="1000"."""
        headers = {"Upstash-" + name.replace("_", "-"): str(value) for name, value in options.items()}
        return self.request("POST", "/v2/publish/" + url, body, self.messages_token, headers)["messageId"]

    def now(self):
        """The server's time in unix milliseconds."""
        return self.request("GET", "/test/clock")["now"]

    def advance(self, by):
        """Moves time forward by a duration such as "90m" or "7d", and returns when everything that became due has run."""
        self.request("POST", "/test/clock", {"advance": by})

    def wait_idle(self):
        """Waits until nothing is in progress or due."""
        self.request("POST", "/test/idle")

    def deliveries(self, **filters):
        """The requests that the server has sent, the oldest first."""
        return self.request("GET", "/test/deliveries?" + urllib.parse.urlencode(filters))["deliveries"]

    def sink(self, name):
        """A destination on the server itself."""
        return Sink(self, name)

    def reset(self):
        """Empties the server. Tokens and time stay."""
        self.request("POST", "/test/reset")


class Sink:
    """A destination on the server itself. Without a script it responds 200."""

    def __init__(self, server, name):
        self._server, self._path = server, "/test/sink/" + urllib.parse.quote(name, safe="")
        self.url = server.url + self._path

    def script(self, *replies):
        """Has the sink respond so, such as {"status": 500}; the last reply is repeated."""
        self._server.request("PUT", self._path, {"replies": replies})

    def received(self):
        """The requests that the sink has received, the oldest first."""
        return self._server.request("GET", self._path)["requests"]
