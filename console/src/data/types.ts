// The types of values, and their names.
export const types = ["string", "hash", "list", "set", "zset", "stream", "ReJSON-RL"];
const names: Record<string, string> = { "ReJSON-RL": "JSON", zset: "sorted set", vectorindex: "vectors" };
export const typeName = (t: string) => names[t] ?? t;
