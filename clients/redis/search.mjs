// The search of the published client against running nodes: each call goes through one of
// them, picked at random, so a query follows a write that another node took.
//
//   TRIREME_URLS   URLs of the nodes, separated by commas
//   TRIREME_TOKEN  the Standard token
import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis, s } from "@upstash/redis";
import { Calls } from "../calls.mjs";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_TOKEN must be set");
  process.exit(2);
}

const clients = urls.map((url) => new Redis({ url, token, enableTelemetry: false, enableAutoPipelining: false, retry: { retries: 0 } }));
const calls = new Calls();
const handle = { name: "search index" };
const group = { name: "search", parts: { alias: { name: "search.alias" } }, makers: { createIndex: handle, index: handle } };
const watched = clients.map((c) => calls.watch(c, { name: "redis", parts: { search: group } }));
const any = () => watched[Math.floor(Math.random() * watched.length)];
const keys = (hits) => hits.map((h) => h.key);

const schema = s.object({
  name: s.string(),
  brand: s.keyword(),
  price: s.number("F64"),
  stock: s.number("U64"),
  made: s.date().fast(),
  sold: s.boolean().fast(),
  category: s.facet(),
  details: s.object({ note: s.string().noStem() }),
});
const products = () => any().search.index({ name: "products", schema });

const documents = {
  "product:1": { name: "Wireless Headphones", brand: "acme", price: 49.5, stock: 10, made: "2024-01-01T00:00:00Z", sold: true, category: "/audio/head", details: { note: "running well" } },
  "product:2": { name: "Wired Headphones for studies", brand: "acme", price: 20, stock: 0, made: "2024-01-02T12:00:00Z", sold: false, category: "/audio/head", details: { note: "old" } },
  "product:3": { name: "Wireless Keyboard", brand: "beta", price: 80, stock: 3, made: "2024-02-01T00:00:00Z", sold: true, category: "/input" },
  "product:4": { name: ["Mouse", "wireless mouse pad"], brand: ["gamma", "acme"], price: 15, stock: 7, made: "2024-02-01T06:00:00Z", sold: true, category: "/input/mouse" },
};

test("an index over keys that are there and keys that come", async () => {
  await any().flushall();
  for (const name of ["products", "users", "log"]) await any().search.index({ name }).drop();
  await any().json.set("product:1", "$", documents["product:1"]);
  await any().json.set("other:1", "$", documents["product:1"]);
  await any().search.createIndex({ name: "products", dataType: "json", prefix: "product:", schema });
  await any().search.createIndex({ name: "products", dataType: "json", prefix: "product:", schema, existsOk: true });
  await assert.rejects(any().search.createIndex({ name: "products", dataType: "json", prefix: "product:", schema }), /Index products already exists/);
  for (const [key, value] of Object.entries(documents)) await any().json.set(key, "$", value);
  assert.equal(await products().waitIndexing(), 1);
  assert.deepEqual(keys(await products().query({ filter: { brand: { $eq: "beta" } } })), ["product:3"]);
  assert.deepEqual((await products().query({ filter: { name: { $eq: "keyboard" } } }))[0].data, documents["product:3"]);
  assert.equal((await products().count({ filter: {} })).count, 4);
});

test("every read sees the writes before it, whichever node took them", async () => {
  for (let i = 0; i < 40; i++) {
    await any().json.set("product:9", "$.".slice(0, 1), { name: `turn${i}`, stock: i });
    const found = await products().query({ filter: { stock: { $eq: i }, name: { $eq: `turn${i}` } } });
    assert.deepEqual(found.map((h) => h.data), [{ name: `turn${i}`, stock: i }]);
    if (i % 10 === 9) {
      await any().del("product:9");
      assert.equal((await products().count({ filter: { name: { $regex: "turn.*" } } })).count, 0);
    }
  }
});

