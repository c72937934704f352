// The published client of messages in its development mode: it is told nothing but that,
// and the port, by the environment, and has to find the server that runs there.
//
//   QSTASH_DEV, QSTASH_DEV_PORT   the client's own variables
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { Client, Receiver } from "@upstash/qstash";

const base = `http://127.0.0.1:${process.env.QSTASH_DEV_PORT}`;
const said = [];
for (const name of ["log", "warn", "error"]) {
  const say = console[name];
  console[name] = (...words) => (said.push(words.join(" ")), say(...words));
}

test("the client finds the server, publishes, and knows its signature", async () => {
  const request = await new Promise((resolve, reject) => {
    const server = http.createServer((req, res) => {
      const parts = [];
      req.on("data", (part) => parts.push(part));
      req.on("end", () => {
        res.end();
        server.close();
        resolve({ headers: req.headers, url: `http://${req.headers.host}${req.url}`, body: Buffer.concat(parts).toString() });
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const client = new Client();
      client.publishJSON({ url: `http://127.0.0.1:${server.address().port}/hook`, body: { n: 1 } }).catch(reject);
    });
  });
  assert.equal(request.body, '{"n":1}');
  const signed = { signature: request.headers["upstash-signature"], body: request.body, url: request.url };
  assert.equal(await new Receiver().verify(signed), true);
  await assert.rejects(new Receiver().verify({ ...signed, body: "forged" }));
  const { logs } = await new Client().logs({ messageIds: [request.headers["upstash-message-id"]] });
  assert.ok(logs.length > 0);
  assert.ok(said.some((line) => line.includes(`Server already running at ${base}`)), said.join("\n"));
});
