// An order: its items are reserved in parallel, it waits for the payment, and is packed item by item. Whoever watches it reads its progress.
import { createHook, getWritable, sleep } from "workflow";

export interface Item {
  name: string;
  price: number;
}

export interface Payment {
  amount: number;
}

export const paymentToken = (orderId: string) => `payment:${orderId}`;

async function report(line: string): Promise<void> {
  "use step";
  const writer = getWritable<string>().getWriter();
  await writer.write(line);
  writer.releaseLock();
}

async function reserve(item: Item): Promise<number> {
  "use step";
  return item.price;
}

async function pack(items: Item[]): Promise<void> {
  "use step";
  const writer = getWritable<string>().getWriter();
  for (const { name } of items) await writer.write(`packed ${name}`);
  writer.releaseLock();
}

async function finish(line: string): Promise<void> {
  "use step";
  const writer = getWritable<string>().getWriter();
  await writer.write(line);
  await writer.close();
}

export async function order(orderId: string, items: Item[]): Promise<{ orderId: string; total: number; paid: number }> {
  "use workflow";
  const payment = createHook<Payment>({ token: paymentToken(orderId) });
  await report("received");

  const prices = await Promise.all(items.map(reserve));
  const total = prices.reduce((sum, price) => sum + price, 0);
  await report(`reserved for ${total}`);

  const { amount } = await payment;
  await report(`paid ${amount}`);

  await sleep("1s"); // the warehouse opens
  await pack(items);
  await finish("sent");
  return { orderId, total, paid: amount };
}
