// The node that the console is driven on: it has something of everything.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { start, until } from "./harness.mjs";
import { startProvider } from "./provider.mjs";

/** sink is a destination of deliveries: what begins with /bad is refused. */
async function startSink() {
  const sink = createServer((q, r) => {
    q.resume();
    r.statusCode = q.url.startsWith("/bad") ? 500 : 200;
    r.end("taken");
  });
  await new Promise((done) => sink.listen(0, "127.0.0.1", done));
  sink.unref();
  return `http://127.0.0.1:${sink.address().port}`;
}

/** startNode returns the node, its addresses and credentials, and what was put into it. */
export async function startNode() {
  const to = await startSink();
  const people = await startProvider({ email: "ann@example.com", groups: ["<b>ops</b>"] });
  const watcher = "a token that reads messages",
    signOn = [
      "--oidc-issuer",
      people.url,
      "--oidc-client-id",
      "console",
      "--oidc-roles",
      "<b>ops</b>=admin,devs=readonly:default",
    ];
  const node = await start(
    ["dev", "--port", "0", "--resp", "off", "--log-level", "error", "--max-request-size", "12MiB", ...signOn],
    /#enter=\S+\n/,
    { TRIREME_MESSAGES_READONLY_TOKEN: watcher },
  );
  const url = node.value("TRIREME_URL"),
    admin = node.value("TRIREME_ADMIN_TOKEN"),
    standard = node.value("UPSTASH_REDIS_REST_TOKEN");
  const ask = async (path, { token = admin, ...o } = {}) => {
    const r = await fetch(url + path, {
      method: "POST",
      ...o,
      headers: { Authorization: `Bearer ${token}`, ...o.headers },
    });
    const text = await r.text();
    assert.ok(r.ok, `${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e\u0000/a/';
  await ask("/pipeline", {
    body: JSON.stringify([
      ["SET", "greeting", "hello"],
      ["SET", "order:1", '{"item":"book"}'],
      ["SET", "order:2", "x"],
      ["HSET", "profile:1", "name", "Ann", "city", "Bonn"],
      ["HEXPIRE", "profile:1", "900", "FIELDS", "1", "city"],
      ["RPUSH", "jobs", "a", "b", "c"],
      ["SADD", "tags", "x", "y"],
      ["ZADD", "board", "1", "ann", "2", "bob"],
      ["XADD", "events", "*", "kind", "start"],
      ["XGROUP", "CREATE", "events", "workers", "0"],
      ["XREADGROUP", "GROUP", "workers", "w1", "STREAMS", "events", ">"],
      ["JSON.SET", "doc", "$", '{"a":[1,2,{"b":null}],"s":"text"}'],
      ["PFADD", "visitors", "a", "b"],
      ["SETBIT", "bits", "7", "1"],
      ["SET", hostile, hostile],
      ["HSET", "evil", hostile, hostile],
      ["JSON.SET", "evil-json", "$", JSON.stringify({ [hostile]: hostile })],
      ["SET", "big", "x".repeat(3 << 20)],
      ["ACL", "SETUSER", "app", "on", ">a long password", "~order:*", "+@read", "+@connection"],
    ]),
  });
  await ask("/", {
    headers: { "Content-Type": "application/octet-stream" },
    body: Buffer.concat([Buffer.from('["SET","binary","'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('"]')]),
  });
  await ask("/", {
    body: JSON.stringify([
      "TRIGGER.SET",
      "changed",
      "seen:",
      "VALUES",
      "old,new",
      "STREAM",
      "changes",
      "MAXLEN",
      "1000",
    ]),
  });
  await ask("/", { body: JSON.stringify(["SET", "seen:1", hostile]) });
  await ask("/v2/queues", { body: JSON.stringify({ queueName: "mail", parallelism: 2 }) });
  await ask("/v2/topics/all/endpoints", {
    body: JSON.stringify({ endpoints: [{ url: `${to}/one`, name: "one" }, { url: `${to}/two` }] }),
  });
  await ask(`/v2/schedules/${to}/tick`, {
    headers: { "Svc-Cron": "0 9 * * *", "Svc-Schedule-Id": "daily" },
    body: "{}",
  });
  const sent = await ask(`/v2/publish/${to}/good`, {
    headers: { "Svc-Label": "<b>label</b>", "Svc-Forward-X-Evil": "<script>1</script>" },
    body: hostile,
  });
  await ask(`/v2/publish/${to}/bad`, {
    headers: { "Svc-Retries": "0", "Svc-Flow-Control-Key": "vendor", "Svc-Flow-Control-Value": "parallelism=1" },
    body: '{"order":1}',
  });
  const later = await ask(`/v2/publish/${to}/later`, { headers: { "Svc-Delay": "1h" } });
  const run = await ask(`/v2/trigger/${to}/flow`, { headers: { "Svc-Delay": "1h" }, body: '{"order":7}' });
  await until(async () => {
    const r = await fetch(`${url}/v2/dlq`, { headers: { Authorization: `Bearer ${admin}` } });
    assert.equal((await r.json()).messages.length, 1);
  }, "the dead letter");

  return { node, url, to, people, watcher, admin, standard, ask, hostile, sent, later, run };
}
