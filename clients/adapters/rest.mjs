// The REST form of commands in front of a redis-server, as far as published clients use it: one command, pipelines and transactions
// as JSON, replies in base64 for those who ask. It lets a client that speaks HTTP run on redis-server for comparison.
import http from "node:http";

const encoded = (value) => {
  if (typeof value === "string") return value === "OK" ? value : Buffer.from(value).toString("base64");
  return Array.isArray(value) ? value.map(encoded) : value;
};

// words are those of a row. A flag of scripts that only some services know is left out: redis-server would refuse it.
function words(row) {
  const all = row.map((word) => (typeof word === "string" ? word : JSON.stringify(word)));
  if (/^eval(_ro)?$/i.test(all[0]) && all.length > 1) all[1] = all[1].replace(/^#!lua flags=allow-key-locking\n/, "\n");
  return all;
}

async function ran(redis, row) {
  try {
    return { result: await redis.call(...words(row)) };
  } catch (e) {
    return { error: e.message };
  }
}

// transaction answers the rows of one MULTI.
async function transaction(redis, rows) {
  const multi = redis.multi();
  for (const row of rows) multi.call(...words(row));
  return (await multi.exec()).map(([error, result]) => (error ? { error: error.message } : { result }));
}

async function answer(redis, req) {
  const parts = [];
  for await (const part of req) parts.push(part);
  const body = JSON.parse(Buffer.concat(parts).toString());
  switch (req.url) {
    case "/multi-exec":
      return transaction(redis, body);
    case "/pipeline": {
      const all = [];
      for (const row of body) all.push(await ran(redis, row));
      return all;
    }
  }
  return ran(redis, body);
}

// rest serves the connection, and returns the URL and what ends it.
export async function rest(redis) {
  const server = http.createServer(async (req, res) => {
    const reply = await answer(redis, req).catch((e) => ({ error: e.message }));
    const shown = (one) => ("result" in one && req.headers["upstash-encoding"] === "base64" ? { result: encoded(one.result) } : one);
    res.writeHead("error" in reply ? 400 : 200, { "Content-Type": "application/json" });
    res.end(JSON.stringify(Array.isArray(reply) ? reply.map(shown) : shown(reply)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
}
