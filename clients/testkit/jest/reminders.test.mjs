import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "@upstash/qstash";
import { Redis } from "@upstash/redis";
import { Client as Workflows } from "@upstash/workflow";
import { serve as serveWorkflow } from "@upstash/workflow/cloudflare";
import { Trireme, serve } from "trireme-testkit";

let trireme;
beforeAll(async () => (trireme = await Trireme.start()));
afterAll(() => trireme.stop());

test("a message in an hour", async () => {
  const sink = trireme.sink("jest");
  await new Client(trireme.qstash).publish({ url: sink.url, body: "x", delay: "1h" });
  await trireme.advance("59m");
  expect(await sink.received()).toEqual([]);
  await trireme.advance("1m");
  expect((await sink.received()).map((r) => r.body)).toEqual(["x"]);
});

test("a session that expires", async () => {
  const redis = new Redis(trireme.redis);
  await redis.set("session", "ann", { ex: 1800 });
  await trireme.advance("29m59s");
  expect(await redis.get("session")).toBe("ann");
  await trireme.advance("1s");
  expect(await redis.get("session")).toBeNull();
});

test("a workflow that sleeps a day", async () => {
  let days = 0;
  const { fetch } = serveWorkflow(async (context) => {
    await context.sleep("a day", "1d");
    await context.run("count", () => void days++);
  });
  const app = await serve((request) => fetch(request, trireme.env));
  await new Workflows(trireme.qstash).trigger({ url: app.url });
  await trireme.advance("1d");
  expect(days).toBe(1);
  await app.close();
});
