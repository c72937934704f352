// Every method of the published client that sends a command, with the values that its
// replies have. Each call goes through one of the nodes, picked at random. A method that
// is not called here fails the run, so a newer client with more methods is noticed. It
// empties the database.
//
//   TRIREME_URLS   URLs of the nodes, separated by commas
//   TRIREME_TOKEN  the Standard token
import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "@upstash/redis";
import { Calls } from "../calls.mjs";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_TOKEN must be set");
  process.exit(2);
}

const clients = urls.map((url) => new Redis({ url, token, enableTelemetry: false, enableAutoPipelining: false, retry: { retries: 0 } }));
const any = () => clients[Math.floor(Math.random() * clients.length)];

// Groups of methods that hang on a property of the client.
const groups = ["json", "functions"];
// These groups make handles with methods of their own: search has its program, search.mjs, vector its test below.
const elsewhere = ["search", "vector"];
// What these do, they do in the client.
const local = ["use", "addTelemetry", "autoPipeline"];

const called = new Set();
const recording = (of, prefix) =>
  new Proxy({}, {
    get: (_, name) => {
      if (groups.includes(name)) return recording(() => of()[name], `${name}.`);
      called.add(prefix + name);
      const target = of();
      return target[name].bind(target);
    },
  });
const redis = recording(any, "");
const near = (got, want, by) => assert.ok(Math.abs(got - want) <= by, `${got} is not within ${by} of ${want}`);
const seconds = () => Math.floor(Date.now() / 1000);

test("the database is emptied", async () => {
  assert.equal(await redis.flushall(), "OK");
  assert.equal(await redis.set("k", 1), "OK");
  assert.equal(await redis.dbsize(), 1);
  assert.equal(await redis.flushdb({ async: true }), "OK");
  assert.equal(await redis.dbsize(), 0);
  assert.equal(await redis.randomkey(), null);
});

test("connection and server", async () => {
  assert.equal(await redis.ping(), "PONG");
  assert.equal(await redis.ping(["here"]), "here");
  assert.equal(await redis.echo("hello"), "hello");
  assert.equal(await redis.clientSetinfo("LIB-NAME", "a-client"), "OK");
  const [s, us] = await redis.time();
  near(s, seconds(), 5);
  assert.ok(us >= 0 && us < 1e6);
  assert.equal(await redis.exec(["ECHO", "raw"]), "raw");
});

test("strings", async () => {
  assert.equal(await redis.append("s", "Hello"), 5);
  assert.equal(await redis.append("s", " World"), 11);
  assert.equal(await redis.get("s"), "Hello World");
  assert.equal(await redis.getrange("s", -5, -1), "World");
  assert.equal(await redis.setrange("s", 6, "Redis"), 11);
  assert.equal(await redis.strlen("s"), 11);
  assert.equal(await redis.getset("s", "new"), "Hello Redis");
  assert.equal(await redis.getex("s", { ex: 100 }), "new");
  near(await redis.ttl("s"), 100, 5);
  assert.equal(await redis.getdel("s"), "new");
  assert.equal(await redis.set("n", 10), "OK");
  assert.equal(await redis.incr("n"), 11);
  assert.equal(await redis.incrby("n", 9), 20);
  assert.equal(await redis.decr("n"), 19);
  assert.equal(await redis.decrby("n", 20), -1);
  assert.equal(await redis.incrbyfloat("n", 1.25), 0.25);
  assert.equal(await redis.mset({ a: 1, b: { c: [true] } }), "OK");
  assert.deepEqual(await redis.mget("a", "b", "none"), [1, { c: [true] }, null]);
  assert.equal(await redis.msetnx({ b: 1, d: 2 }), 0);
  assert.equal(await redis.setnx("d", "x"), 1);
  assert.equal(await redis.setex("e", 60, "x"), "OK");
  near(await redis.ttl("e"), 60, 5);
  assert.equal(await redis.psetex("e", 60_000, "y"), "OK");
  near(await redis.pttl("e"), 60_000, 5_000);
});