test("the query language", async () => {
  const found = async (filter) => keys(await products().query({ filter })).sort().map((k) => +k.slice(8));
  assert.deepEqual(await found({ name: "wireless" }), [1, 3, 4]);
  assert.deepEqual(await found({ name: { $eq: "wireless headphones" } }), [1]);
  assert.deepEqual(await found({ name: { $phrase: { value: "wireless pad", slop: 1 } } }), [4]);
  assert.deepEqual(await found({ name: { $phrase: { value: "wireless key", prefix: true } } }), [3]);
  assert.deepEqual(await found({ name: { $phrase: "mouse wireless" } }), []); // two values of one field
  assert.deepEqual(await found({ name: { $fuzzy: "headphnes" } }), [1, 2]);
  assert.deepEqual(await found({ name: { $fuzzy: { value: "kye", prefix: true } } }), [3]);
  assert.deepEqual(await found({ name: { $regex: "wire.*" } }), [1, 2, 3, 4]);
  assert.deepEqual(await found({ name: { $in: ["keyboard", "study"] } }), [2, 3]);
  assert.deepEqual(await found({ price: { $gte: 20, $lt: 80 } }), [1, 2]);
  assert.deepEqual(await found({ made: { $gt: "2024-01-31T00:00:00Z" } }), [3, 4]);
  assert.deepEqual(await found({ made: "2024-02-01T01:00:00+01:00" }), [3]);
  assert.deepEqual(await found({ sold: false }), [2]);
  assert.deepEqual(await found({ brand: { $in: ["gamma", "beta"] } }), [3, 4]);
  assert.deepEqual(await found({ brand: { $gt: "acme" } }), [3, 4]);
  assert.deepEqual(await found({ category: "/input" }), [3, 4]);
  assert.deepEqual(await found({ "details.note": "running" }), [1]);
  assert.deepEqual(await found({ "details.note": { $eq: "run" } }), []);
  assert.deepEqual(await found({ $must: { brand: "acme" }, $mustNot: { stock: 0 } }), [1, 4]);
  assert.deepEqual(await found({ $or: [{ brand: "beta" }, { stock: 0 }] }), [2, 3]);
  assert.deepEqual(await found({ $and: [{ brand: "acme" }, { $should: [{ price: 15 }, { price: 20 }] }] }), [2, 4]);
  assert.deepEqual(keys(await products().query({ filter: { brand: "acme", $should: { name: "mouse" } } }))[0], "product:4");
  assert.deepEqual(keys(await products().query({ filter: { $should: [{ brand: "beta" }, { stock: { $eq: 7, $boost: 5 } }] } })), ["product:4", "product:3"]);
  assert.deepEqual(keys(await products().query({ filter: { name: "wireless headphones" } }))[0], "product:1");
});

test("order, pages, contents, scores, marks", async () => {
  const all = { filter: {} };
  assert.deepEqual(keys(await products().query({ ...all, orderBy: { price: "ASC" } })).map((k) => +k.slice(8)), [4, 2, 1, 3]);
  assert.deepEqual((await products().query({ ...all, orderBy: { price: "DESC" }, limit: 2, offset: 1 })).map((h) => [h.key, h.score]), [["product:1", 49.5], ["product:2", 20]]);
  assert.deepEqual(await products().query({ filter: { stock: 3 }, select: {} }), [{ key: "product:3", score: 1 }]);
  assert.deepEqual((await products().query({ filter: { stock: 10 }, select: { price: true, "details.note": true } }))[0].data, { price: 49.5, details: { note: "running well" } });
  const marked = await products().query({ filter: { name: { $eq: "headphone" } }, highlight: { fields: ["name"] }, orderBy: { price: "ASC" } });
  assert.deepEqual(marked.map((h) => h.data.name), ["Wired <em>Headphones</em> for studies", "Wireless <em>Headphones</em>"]);
  const tagged = await products().query({ filter: { name: { $eq: "mouse" } }, highlight: { fields: ["name"], preTag: "[", postTag: "]" } });
  assert.deepEqual(tagged[0].data.name, ["[Mouse]", "wireless [mouse] pad"]);
  const scored = await products().query({ filter: { sold: true }, scoreFunc: { field: "stock", modifier: "square", factor: 2, scoreMode: "replace" } });
  assert.deepEqual(scored.map((h) => [h.key, h.score]), [["product:1", 200], ["product:4", 98], ["product:3", 18]]);
});

