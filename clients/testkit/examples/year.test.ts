import { Client as Messages } from "@upstash/qstash";
import { Client } from "@upstash/workflow";
import { serve as serveWorkflow } from "@upstash/workflow/cloudflare";
import { expect, test } from "vitest";
import { Trireme, serve } from "trireme-testkit";

const ended: number[] = [];
const yearly = serveWorkflow(async (context) => {
  await context.sleep("a year", "365d");
  await context.run("end", () => void ended.push(1));
});

test("with the clock auto a sleep of a year ends by itself", async () => {
  const trireme = await Trireme.start();
  const app = await serve((request) => yearly.fetch(request, trireme.env));
  try {
    const began = Number(await trireme.now());
    await trireme.auto();
    const client = new Client(trireme.qstash);
    const { workflowRunId } = await client.trigger({ url: app.url });
    await expect.poll(async () => (await client.logs({ workflowRunId })).runs[0]?.workflowState, { timeout: 120_000 }).toBe("RUN_SUCCESS");
    expect(ended).toEqual([1]);
    expect(Number(await trireme.now()) - began).toBeGreaterThanOrEqual(365 * 86_400_000);
  } finally {
    await app.close();
    await trireme.stop();
  }
});

test("two servers at once don't disturb one another, and a reset empties one of them", async () => {
  const [one, other] = await Promise.all([Trireme.start(), Trireme.start()]);
  try {
    const sink = one.sink("later");
    await new Messages(one.qstash).publish({ url: sink.url, body: "x", delay: "1d" });
    const before = await other.now();
    await one.advance("1d");
    expect((await sink.received()).map((r) => r.body)).toEqual(["x"]);
    expect(await one.deliveries({ url: sink.url })).toHaveLength(1);
    expect(await other.deliveries()).toEqual([]);
    expect(await other.now()).toEqual(before);
    await one.reset();
    expect(await one.deliveries()).toEqual([]);
  } finally {
    await Promise.all([one.stop(), other.stop()]);
  }
});
