// The workflow of an order: it prices the order, reserves every item at the same time,
// waits for somebody's approval, charges over HTTP, and returns a receipt. Kill this
// program or any node at any point and start it again: the run resumes after its last
// finished step.
import { serve as listen } from "@hono/node-server";
import { serve } from "@upstash/workflow/hono";
import { Hono } from "hono";

// start serves the app and gives its server. Clients and SDK read QSTASH_URL,
// QSTASH_TOKEN and the signing keys from the environment.
export const start = (port, ready) => {
  const base = `http://127.0.0.1:${port}`;
  const app = new Hono();

  app.post(
    "/order",
    serve(
      async (context) => {
        const { items } = context.requestPayload;
        const price = await context.run("price", () => items.reduce((sum, item) => sum + item.price, 0));
        const reserved = await Promise.all(items.map((item) => context.run(`reserve ${item.name}`, () => `${item.name} is reserved`)));
        const { eventData, timeout } = await context.waitForEvent("approval", `approve-${context.workflowRunId}`, { timeout: "1h" });
        if (timeout || !eventData.approved) return { refused: true };
        await context.sleep("let it settle", 1);
        const { status, body } = await context.call("charge", { url: `${base}/bank`, method: "POST", body: JSON.stringify({ price }), retries: 3 });
        return { price, reserved, paid: status === 200, receipt: body.receipt, by: eventData.by };
      },
      { url: `${base}/order`, failureFunction: async ({ failResponse }) => console.error("the order failed:", failResponse) },
    ),
  );

  // The bank refuses its first call, so that a retry is to be seen.
  let calls = 0;
  app.post("/bank", async (c) => {
    const { price } = await c.req.json();
    return ++calls === 1 ? c.text("busy", 503) : c.json({ receipt: `paid ${price}` });
  });

  return listen({ fetch: app.fetch, hostname: "127.0.0.1", port }, ready);
};

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const port = Number(process.env.PORT ?? 3000);
  start(port, () => console.log(`the order workflow is at http://127.0.0.1:${port}/order`));
}