test("bitmaps", async () => {
  assert.equal(await redis.set("bits", "foobar"), "OK");
  assert.equal(await redis.bitcount("bits"), 26);
  assert.equal(await redis.bitcount("bits", 1, 1), 6);
  assert.equal(await redis.bitpos("bits", 1), 1);
  assert.equal(await redis.getbit("bits", 1), 1);
  assert.equal(await redis.setbit("bits", 0, 1), 0);
  assert.equal(await redis.set("more", "abcdef"), "OK");
  assert.equal(await redis.set("bits", "foobar"), "OK");
  assert.equal(await redis.bitop("and", "both", "bits", "more"), 6);
  assert.equal(await redis.get("both"), "`bc`ab");
  assert.deepEqual(await redis.bitfield("field").set("u8", "#0", 200).get("u8", 0).overflow("SAT").incrby("u8", 0, 100).exec(), [0, 200, 255]);
});

test("keys", async () => {
  assert.equal(await redis.set("key", "v"), "OK");
  assert.equal(await redis.type("key"), "string");
  assert.equal(await redis.copy("key", "key2"), "COPIED");
  assert.equal(await redis.copy("key", "key2"), "NOT_COPIED");
  assert.equal(await redis.rename("key2", "key3"), "OK");
  assert.equal(await redis.renamenx("key3", "key"), 0);
  assert.deepEqual((await redis.keys("key*")).sort(), ["key", "key3"]);
  assert.equal(await redis.exists("key", "key3", "key4"), 2);
  assert.equal(await redis.touch("key", "key4"), 1);
  assert.equal(await redis.expire("key", 100), 1);
  assert.equal(await redis.expireat("key", seconds() + 200), 1);
  near(await redis.ttl("key"), 200, 5);
  assert.equal(await redis.pexpire("key", 100_000), 1);
  assert.equal(await redis.pexpireat("key", Date.now() + 200_000), 1);
  near(await redis.pttl("key"), 200_000, 5_000);
  assert.equal(await redis.persist("key"), 1);
  assert.equal(await redis.ttl("key"), -1);
  assert.equal(typeof (await redis.randomkey()), "string");
  const found = [];
  for (let cursor = "0"; ;) {
    const [next, page] = await redis.scan(cursor, { match: "key*", withType: true });
    found.push(...page);
    if ((cursor = next) === "0") break;
  }
  assert.deepEqual(found.sort((a, b) => (a.key < b.key ? -1 : 1)), [{ key: "key", type: "string" }, { key: "key3", type: "string" }]);
  assert.equal(await redis.del("key"), 1);
  assert.equal(await redis.unlink("key3", "key"), 1);
});

test("hashes", async () => {
  assert.equal(await redis.hset("h", { a: 1, b: "two", c: { three: 3 } }), 3);
  assert.equal(await redis.hget("h", "b"), "two");
  assert.deepEqual(await redis.hgetall("h"), { a: 1, b: "two", c: { three: 3 } });
  assert.equal(await redis.hgetall("none"), null);
  assert.deepEqual(await redis.hmget("h", "a", "z"), { a: 1, z: null });
  assert.equal(await redis.hmset("h", { d: 4 }), "OK");
  assert.equal(await redis.hsetnx("h", "d", 5), 0);
  assert.equal(await redis.hexists("h", "d"), 1);
  assert.equal(await redis.hlen("h"), 4);
  assert.deepEqual((await redis.hkeys("h")).sort(), ["a", "b", "c", "d"]);
  assert.deepEqual(await redis.hvals("h"), [1, "two", { three: 3 }, 4]);
  assert.equal(await redis.hincrby("h", "a", 41), 42);
  assert.equal(await redis.hincrbyfloat("h", "d", 0.5), 4.5);
  assert.equal(await redis.hstrlen("h", "b"), 3);
  assert.equal(await redis.hdel("h", "c", "z"), 1);
  assert.ok(["a", "b", "d"].includes(await redis.hrandfield("h")));
  assert.deepEqual((await redis.hrandfield("h", 3)).sort(), ["a", "b", "d"]);
  assert.deepEqual(await redis.hrandfield("h", 3, true), { a: 42, b: "two", d: 4.5 });
  const [cursor, page] = await redis.hscan("h", 0, { match: "b" });
  assert.deepEqual([cursor, page], ["0", ["b", "two"]]);
});

