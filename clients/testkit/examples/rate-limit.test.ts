import { Redis } from "@upstash/redis";
import { expect, test } from "vitest";
import { Trireme } from "trireme-testkit";

// The program under test: three requests a minute for a user, counted in a key that expires.
async function allowed(redis: Redis, user: string): Promise<boolean> {
  const key = `requests:${user}`;
  const [count] = await redis.multi().incr(key).expire(key, 60, "NX").exec<[number, number]>();
  return count <= 3;
}

test("a rate limit", async () => {
  const trireme = await Trireme.start();
  try {
    const redis = new Redis(trireme.redis);
    const first: boolean[] = [];
    for (let i = 0; i < 5; i++) first.push(await allowed(redis, "ann"));
    expect(first).toEqual([true, true, true, false, false]);
    expect(await allowed(redis, "bob")).toBe(true);

    await trireme.advance("59s");
    expect(await allowed(redis, "ann")).toBe(false);
    await trireme.advance("1s");
    expect(await allowed(redis, "ann")).toBe(true);
  } finally {
    await trireme.stop();
  }
});
