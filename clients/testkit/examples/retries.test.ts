import { Client } from "@upstash/qstash";
import { expect, test } from "vitest";
import { Trireme } from "trireme-testkit";

test("retries with exponential backoff, and then the dead letters", async () => {
  const trireme = await Trireme.start();
  try {
    const orders = trireme.sink("orders");
    await orders.script({ status: 503, body: "not now" });
    const client = new Client(trireme.qstash);
    const began = Number(await trireme.now());
    const { messageId } = await client.publishJSON({ url: orders.url, body: { order: 17 }, retries: 3, retryDelay: "pow(2, retried) * 1000" });

    await trireme.advance("1h");
    const seconds = (await orders.received()).map((r) => (r.at - began) / 1000);
    expect(seconds).toEqual([0, 1, 3, 7]); // 1, 2 and 4 seconds apart

    const { messages } = await client.dlq.listMessages();
    expect(messages.map((m) => [m.messageId, m.responseStatus, m.body])).toEqual([[messageId, 503, '{"order":17}']]);
  } finally {
    await trireme.stop();
  }
});