test("lifetimes of fields", async () => {
  assert.equal(await redis.hset("hf", { a: 1, b: 2, c: 3 }), 3);
  assert.deepEqual(await redis.hexpire("hf", ["a", "z"], 100), [1, -2]);
  near((await redis.httl("hf", "a"))[0], 100, 5);
  const at = seconds() + 500;
  assert.deepEqual(await redis.hexpireat("hf", "a", at), [1]);
  assert.deepEqual(await redis.hexpiretime("hf", "a"), [at]);
  assert.deepEqual(await redis.hpexpire("hf", "b", 100_000), [1]);
  near((await redis.hpttl("hf", "b"))[0], 100_000, 5_000);
  assert.deepEqual(await redis.hpexpireat("hf", "b", at * 1000 + 7), [1]);
  assert.deepEqual(await redis.hpexpiretime("hf", "b"), [at * 1000 + 7]);
  assert.deepEqual(await redis.hpersist("hf", ["a", "c", "z"]), [1, -1, -2]);
  assert.deepEqual(await redis.hgetex("hf", { ex: 50 }, "a", "c"), { a: 1, c: 3 });
  near((await redis.httl("hf", "c"))[0], 50, 5);
  assert.equal(await redis.hsetex("hf", { expiration: { ex: 70 } }, { a: "again" }), 1);
  near((await redis.httl("hf", "a"))[0], 70, 5);
  assert.deepEqual(await redis.hgetdel("hf", "a", "b", "z"), { a: "again", b: 2, z: null });
  assert.equal(await redis.hlen("hf"), 1);
});

test("lists", async () => {
  assert.equal(await redis.lpushx("l", "no"), 0);
  assert.equal(await redis.rpushx("l", "no"), 0);
  assert.equal(await redis.rpush("l", "b", { c: 1 }), 2);
  assert.equal(await redis.lpush("l", "a"), 3);
  assert.equal(await redis.llen("l"), 3);
  assert.deepEqual(await redis.lrange("l", 0, -1), ["a", "b", { c: 1 }]);
  assert.deepEqual(await redis.lindex("l", -1), { c: 1 });
  assert.equal(await redis.linsert("l", "before", "b", "x"), 4);
  assert.equal(await redis.lset("l", 0, "A"), "OK");
  assert.equal(await redis.rpush("l", "x", "x"), 6);
  assert.equal(await redis.lpos("l", "x"), 1);
  assert.deepEqual(await redis.lpos("l", "x", { rank: -1, count: 2 }), [5, 4]);
  assert.equal(await redis.lrem("l", -2, "x"), 2);
  assert.equal(await redis.ltrim("l", 0, 2), "OK");
  assert.equal(await redis.lmove("l", "l2", "left", "right"), "A");
  assert.deepEqual(await redis.lmpop(2, ["none", "l"], "LEFT", 2), ["l", ["x", "b"]]);
  assert.equal(await redis.rpush("l", 1, 2, 3), 3);
  assert.equal(await redis.lpop("l"), 1);
  assert.deepEqual(await redis.rpop("l", 5), [3, 2]);
  assert.equal(await redis.rpop("l"), null);
});

test("sets", async () => {
  assert.equal(await redis.sadd("s1", "a", "b", "c", { d: 1 }), 4);
  assert.equal(await redis.sadd("s2", "b", "c", "e"), 3);
  assert.equal(await redis.scard("s1"), 4);
  assert.equal(await redis.sismember("s1", "a"), 1);
  assert.deepEqual(await redis.smismember("s1", ["a", "z"]), [1, 0]);
  assert.equal(await redis.srem("s1", { d: 1 }), 1);
  assert.deepEqual((await redis.smembers("s1")).sort(), ["a", "b", "c"]);
  assert.deepEqual(await redis.sdiff("s1", "s2"), ["a"]);
  assert.equal(await redis.sdiffstore("s3", "s1", "s2"), 1);
  assert.deepEqual((await redis.sinter("s1", "s2")).sort(), ["b", "c"]);
  assert.equal(await redis.sintercard(["s1", "s2"], { limit: 1 }), 1);
  assert.equal(await redis.sinterstore("s3", "s1", "s2"), 2);
  assert.deepEqual((await redis.sunion("s1", "s2")).sort(), ["a", "b", "c", "e"]);
  assert.equal(await redis.sunionstore("s3", "s1", "s2"), 4);
  assert.equal(await redis.smove("s1", "s2", "a"), 1);
  assert.deepEqual((await redis.srandmember("s1", 5)).sort(), ["b", "c"]);
  assert.deepEqual((await redis.spop("s1", 5)).sort(), ["b", "c"]);
  const [cursor, page] = await redis.sscan("s3", 0, { count: 100 });
  assert.deepEqual([cursor, page.sort()], ["0", ["a", "b", "c", "e"]]);
});

