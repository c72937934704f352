// Tests how values are shown in their formats: src/formats.
import assert from "node:assert/strict";
import { test } from "vitest";
import { Adder } from "../../src/analysis/adder";
import { Counter, keysOf, wordsOf } from "../../src/analysis/monitor";
import { layJson } from "../../src/formats/json";
import { guess, read } from "../../src/formats/read";
import { conditions } from "../../src/indexes/conditions";

const bytes = (...b) => new Uint8Array(b.flat(9));
const text = (t) => [...Buffer.from(t)];
const is = (as, b, want) =>
  assert.equal(read(bytes(b), as).text.trimEnd(), want, `${as} of ${Buffer.from(bytes(b)).toString("hex")}`);
const no = (as, b, why) => {
  const { text: t, problem } = read(bytes(b), as);
  assert.equal(t, "");
  assert.match(problem, why);
};

test("JSON: numbers keep their digits, strings what is in them", () => {
  is(
    "json",
    text('{"a":[1,{"b":[]},{}],"n":12345678901234567890.10}'),
    `{
  "a": [
    1,
    {
      "b": []
    },
    {}
  ],
  "n": 12345678901234567890.10
}`,
  );
  is("json", text('["{\\"a\\":[1,2]}", "\\\\"]'), `[\n  "{\\"a\\":[1,2]}",\n  "\\\\"\n]`);
  is("json", text(" null "), "null");
  for (const sample of [
    '{"a":[1,2,{"b":null}],"s":"te,x:t"}',
    "[[],[[]],{}]",
    '"x"',
    "-1.5e300",
    '[true,false,"\\u0041"]',
  ]) {
    assert.deepEqual(JSON.parse(layJson(sample)), JSON.parse(sample));
    assert.equal(layJson(layJson(sample)), layJson(sample));
  }
  no("json", text("{a:1}"), /JSON/);
  no("json", [0xff], /no UTF-8/);
});

test("MessagePack: every kind of value", () => {
  for (const [b, want] of [
    [[0x00], "0"],
    [[0x7f], "127"],
    [[0xff], "-1"],
    [[0xe0], "-32"],
    [[0xcc, 200], "200"],
    [[0xcd, 1, 0], "256"],
    [[0xce, 0, 1, 0, 0], "65536"],
    [[0xcf, 255, 255, 255, 255, 255, 255, 255, 255], "18446744073709551615"],
    [[0xd0, 0x80], "-128"],
    [[0xd1, 0xff, 0x00], "-256"],
    [[0xd2, 0xff, 0xff, 0, 0], "-65536"],
    [[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0], "-9223372036854775808"],
    [[0x93, 0xc0, 0xc2, 0xc3], "[\n  null,\n  false,\n  true\n]"],
    [[0xca, 0x3f, 0xc0, 0, 0], "1.5"],
    [[0xcb, 0x40, 0, 0, 0, 0, 0, 0, 0], "2.0"],
    [[0xa3, text('a"b')], '"a\\"b"'],
    [[0xd9, 3, text("abc")], '"abc"'],
    [[0xda, 0, 3, text("abc")], '"abc"'],
    [[0xa1, 0xff], "<str 1 ff>"],
    [[0xc4, 2, 0, 255], "<bin 2 00ff>"],
    [[0xc5, 0, 1, 7], "<bin 1 07>"],
    [[0xd4, 5, 0xab], "<ext 5 1 ab>"],
    [[0xc7, 3, 0xfe, 1, 2, 3], "<ext -2 3 010203>"],
    [[0xd6, 0xff, 0, 0, 0, 1], "<time 1970-01-01T00:00:01.000Z>"],
    [[0xd7, 0xff, 0x77, 0x35, 0x94, 0x00, 0, 0, 0, 1], "<time 1970-01-01T00:00:01.500Z>"],
    [[0x90], "[]"],
    [[0x80], "{}"],
    [[0x82, 0xa1, text("a"), 1, 0xa1, text("b"), 0x92, 2, 0xc0], '{\n  "a": 1,\n  "b": [\n    2,\n    null\n  ]\n}'],
    [[0xdc, 0, 1, 9], "[\n  9\n]"],
    [[0xde, 0, 1, 1, 2], "{\n  1: 2\n}"],
  ])
    is("msgpack", b, want);
  no("msgpack", [], /empty/);
  no("msgpack", text("text"), /more follows the value at byte 1/);
  no("msgpack", [0x92, 1], /ends within a value at byte 2/);
  no("msgpack", [0xc1], /begins no value at byte 0/);
  no("msgpack", Array(300).fill(0x91), /nested too deeply/);
  assert.ok(
    read(bytes([0xdd, 255, 255, 255, 255], Array(9).fill(0)), "msgpack").problem,
    "a list that is longer than its bytes",
  );
});

test("Base64 of either alphabet; what it encodes is shown in its own format", () => {
  is("base64", text("aGVsbG8="), "hello");
  is("base64", text("aGVsbG8"), "hello");
  is("base64", text("aGVs\nbG8=\n"), "hello");
  is("base64", text(Buffer.from('{"a":1}').toString("base64")), '{\n  "a": 1\n}');
  is("base64", text("__79"), "00000000  ff fe fd                                          ...");
  no("base64", text("a"), /length/);
  no("base64", text("a=b="), /after the padding at byte 2/);
  no("base64", text("!!!!"), /does not have at byte 0/);
  for (let n = 0; n < 40; n++) {
    const b = Buffer.from(Array.from({ length: n }, (_, i) => 97 + ((i * 7) % 26)));
    for (const kind of ["base64", "base64url"]) is("base64", text(b.toString(kind)), b.toString());
  }
});

