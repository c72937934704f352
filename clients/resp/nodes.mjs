// What the programs of this folder have in common: where the nodes are, keys of a run, and
// waiting for conditions.
//
//   TRIREME_RESP   addresses of the nodes' RESP ports, host:port, separated by commas
//   TRIREME_TOKEN  the Standard token
import assert from "node:assert/strict";

export const nodes = (process.env.TRIREME_RESP ?? "").split(",").filter(Boolean).map((addr) => {
  const colon = addr.lastIndexOf(":");
  return { host: addr.slice(0, colon), port: Number(addr.slice(colon + 1)) };
});
export const token = process.env.TRIREME_TOKEN ?? "";
if (nodes.length === 0 || token === "") {
  console.error("TRIREME_RESP and TRIREME_TOKEN must be set");
  process.exit(2);
}

// random picks one of a list.
export const random = (list) => list[Math.floor(Math.random() * list.length)];

let keys = 0;
const run = `${Date.now().toString(36)}-${process.pid}`;
// key is a key that nobody else has. Clients in cluster mode want those of one command in
// one slot, which the tag in braces makes them.
export const key = (name) => `client-test:{${run}}:${name}:${keys++}`;

// until waits for a condition.
export const until = async (what, ready) => {
  for (let i = 0; i < 6000 && !ready(); i++) await new Promise((done) => setTimeout(done, 10));
  assert.ok(ready(), `${what} did not come`);
};

// unique reports whether no element stands twice in a list.
export const unique = (list) => new Set(list).size === list.length;