test("sorted sets", async () => {
  assert.equal(await redis.zadd("z", { score: 1, member: "a" }, { score: 2.5, member: "b" }), 2);
  assert.equal(await redis.zadd("z", { xx: true, ch: true, gt: true }, { score: 3, member: "b" }, { score: 9, member: "new" }), 1);
  assert.equal(await redis.zadd("z", { incr: true }, { score: 0.5, member: "b" }), 3.5);
  assert.equal(await redis.zincrby("z", 1.5, "c"), 1.5);
  assert.equal(await redis.zcard("z"), 3);
  assert.equal(await redis.zcount("z", "(1", "+inf"), 2);
  assert.equal(await redis.zscore("z", "b"), 3.5);
  assert.deepEqual(await redis.zmscore("z", ["a", "none"]), [1, null]);
  assert.equal(await redis.zrank("z", "c"), 1);
  assert.equal(await redis.zrevrank("z", "a"), 2);
  assert.deepEqual(await redis.zrange("z", 0, -1, { withScores: true }), ["a", 1, "c", 1.5, "b", 3.5]);
  assert.deepEqual(await redis.zrange("z", "+inf", "(1", { byScore: true, rev: true, offset: 0, count: 1 }), ["b"]);
  assert.deepEqual(await redis.zscan("z", 0, { match: "b" }), ["0", ["b", 3.5]]);
  assert.equal(await redis.zadd("y", { score: 10, member: "a" }, { score: 20, member: "d" }), 2);
  assert.equal(await redis.zdiffstore("x", 2, "z", "y"), 2);
  assert.equal(await redis.zinterstore("x", 2, ["z", "y"], { weights: [2, 1], aggregate: "max" }), 1);
  assert.equal(await redis.zscore("x", "a"), 10);
  assert.deepEqual(await redis.zunion(2, ["z", "y"], { withScores: true }), ["c", 1.5, "b", 3.5, "a", 11, "d", 20]);
  assert.equal(await redis.zunionstore("x", 2, ["z", "y"]), 4);
  assert.deepEqual(await redis.zpopmin("x"), ["c", 1.5]);
  assert.deepEqual(await redis.zpopmax("x", 2), ["d", 20, "a", 11]);
  assert.equal(await redis.zrem("x", "b", "none"), 1);
  const letters = ["a", "b", "c", "d", "e"].map((member) => ({ score: 0, member }));
  assert.equal(await redis.zadd("lex", ...letters), 5);
  assert.equal(await redis.zlexcount("lex", "[b", "(d"), 2);
  assert.equal(await redis.zremrangebylex("lex", "[b", "(d"), 2);
  assert.equal(await redis.zremrangebyrank("lex", 0, 0), 1);
  assert.equal(await redis.zremrangebyscore("lex", "-inf", 0), 2);
});

