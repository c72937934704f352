"""Debian's Python clients of Redis against three nodes whose leader is killed in the middle.

test.mjs runs it with the host and port of a node and the password, writes a line to its input when the leader is
dead, and reads a line for each client.
"""
import os
import subprocess
import sys
import tempfile
import time

host, port, password = sys.argv[1:4]
url = f"redis://:{password}@{host}:{port}/0"


def until(what, check):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise TimeoutError(what)


class Plain:
    name = "python3-redis"

    def before(self):
        import redis

        self.version = redis.__version__
        self.r = redis.Redis(host=host, port=int(port), password=password, decode_responses=True)
        self.r.set("py:a", "1")
        self.r.zadd("py:z", {"x": 1, "y": 2})
        self.sub = self.r.pubsub()
        self.sub.subscribe("py:news")
        until("subscribed", lambda: self.sub.get_message(timeout=1))

    def after(self):
        with self.r.pipeline(transaction=True) as p:
            assert p.incr("py:a").zrange("py:z", 0, -1, withscores=True).execute() == [2, [("x", 1.0), ("y", 2.0)]]
        with self.r.lock("py:lock", timeout=10):
            assert not self.r.lock("py:lock", timeout=10).acquire(blocking=False)
        self.r.publish("py:news", "hello")
        assert until("the message", lambda: self.sub.get_message(timeout=1))["data"] == "hello"


class DjangoRedis:
    name = "python3-django-redis"

    def before(self):
        import django
        import django_redis
        from django.conf import settings

        self.version = ".".join(map(str, django_redis.VERSION))
        settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url}})
        django.setup()
        from django.core.cache import cache

        self.cache = cache
        cache.set("k", {"n": [1, 2]}, timeout=600)

    def after(self):
        assert self.cache.get("k") == {"n": [1, 2]}
        assert 0 < self.cache.ttl("k") <= 600
        self.cache.set("visits", 1)
        assert self.cache.incr("visits") == 2
        assert sorted(self.cache.keys("*")) == ["k", "visits"]
        self.cache.clear()
        assert self.cache.get("k") is None


class RQ:
    name = "python3-rq"

    def before(self):
        import redis
        import rq

        self.version = rq.VERSION
        self.connection = redis.Redis(host=host, port=int(port), password=password)
        self.queue = rq.Queue("jobs", connection=self.connection)
        self.jobs = [self.queue.enqueue("operator.mul", n, 2) for n in range(5)]

    def after(self):
        import rq

        self.jobs.append(self.queue.enqueue("operator.mul", 5, 2))
        rq.SimpleWorker([self.queue], connection=self.connection).work(burst=True, logging_level="ERROR")
        assert [j.result for j in self.jobs] == [0, 2, 4, 6, 8, 10], [j.get_status() for j in self.jobs]


class Celery:
    name = "python3-celery"

    program = """
import celery
app = celery.Celery("tasks", broker=%r, backend=%r)
app.conf.broker_connection_retry_on_startup = True
@app.task
def add(a, b):
    return a + b
"""

    def before(self):
        import celery

        self.version = celery.__version__
        self.dir = tempfile.mkdtemp()
        with open(os.path.join(self.dir, "tasks.py"), "w") as f:
            f.write(self.program % (url, url))
        sys.path.insert(0, self.dir)
        import tasks

        self.worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--pool", "solo", "--loglevel", "ERROR"],
            cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.add = tasks.add
        assert self.add.delay(1, 2).get(timeout=60) == 3

    def after(self):
        assert [self.add.delay(n, 1).get(timeout=60) for n in range(3)] == [1, 2, 3]
        self.add.apply_async((5, 5), countdown=0.2).get(timeout=60)

    def end(self):
        self.worker.kill()
        self.worker.wait()


which = {c.name: c for c in (Plain, DjangoRedis, RQ, Celery)}[sys.argv[4]]()
try:
    which.before()
    print(which.version, flush=True)
    sys.stdin.readline()
    which.after()
    print("ok", flush=True)
finally:
    if hasattr(which, "end"):
        which.end()
