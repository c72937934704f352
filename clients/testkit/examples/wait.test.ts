import { Client } from "@upstash/workflow";
import { serve as serveWorkflow } from "@upstash/workflow/cloudflare";
import { expect, test } from "vitest";
import { Trireme, serve } from "trireme-testkit";

// The program under test: an order that is cancelled unless it is paid within two days.
const orders = new Map<string, string>();
const order = serveWorkflow<{ id: string }>(async (context) => {
  const { id } = context.requestPayload;
  const { timeout } = await context.waitForEvent("payment", `paid-${id}`, { timeout: "2d" });
  await context.run("close", () => void orders.set(id, timeout ? "cancelled" : "shipped"));
});

test("a wait that times out, and one that does not", async () => {
  const trireme = await Trireme.start();
  const app = await serve((request) => order.fetch(request, trireme.env));
  try {
    const client = new Client(trireme.qstash);
    await client.trigger({ url: app.url, body: { id: "1" } });
    await client.trigger({ url: app.url, body: { id: "2" } });
    await trireme.advance("47h");
    expect(orders.size).toBe(0);

    await client.notify({ eventId: "paid-2" });
    await trireme.waitIdle();
    expect([...orders]).toEqual([["2", "shipped"]]);

    await trireme.advance("1h");
    expect(orders.get("1")).toBe("cancelled");
  } finally {
    await app.close();
    await trireme.stop();
  }
});