test("places", async () => {
  const palermo = { longitude: 13.361389, latitude: 38.115556, member: "Palermo" };
  const catania = { longitude: 15.087269, latitude: 37.502669, member: "Catania" };
  assert.equal(await redis.geoadd("geo", palermo, catania), 2);
  assert.equal(await redis.geodist("geo", "Palermo", "Catania", "KM"), 166.2742);
  assert.deepEqual(await redis.geohash("geo", "Palermo", "Catania"), ["sqc8b49rny0", "sqdtr74hyu0"]);
  const at = { Palermo: { lng: 13.361389338970184, lat: 38.1155563954963 }, Catania: { lng: 15.087267458438873, lat: 37.50266842333162 } };
  assert.deepEqual(await redis.geopos("geo", "Palermo", "Catania"), [at.Palermo, at.Catania]);
  const centre = { type: "FROMLONLAT", coordinate: { lon: 15, lat: 37 } };
  const circle = { type: "BYRADIUS", radius: 200, radiusType: "KM" };
  assert.deepEqual(await redis.geosearch("geo", centre, circle, "ASC", { withDist: true, withHash: true, withCoord: true }), [
    { member: "Catania", dist: 56.4413, hash: "3479447370796909", coord: { long: at.Catania.lng, lat: at.Catania.lat } },
    { member: "Palermo", dist: 190.4424, hash: "3479099956230698", coord: { long: at.Palermo.lng, lat: at.Palermo.lat } },
  ]);
  assert.equal(await redis.geosearchstore("stored", "geo", centre, circle, "ASC", { count: { limit: 1 }, storeDist: true }), 1);
  near(await redis.zscore("stored", "Catania"), 56.4413, 0.0001);
});

test("HyperLogLog", async () => {
  assert.equal(await redis.pfadd("p1", "a", "b", "c"), 1);
  assert.equal(await redis.pfadd("p1", "a"), 0);
  assert.equal(await redis.pfadd("p2", "c", "d"), 1);
  assert.equal(await redis.pfcount("p1", "p2"), 4);
  assert.equal(await redis.pfmerge("p3", "p1", "p2"), "OK");
  assert.equal(await redis.pfcount("p3"), 4);
});

test("streams", async () => {
  assert.equal(await redis.xadd("x1", "*", { a: 1 }, { nomkStream: true }), null);
  assert.equal(await redis.xadd("x1", "1-1", { a: 1, b: "two" }), "1-1");
  assert.equal(await redis.xadd("x1", "2-1", { a: 2 }), "2-1");
  assert.equal(await redis.xadd("x1", "3-1", { a: 3 }, { trim: { type: "MAXLEN", comparison: "=", threshold: 3 } }), "3-1");
  assert.equal(await redis.xlen("x1"), 3);
  assert.deepEqual(await redis.xrange("x1", "-", "+", 2), { "1-1": { a: 1, b: "two" }, "2-1": { a: 2 } });
  assert.deepEqual(await redis.xrevrange("x1", "+", "-", 1), { "3-1": { a: 3 } });
  assert.deepEqual(await redis.xread(["x1"], ["2-1"]), [["x1", [["3-1", ["a", 3]]]]]);
  assert.equal(await redis.xgroup("x1", { type: "CREATE", group: "g", id: "0" }), "OK");
  assert.equal(await redis.xgroup("x1", { type: "CREATECONSUMER", group: "g", consumer: "idle" }), 1);
  assert.deepEqual(await redis.xreadgroup("g", "c", "x1", ">", { count: 2 }), [["x1", [["1-1", ["a", 1, "b", "two"]], ["2-1", ["a", 2]]]]]);
  const pending = await redis.xpending("x1", "g", "-", "+", 10);
  assert.deepEqual(pending.map(([id, consumer, , times]) => [id, consumer, times]), [["1-1", "c", 1], ["2-1", "c", 1]]);
  assert.deepEqual(await redis.xclaim("x1", "g", "d", 0, "1-1"), [["1-1", ["a", 1, "b", "two"]]]);
  assert.deepEqual(await redis.xautoclaim("x1", "g", "e", 0, "2-0", { justId: true }), ["0-0", ["2-1"], []]);
  const [group] = await redis.xinfo("x1", { type: "GROUPS" });
  assert.deepEqual(group.slice(0, 6), ["name", "g", "consumers", 4, "pending", 2]);
  const consumers = await redis.xinfo("x1", { type: "CONSUMERS", group: "g" });
  assert.deepEqual(consumers.map((c) => [c[1], c[3]]), [["c", 0], ["d", 1], ["e", 1], ["idle", 0]]);
  assert.equal(await redis.xack("x1", "g", ["1-1"]), 1);
  assert.deepEqual(await redis.xackdel("x1", "g", "delref", "2-1", "9-9"), [1, -1]);
  assert.deepEqual(await redis.xdelex("x1", "keepref", "3-1", "9-9"), [1, -1]);
  assert.equal(await redis.xdel("x1", "1-1"), 1);
  assert.equal(await redis.xgroup("x1", { type: "SETID", group: "g", id: "$" }), "OK");
  assert.equal(await redis.xgroup("x1", { type: "DELCONSUMER", group: "g", consumer: "d" }), 0);
  assert.equal(await redis.xgroup("x1", { type: "DESTROY", group: "g" }), 1);
  for (let i = 1; i <= 5; i++) await redis.xadd("x2", `${i}-0`, { i });
  assert.equal(await redis.xtrim("x2", { strategy: "MAXLEN", exactness: "=", threshold: 2 }), 3);
});

