// What an app needs to use this cluster: variables and a few lines, for each service and language.

/** Place is where the cluster is reached. Token is empty as long as nobody has filled it in. */
export type Place = { url: string; resp: string; redisToken: string; messagesToken: string };
export type Service = "Keyspace" | "Messages" | "Workflows";
export type Snippet = { name: string; install?: string; code: string };

const or = (token: string, name: string) => token || `<${name}>`;

/** variables are those that clients read. */
export function variables(p: Place, of: Service): string {
  const redis = or(p.redisToken, "token of the database"),
    messages = or(p.messagesToken, "messages token");
  if (of === "Keyspace")
    return [
      `UPSTASH_REDIS_REST_URL="${p.url}"`,
      `UPSTASH_REDIS_REST_TOKEN="${redis}"`,
      `REDIS_URL="redis://default:${encodeURIComponent(redis)}@${p.resp}"`,
    ].join("\n");
  return [`QSTASH_URL="${p.url}"`, `QSTASH_TOKEN="${messages}"`].join("\n");
}

export function snippets(p: Place, of: Service): Snippet[] {
  if (of === "Keyspace") return keyspace(p);
  return of === "Messages" ? messages(p) : workflows(p);
}

const keyspace = (p: Place): Snippet[] => [
  {
    name: "TypeScript",
    install: "npm install @upstash/redis",
    code: `import { Redis } from "@upstash/redis";

const redis = Redis.fromEnv();
await redis.set("greeting", "hello");
console.log(await redis.get("greeting"));`,
  },
  {
    name: "Next.js",
    install: "npm install @upstash/redis",
    code: `// app/api/visits/route.ts
import { Redis } from "@upstash/redis";

const redis = Redis.fromEnv();

export async function GET() {
  return Response.json({ visits: await redis.incr("visits") });
}`,
  },
  {
    name: "Python",
    install: "pip install redis",
    code: `import os
import redis

r = redis.from_url(os.environ["REDIS_URL"])
r.set("greeting", "hello")
print(r.get("greeting"))`,
  },
  {
    name: "Go",
    install: "go get github.com/redis/go-redis/v9",
    code: `opt, err := redis.ParseURL(os.Getenv("REDIS_URL"))
if err != nil {
	log.Fatal(err)
}
rdb := redis.NewClient(opt)
if err := rdb.Set(ctx, "greeting", "hello", 0).Err(); err != nil {
	log.Fatal(err)
}`,
  },
  {
    name: "curl",
    code: `curl ${p.url} \\
  -H "Authorization: Bearer $UPSTASH_REDIS_REST_TOKEN" \\
  -d '["SET","greeting","hello"]'`,
  },
  { name: "redis-cli", code: 'redis-cli -u "$REDIS_URL" SET greeting hello' },
];

const messages = (p: Place): Snippet[] => [
  {
    name: "TypeScript",
    install: "npm install @upstash/qstash",
    code: `import { Client } from "@upstash/qstash";

const client = new Client();
await client.publishJSON({
  url: "https://example.com/api/orders",
  body: { order: 4711 },
  retries: 3,
});`,
  },
  {
    name: "Next.js",
    install: "npm install @upstash/qstash",
    code: `// app/api/orders/route.ts: deliveries are signed
import { verifySignatureAppRouter } from "@upstash/qstash/nextjs";

export const POST = verifySignatureAppRouter(async (request: Request) => {
  const { order } = await request.json();
  return Response.json({ done: order });
});`,
  },
  {
    name: "Python",
    install: "pip install requests",
    code: `import os
import requests

requests.post(
    os.environ["QSTASH_URL"] + "/v2/publish/https://example.com/api/orders",
    headers={"Authorization": "Bearer " + os.environ["QSTASH_TOKEN"], "Svc-Retries": "3"},
    json={"order": 4711},
).raise_for_status()`,
  },
  {
    name: "Go",
    code: `req, err := http.NewRequest(http.MethodPost,
	os.Getenv("QSTASH_URL")+"/v2/publish/https://example.com/api/orders",
	strings.NewReader(\`{"order":4711}\`))
if err != nil {
	log.Fatal(err)
}
req.Header.Set("Authorization", "Bearer "+os.Getenv("QSTASH_TOKEN"))
req.Header.Set("Svc-Retries", "3")
resp, err := http.DefaultClient.Do(req)`,
  },
  {
    name: "curl",
    code: `curl ${p.url}/v2/publish/https://example.com/api/orders \\
  -H "Authorization: Bearer $QSTASH_TOKEN" \\
  -H "Svc-Retries: 3" \\
  -d '{"order":4711}'`,
  },
];

const workflows = (p: Place): Snippet[] => [
  {
    name: "Next.js",
    install: "npm install @upstash/workflow",
    code: `// app/api/checkout/route.ts
import { serve } from "@upstash/workflow/nextjs";

export const { POST } = serve<{ order: number }>(async (context) => {
  const { order } = context.requestPayload;
  await context.run("charge", () => charge(order));
  await context.sleep("a day", "1d");
  await context.run("ask for a review", () => askForReview(order));
});`,
  },
  {
    name: "TypeScript",
    install: "npm install @upstash/workflow",
    code: `import { Client } from "@upstash/workflow";

const client = new Client({ baseUrl: process.env.QSTASH_URL, token: process.env.QSTASH_TOKEN });
const { workflowRunId } = await client.trigger({
  url: "https://example.com/api/checkout",
  body: { order: 4711 },
});`,
  },
  {
    name: "curl",
    code: `curl ${p.url}/v2/trigger/https://example.com/api/checkout \\
  -H "Authorization: Bearer $QSTASH_TOKEN" \\
  -d '{"order":4711}'`,
  },
];
