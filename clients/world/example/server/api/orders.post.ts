// POST /api/orders {"id": "7", "items": [{"name": "tea", "price": 3}]} starts an order.
import { defineEventHandler } from "nitro/h3";
import { start } from "workflow/api";
import { type Item, order } from "../../workflows/order";

export default defineEventHandler(async ({ req }) => {
  const { id, items } = (await req.json()) as { id: string; items: Item[] };
  const { runId } = await start(order, [id, items]);
  return { runId };
});