test("JSON", async () => {
  const json = redis.json;
  const doc = { a: 2, n: 1.5, s: "text", t: true, list: [1, 2, 3], o: { a: 4, list: [] } };
  assert.equal(await json.set("j", "$", doc), "OK");
  assert.equal(await json.set("j", "$", 1, { nx: true }), null);
  assert.deepEqual(await json.get("j"), doc);
  assert.deepEqual(await json.get("j", "$..a"), [4, 2]);
  assert.deepEqual(await json.arrappend("j", "$.list", 4, 5), [5]);
  assert.deepEqual(await json.arrindex("j", "$.list", 3), [2]);
  assert.deepEqual(await json.arrinsert("j", "$.list", 0, 0), [6]);
  assert.deepEqual(await json.arrlen("j", "$.list"), [6]);
  assert.deepEqual(await json.arrpop("j", "$.list"), [5]);
  assert.deepEqual(await json.arrtrim("j", "$.list", 1, 2), [2]);
  assert.deepEqual(await json.get("j", "$.list"), [[1, 2]]);
  assert.deepEqual(await json.numincrby("j", "$.a", 5), [7]);
  assert.deepEqual(await json.nummultby("j", "$.n", 2), [3]);
  assert.deepEqual(await json.objkeys("j", "$.o"), [["a", "list"]]);
  assert.deepEqual(await json.objlen("j", "$"), [6]);
  assert.deepEqual(await json.strappend("j", "$.s", '" more"'), [9]);
  assert.deepEqual(await json.strlen("j", "$.s"), [9]);
  assert.deepEqual(await json.toggle("j", "$.t"), [0]);
  assert.deepEqual(await json.type("j", "$.list"), ["array"]);
  assert.deepEqual(await json.resp("j", "$.o"), [["{", "a", 4, "list", ["["]]]);
  assert.equal(await json.merge("j", "$.o", { a: null, b: 1 }), "OK");
  assert.deepEqual(await json.get("j", "$.o"), [{ list: [], b: 1 }]);
  assert.equal(await json.clear("j", "$.list"), 1);
  assert.equal(await json.del("j", "$.o"), 1);
  assert.equal(await json.forget("j", "$.none"), 0);
  assert.equal(await json.mset({ key: "j1", path: "$", value: { v: 1 } }, { key: "j2", path: "$", value: { v: 2 } }), "OK");
  assert.deepEqual(await json.mget(["j1", "j2", "none"], "$.v"), [[1], [2], null]);
});

