// Tests what views work out from what the API answers.
import assert from "node:assert/strict";
import { test } from "vitest";
import { snippets, variables } from "../../src/connect/snippets";
import { bins, depths, sum } from "../../src/messages/now";
import { alike } from "../../src/runs/alike";
import { inWords } from "../../src/schedules/in-words";
import { points } from "../../src/ui/spark";

test("A line in a row of a table: no figure at the top is left out, however many there are", () => {
  assert.equal(points([0, 5, 10]), "0,19 50,10 100,1");
  assert.equal(points([]), "");
  assert.equal(points([3]), "0,1");
  const peak = Array.from({ length: 2016 }, (_, i) => (i === 1234 ? 7 : 0));
  assert.ok(points(peak).split(" ").length <= 100);
  assert.ok(
    points(peak)
      .split(" ")
      .some((p) => p.endsWith(",1")),
  );
});

test("How many messages were open is known from how many are now and what came and went since", () => {
  const tally = {
    from: 0,
    to: 40_000,
    span: 10_000,
    groups: [
      { time: 10_000, counts: { CREATED: 5, ACTIVE: 5, DELIVERED: 2 } },
      { time: 20_000, counts: { ERROR: 2, FAILED: 1, CANCELED: 1 } },
      { time: 40_000, counts: { CREATED: 2, DELIVERED: 1 } },
    ],
  };
  const open = new Map(depths(tally, 2).map((d) => [d.time, d.depth]));
  assert.equal(depths(tally, 2).length, bins(tally).length);
  assert.deepEqual(
    [10_000, 20_000, 30_000, 40_000, 50_000].map((t) => open.get(t)),
    [0, 3, 1, 1, 2],
  );
  assert.deepEqual(sum(tally), { delivered: 3, errors: 2, failed: 1, success: 0.75, perSecond: 0.075 });
  assert.equal(sum({ from: 0, to: 0, span: 1000, groups: [] }).success, null);
});

test("Every snippet is of this place: what is not in its code is in the variables that it reads", () => {
  const place = {
    url: "https://trireme.example:8443",
    resp: "trireme.example:6379",
    redisToken: "a+token/of=redis",
    messagesToken: "a token of messages",
  };
  for (const service of ["Keyspace", "Messages", "Workflows"]) {
    const text = variables(place, service);
    assert.ok(text.includes(`"${place.url}"`), service);
    const token = service === "Keyspace" ? place.redisToken : place.messagesToken;
    assert.ok(text.includes(`"${token}"`), service);
    assert.ok(!variables({ ...place, redisToken: "", messagesToken: "" }, service).includes('""'), service);
    const list = snippets(place, service);
    assert.ok(list.length >= 3 && new Set(list.map((s) => s.name)).size === list.length);
    for (const s of list) assert.ok(s.code.trim() && !s.code.includes(token), `${service}, ${s.name}`);
    for (const name of list.flatMap((s) => s.code.match(/\b(?:UPSTASH|QSTASH|REDIS)_[A-Z_]+/g) ?? []))
      assert.ok(text.includes(`${name}=`), `${service}: ${name} is not among the variables`);
  }
  assert.ok(
    variables(place, "Keyspace").includes(`redis://default:${encodeURIComponent(place.redisToken)}@${place.resp}`),
  );
});

test("Attempts that failed alike are told once, by the newest of them", () => {
  const failed = (status, body, time) => ({ status, body, time });
  assert.deepEqual(
    alike([failed(500, "x", 1), failed(500, "x", 2), failed(503, "x", 3), failed(500, "x", 4)]).map((a) => [
      a.first,
      a.last,
      a.of.time,
    ]),
    [
      [1, 2, 2],
      [3, 3, 3],
      [4, 4, 4],
    ],
  );

  assert.equal(inWords("CRON_TZ=Europe/Berlin 0 9 * * 1"), "At 09:00, only on Monday, in Europe/Berlin");
  assert.equal(inWords("@every 30s"), "Every 30s");
  assert.equal(inWords("0 9 *"), "");
});