test("aggregations", async () => {
  const of = async (aggregations, filter = {}) => await products().aggregate({ filter, aggregations });
  assert.deepEqual(await of({
    avg: { $avg: { field: "price" } },
    sum: { $sum: { field: "stock" } },
    min: { $min: { field: "price" } },
    max: { $max: { field: "price" } },
    count: { $count: { field: "price" } },
    brands: { $cardinality: { field: "brand" } },
    stats: { $stats: { field: "stock" } },
  }, { price: { $lt: 60 } }), {
    avg: { value: 28.166666666666668 },
    sum: { value: 17 },
    min: { value: 15 },
    max: { value: 49.5 },
    count: { value: 3 },
    brands: { value: 2 },
    stats: { count: 3, min: 0, max: 10, sum: 17, avg: 5.666666666666667 },
  });
  assert.deepEqual(await of({ none: { $avg: { field: "price" } } }, { brand: "nobody" }), { none: { value: null } });
  const terms = await of({ brands: { $terms: { field: "brand" }, $aggs: { price: { $avg: { field: "price" } } } } });
  assert.deepEqual(terms.brands, {
    buckets: [
      { key: "acme", docCount: 3, price: { value: 28.166666666666668 } },
      { key: "beta", docCount: 1, price: { value: 80 } },
      { key: "gamma", docCount: 1, price: { value: 15 } },
    ],
    sumOtherDocCount: 0,
    docCountErrorUpperBound: 0,
  });
  const ordered = await of({ brands: { $terms: { field: "brand", size: 1, order: { price: "desc" } }, $aggs: { price: { $max: { field: "price" } } } } });
  assert.deepEqual(ordered.brands.buckets.map((b) => b.key), ["beta"]);
  assert.equal(ordered.brands.sumOtherDocCount, 4);
  assert.deepEqual((await of({ r: { $range: { field: "price", ranges: [{ to: 20 }, { from: 20, to: 50 }, { from: 50 }] } } })).r.buckets, [
    { key: "*-20", docCount: 1, to: 20 },
    { key: "20-50", docCount: 2, from: 20, to: 50 },
    { key: "50-*", docCount: 1, from: 50 },
  ]);
  assert.deepEqual((await of({ h: { $histogram: { field: "price", interval: 20 } } })).h.buckets.map((b) => [b.key, b.docCount]), [[0, 1], [20, 1], [40, 1], [60, 0], [80, 1]]);
  const days = (await of({ d: { $dateHistogram: { field: "made", fixedInterval: "1d", minDocCount: 1 } } })).d.buckets;
  assert.deepEqual(days.map((b) => [b.key, b.docCount]), [[Date.UTC(2024, 0, 1), 1], [Date.UTC(2024, 0, 2), 1], [Date.UTC(2024, 1, 1), 2]]);
  assert.deepEqual((await of({ p: { $percentiles: { field: "price", percents: [50] } } })).p, { values: { "50.0": 34.75 } });
  assert.deepEqual((await of({ f: { $facet: { field: "category", path: "/" } } })).f, {
    path: "/",
    sumOtherDocCount: 0,
    children: [
      { path: "/audio", docCount: 2, sumOtherDocCount: 0 },
      { path: "/input", docCount: 2, sumOtherDocCount: 0 },
    ],
  });
  const spread = (await of({ e: { $extendedStats: { field: "price" } } })).e;
  assert.equal(spread.sumOfSquares, 49.5 ** 2 + 20 ** 2 + 80 ** 2 + 15 ** 2);
  assert.ok(Math.abs(spread.stdDeviationBounds.upper - (spread.avg + 2 * Math.sqrt(spread.variance))) < 1e-9);
  const sources = [{ brand: { $terms: { field: "brand" } } }, { price: { $terms: { field: "price", order: "desc" } } }];
  const seen = [];
  for (let after; ; ) {
    const page = (await of({ c: { $composite: { sources, size: 2, ...(after ? { after } : {}) } } })).c;
    if (page.buckets.length === 0) break;
    seen.push(...page.buckets.map((b) => [b.key.brand, b.key.price, b.docCount]));
    after = page.afterKey;
  }
  assert.deepEqual(seen, [["acme", 49.5, 1], ["acme", 20, 1], ["acme", 15, 1], ["beta", 80, 1], ["gamma", 15, 1]]);
  await assert.rejects(of({ x: { $avg: {} } }), /Aggregation 'x' is missing required 'field' property/);
  await assert.rejects(of({ x: { $avg: { field: "name" } } }), /Aggregation 'x' operator '\$avg'/);
});

test("mistakes are named", async () => {
  const wrong = (filter, what) => assert.rejects(products().query({ filter }), what);
  await wrong({ nothing: 1 }, /Unknown field: nothing/);
  await wrong({ name: { $not: 1 } }, /Unknown field operator: \$not/);
  await wrong({ price: "dear" }, /Field 'price'/);
  await wrong({ name: { $regex: "(" } }, /invalid \$regex/);
  await wrong({ $any: {} }, /Unknown operator: \$any/);
  await assert.rejects(any().exec(["SEARCH.QUERY", "products", "{"]), /Invalid filter/);
  await assert.rejects(products().query({ filter: {}, orderBy: { name: "ASC" } }), /FAST/);
  assert.match(String(await any().exec(["SEARCH.COUNT", "products", "{}"])), /^\d+$/);
});