test("scripts and functions", async () => {
  const script = "return {ARGV[1], redis.call('GET', KEYS[1])}";
  assert.equal(await redis.set("scripted", "value"), "OK");
  assert.deepEqual(await redis.eval(script, ["scripted"], ["arg"]), ["arg", "value"]);
  assert.deepEqual(await redis.evalRo(script, ["scripted"], ["arg"]), ["arg", "value"]);
  const sha = await redis.scriptLoad("return tonumber(ARGV[1]) + 1");
  assert.match(sha, /^[0-9a-f]{40}$/);
  assert.equal(await redis.evalsha(sha, [], [41]), 42);
  assert.equal(await redis.evalshaRo(sha, [], [41]), 42);
  assert.deepEqual(await redis.scriptExists(sha, "0".repeat(40)), [1, 0]);
  assert.equal(await redis.scriptFlush({ async: true }), "OK");
  assert.deepEqual(await redis.scriptExists(sha), [0]);
  await assert.rejects(redis.evalsha(sha, [], [41]), /NOSCRIPT/);
  const made = redis.createScript("return 'made by ' .. ARGV[1]");
  assert.equal(await made.exec([], ["EVALSHA, then EVAL"]), "made by EVALSHA, then EVAL");

  const code = `#!lua name=mylib
redis.register_function('double', function(keys, args) return args[1] * 2 end)
redis.register_function{function_name='look', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}`;
  const functions = redis.functions;
  assert.equal(await functions.load({ code, replace: true }), "mylib");
  assert.equal(await functions.call("double", [], ["21"]), 42);
  assert.equal(await functions.callRo("look", ["scripted"]), "value");
  const [library] = await functions.list({ libraryName: "mylib", withCode: true });
  assert.deepEqual([library.libraryName, library.engine, library.libraryCode], ["mylib", "LUA", code]);
  assert.deepEqual(library.functions.map((f) => [f.name, f.flags]).sort(), [["double", []], ["look", ["no-writes"]]]);
  assert.deepEqual(await functions.stats(), { engines: { LUA: { librariesCount: 1, functionsCount: 2 } } });
  assert.equal(await functions.delete("mylib"), "OK");
  assert.equal(await functions.flush(), "OK");
  assert.deepEqual(await functions.list(), []);
});

test("pipelines and transactions", async () => {
  assert.deepEqual(await redis.pipeline().set("t", 1).incr("t").exec(), ["OK", 2]);
  assert.deepEqual(await redis.multi().incr("t").get("t").exec(), [3, 3]);
});

// until waits for what a stream brings.
const until = async (ready) => {
  for (let i = 0; i < 6000 && !ready(); i++) await new Promise((done) => setTimeout(done, 10));
  assert.ok(ready(), "it did not come");
};

test("subscriptions", async () => {
  const got = [];
  let open = 0;
  const exact = redis.subscribe(["channel"]);
  const pattern = redis.psubscribe(["chan*"]);
  exact.on("subscribe", () => open++);
  pattern.on("psubscribe", () => open++);
  exact.on("message", (m) => got.push(["exact", m.channel, m.message]));
  pattern.on("pmessage", (m) => got.push([m.pattern, m.channel, m.message]));
  await until(() => open === 2);
  assert.equal(await redis.publish("channel", { n: 1 }), 2);
  await until(() => got.length === 2);
  assert.deepEqual(got.sort(), [["chan*", "channel", { n: 1 }], ["exact", "channel", { n: 1 }]]);
  await exact.unsubscribe();
  await pattern.unsubscribe();
});

// properties are the client's own and inherited ones, with what each is.
const properties = (of) => {
  const all = {};
  for (let o = of; o !== Object.prototype; o = Object.getPrototypeOf(o)) {
    for (const name of Object.getOwnPropertyNames(o)) all[name] ??= Object.getOwnPropertyDescriptor(o, name);
  }
  delete all.constructor;
  return Object.entries(all);
};
const methods = properties(clients[0]).filter(([, is]) => typeof is.value === "function").map(([name]) => name);
const getters = properties(clients[0]).filter(([, is]) => is.get).map(([name]) => name);

