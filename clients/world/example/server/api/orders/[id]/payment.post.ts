// POST /api/orders/7/payment {"amount": 3} pays an order; 404 if it does not wait for that.
import { defineEventHandler, getRouterParam } from "nitro/h3";
import { resumeHook } from "workflow/api";
import { paymentToken } from "../../../../workflows/order";

export default defineEventHandler(async (event) => {
  const payment = await event.req.json();
  try {
    const { runId } = await resumeHook(paymentToken(getRouterParam(event, "id") ?? ""), payment);
    return { runId };
  } catch (e) {
    if ((e as Error).name === "HookNotFoundError") return new Response("this order waits for no payment", { status: 404 });
    throw e;
  }
});