test("aliases and descriptions", async () => {
  assert.equal(await any().search.alias.add({ alias: "shop", indexName: "products" }), 1);
  assert.equal(await products().addAlias({ alias: "shop" }), 2);
  assert.deepEqual(await any().search.alias.list(), { shop: "products" });
  const shop = any().search.index({ name: "shop", schema });
  assert.equal((await shop.count({ filter: { brand: "beta" } })).count, 1);
  const d = await shop.describe();
  assert.equal(d.name, "products");
  assert.equal(d.dataType, "json");
  assert.deepEqual(d.prefixes, ["product:"]);
  assert.equal(d.language, "english");
  assert.deepEqual(Object.keys(d.schema).sort(), ["brand", "category", "details.note", "made", "name", "price", "sold", "stock"]);
  assert.equal(await any().search.alias.delete({ alias: "shop" }), 1);
  assert.equal(await any().search.alias.delete({ alias: "shop" }), 0);
  assert.equal(await shop.query({ filter: {} }), null);
});

test("hashes, renames, expiry, other types, an empty database", async () => {
  const users = s.object({ name: s.string(), age: s.number("U64") });
  await any().search.createIndex({ name: "users", dataType: "hash", prefix: ["user:", "admin:"], schema: users });
  const index = () => any().search.index({ name: "users", schema: users });
  await any().hset("user:1", { name: "Ada Lovelace", age: 36 });
  await any().hset("admin:1", { name: "Ada", age: "none" });
  assert.deepEqual((await index().query({ filter: { age: 36 } })).map((h) => [h.key, h.data]), [["user:1", { age: 36, name: "Ada Lovelace" }]]);
  assert.equal((await index().count({ filter: { name: "ada" } })).count, 2);
  await any().rename("admin:1", "user:2");
  assert.deepEqual(keys(await index().query({ filter: { name: "ada" } })), ["user:2", "user:1"]);
  await any().rename("user:2", "nobody:2");
  assert.equal((await index().count({ filter: { name: "ada" } })).count, 1);
  await any().pexpire("user:1", 1);
  while ((await any().exists("user:1")) === 1);
  assert.equal((await index().count({ filter: {} })).count, 0);
  await any().hset("user:3", { name: "Grace" });
  await any().set("user:3", "a string");
  assert.equal((await index().count({ filter: {} })).count, 0);
  await any().hset("user:4", { name: "Alan" });
  await any().flushdb();
  assert.equal((await index().count({ filter: {} })).count, 0);
  assert.equal((await products().count({ filter: {} })).count, 0);
  assert.equal(await index().drop(), 1);
  assert.equal(await index().drop(), 0);
  assert.equal(await products().drop(), 1);
});

test("streams", async () => {
  const events = s.object({ text: s.string(), level: s.number("U64") });
  await any().search.createIndex({ name: "log", dataType: "stream", stream: "events", schema: events });
  const index = () => any().search.index({ name: "log", schema: events });
  assert.equal((await index().count({ filter: {} })).count, 0);
  await any().xadd("events", "1-0", { text: "disk full", level: "3" });
  await any().xadd("events", "2-0", { text: "disk replaced", level: "[1,2]", other: "x" });
  assert.deepEqual(keys(await index().query({ filter: { text: { $eq: "disk" } } })).sort(), ["1-0", "2-0"]);
  assert.deepEqual((await index().query({ filter: { level: 2 } })).map((h) => [h.key, h.data.text, h.data.other]), [["2-0", "disk replaced", "x"]]);
  await any().xdel("events", "1-0");
  assert.deepEqual(keys(await index().query({ filter: { text: "disk" } })), ["2-0"]);
  await any().xadd("events", "3-0", { text: "disk three", level: "1" });
  await any().xtrim("events", { strategy: "MAXLEN", exactness: "=", threshold: 1 });
  assert.deepEqual(keys(await index().query({ filter: {} })), ["3-0"]);
  await any().del("events");
  assert.equal((await index().count({ filter: {} })).count, 0);
  assert.equal(await index().drop(), 1);
});

// Those of the client itself are in methods.mjs.
test("every method of search was called", () => {
  const all = [...calls.all].filter((name) => name.startsWith("search"));
  assert.equal(all.length, 12, all.join(" "));
  assert.deepEqual(calls.missing().filter((name) => name.startsWith("search")), []);
});