test("arrays", async () => {
  assert.equal(await redis.arset("ar:a", 0, "x", "y", "z"), 3);
  assert.equal(await redis.arset("ar:a", 10, 5), 1);
  assert.equal(await redis.arcount("ar:a"), 4);
  assert.equal(await redis.arlen("ar:a"), "11");
  assert.equal(await redis.arget("ar:a", 1), "y");
  assert.equal(await redis.arget("ar:a", 5), null);
  assert.deepEqual(await redis.argetrange("ar:a", 0, 3), ["x", "y", "z", null]);
  assert.deepEqual(await redis.armget("ar:a", 0, 10, 5), ["x", 5, null]);
  assert.equal(await redis.armset("ar:a", { 11: 7, 12: 9 }), 2);
  assert.deepEqual(await redis.argrep("ar:a", 0, 12, { predicates: [{ glob: "[xy]" }], withValues: true }), [["0", "x"], ["1", "y"]]);
  assert.deepEqual(await redis.argrep("ar:a", 0, 12, { predicates: [{ exact: "x" }, { exact: "z" }], combine: "or" }), ["0", "2"]);
  assert.equal(await redis.arop("ar:a", 10, 12, "sum"), 21);
  assert.equal(await redis.arop("ar:a", 0, 12, { match: "x" }), 1);
  assert.deepEqual(await redis.arscan("ar:a", 0, 12, { limit: 2 }), [["0", "x"], ["1", "y"]]);
  const info = await redis.arinfo("ar:a");
  assert.deepEqual([info.count, info.len, info.nextInsertIndex], [6, "13", "0"]);
  assert.equal(await redis.arinsert("ar:b", "p", "q"), "1");
  assert.equal(await redis.arnext("ar:b"), "2");
  assert.equal(await redis.arseek("ar:b", 7), 1);
  assert.equal(await redis.arinsert("ar:b", "s"), "7");
  assert.equal(await redis.arring("ar:c", 3, 1, 2, 3, 4), "0");
  assert.deepEqual(await redis.arlastitems("ar:c", 2), [3, 4]);
  assert.deepEqual(await redis.arlastitems("ar:c", 2, { rev: true }), [4, 3]);
  assert.equal(await redis.ardel("ar:a", 0, 99), 1);
  assert.equal(await redis.ardelrange("ar:a", [1, 2], [11, 12]), 4);
  assert.equal(await redis.type("ar:a"), "array");
});

test("vector indexes", async () => {
  const calls = new Calls();
  const handle = { name: "vector index" };
  const vector = () => calls.watch(any().vector, { name: "vector", makers: { createIndex: handle, index: handle } });
  const index = () => vector().index("vec:a");
  const options = { name: "vec:a", dimension: 3, metric: "COSINE" };
  assert.equal(await index().info(), null);
  assert.equal(await index().count(), 0);
  const made = await vector().createIndex(options);
  await assert.rejects(vector().createIndex(options), /Index vec:a already exists/);
  await vector().createIndex({ ...options, existsOk: true });
  assert.equal(await made.add("x", [1, 0, 0]), 1);
  assert.equal(await index().add("y", new Float32Array([0, 1, 0])), 1);
  assert.equal(await index().add("z", { base64: Buffer.from(Float32Array.of(1, 1, 0).buffer).toString("base64") }), 1);
  assert.equal(await index().add("x", [2, 0, 0]), 0);
  await assert.rejects(index().add("w", [1, 2]), /vector dimension mismatch: expected 3, got 2/);
  assert.deepEqual(await index().get("x"), [2, 0, 0]);
  assert.deepEqual(await index().get("z"), [1, 1, 0]);
  assert.equal(await index().get("none"), null);
  const [first, second, ...rest] = await index().query({ vector: [1, 0, 0], topK: 2 });
  assert.deepEqual([first, second.id, rest], [{ id: "x", score: 1 }, "z", []]);
  near(second.score, (1 + Math.SQRT1_2) / 2, 1e-6);
  const precise = await index().query({ vector: new Float32Array([0, 3, 0]), topK: 10, profile: "PRECISE" });
  assert.deepEqual(precise.map((hit) => hit.id), ["y", "z", "x"]);
  near(precise[2].score, 0.5, 1e-6);
  assert.equal(await index().count(), 3);
  assert.deepEqual(await index().info(), { dimension: 3, metric: "COSINE" });
  assert.equal(await index().delete("x"), 1);
  assert.equal(await index().delete("x"), 0);
  assert.equal(await index().drop(), 1);
  assert.equal(await index().drop(), 0);
  assert.deepEqual([calls.all.size, calls.missing()], [9, []]);
});

test("no method was left out", () => {
  assert.deepEqual(getters.filter((name) => !name.startsWith("readYourWrites")).sort(), [...groups, ...elsewhere].sort());
  const all = [
    ...methods.filter((name) => !local.includes(name)),
    ...groups.flatMap((group) => Object.keys(clients[0][group]).map((name) => `${group}.${name}`)),
  ];
  assert.ok(all.length > 200, `only ${all.length} methods were found`);
  assert.deepEqual(all.filter((name) => !called.has(name)), []);
});