test("Protocol buffers: the examples of their documentation, and what only may be one", () => {
  is("protobuf", [0x08, 0x96, 0x01], "1: 150");
  is("protobuf", [0x08, 0x01], "1: 1 <zigzag -1>");
  is("protobuf", [0x12, 0x07, text("testing")], '2: "testing"');
  is("protobuf", [0x1a, 0x03, 0x08, 0x96, 0x01], "3 {\n  1: 150\n}");
  is("protobuf", [0x25, 0, 0, 0x80, 0x3f], "4: 1065353216 <float 1>");
  is("protobuf", [0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f], "5: 4607182418800017408 <double 1>");
  is("protobuf", [0x33, 0x08, 0x02, 0x34], "6 {\n  1: 2\n}");
  is("protobuf", [0x0a, 2, 0xff, 0xff], "1: <bytes 2 ffff>");
  is("protobuf", [0x08, Array(9).fill(0xff), 0x01], "1: 18446744073709551615 <signed -1>");
  no("protobuf", [0x08], /ends within a number/);
  no("protobuf", [0x12, 0x07, 1], /ends within a field/);
  no("protobuf", [0x0c], /has not begun/);
  no("protobuf", [0x0b, 0x08, 1], /without an end/);
  no("protobuf", [0x00], /without a number/);
  no("protobuf", [0x0f], /unknown kind/);

  is("hex", [text("Az"), 0, 255], "00000000  41 7a 00 ff                                       Az..");
  assert.equal(read(new Uint8Array(40), "hex").text.trimEnd().split("\n").length, 3);
  const much = read(new Uint8Array(4 << 20), "hex").text;
  assert.ok(much.length <= (1 << 20) + 1 && much.endsWith("…"), "a dump has an end");

  for (const [b, want] of [
    [text("hello"), "text"],
    [text("12"), "text"],
    [text('{"a":1}'), "json"],
    [text("{a}"), "text"],
    [[0x81, 0xa1, text("a"), 0xc3], "msgpack"],
    [[0x0a, 3, 0xff, 0xfe, 0xfd], "protobuf"],
    [[0xff, 0xfe, 0x80], "hex"],
    [text("aGVsbG8="), "text"],
  ])
    assert.equal(guess(bytes(b)), want);
});

test("Filters of indexes by their conditions, the monitor's lines by their keys, sums of very many names", () => {
  assert.deepEqual(conditions('{"a":1}'), ['{"a":1}']);
  assert.deepEqual(conditions("{}"), ["{}"]);
  assert.deepEqual(conditions('{"a":1,"$or":[{"b":2,"c":3},{"$and":[{"d":4}]}]}').slice(1), [
    '{"a":1}',
    '{"b":2}',
    '{"c":3}',
    '{"d":4}',
  ]);
  const words = wordsOf('1764160000.123456 [default 10.0.0.1:4711] "SET" "a\\"b\\\\\\x00" "v w" "EX"');
  assert.deepEqual(words, ["SET", 'a"b\\\0', "v w", "EX"]);
  assert.deepEqual(wordsOf("OK"), []);
  assert.deepEqual(keysOf(["MSET", "a", "1", "b", "2"], { first: 1, last: -1, step: 2 }), ["a", "b"]);
  assert.deepEqual(keysOf(["GET", "a"], { first: 1, last: 1, step: 1 }), ["a"]);
  assert.deepEqual(keysOf(["PING"], { first: 0, last: 0, step: 0 }), []);
  const counter = new Counter(2);
  for (const [name, key] of [
    ["GET", "a"],
    ["SET", "a"],
    ["GET", "a"],
    ["GET", "b"],
    ["GET", "c"],
  ])
    counter.add(name, [key]);
  assert.deepEqual(counter.top(9), [
    { key: "a", count: 3, often: "GET" },
    { key: "b", count: 1, often: "GET" },
  ]);
  assert.equal(counter.missed, 1);
  const adder = new Adder(3);
  for (let i = 0; i < 10; i++) for (const keys of [1, 2]) adder.add({ name: `n${i}`, keys, bytes: 100 * i });
  const sums = adder.sums();
  assert.equal(sums.keys, 30);
  assert.equal(sums.bytes, 2 * 100 * 45);
  assert.ok(sums.rows.length <= 6 && sums.rows[0].name === "n8" && sums.rest.keys > 0);
});

test("Whatever bytes there are: no format fails otherwise than with a problem", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return (seed >> 12) & 255;
  };
  for (let i = 0; i < 3000; i++) {
    const b = Uint8Array.from({ length: i % 40 }, random);
    for (const as of ["text", "json", "msgpack", "base64", "protobuf", "hex"]) {
      const s = read(b, as);
      assert.ok(
        typeof s.text === "string" && (s.problem === undefined || s.text === ""),
        `${as} of ${Buffer.from(b).toString("hex")}`,
      );
    }
    guess(b);
  }
});
