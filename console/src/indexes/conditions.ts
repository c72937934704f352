// The conditions of a filter, each as a filter of its own.

const most = 20;

/** conditions are the filter itself and, if it has several parts, each of them: of an object its members, of $and, $or,
 * $must and $should their parts. */
export function conditions(filter: string): string[] {
  const whole: unknown = JSON.parse(filter);
  const parts = split(whole);
  const all = parts.length > 1 ? [whole, ...parts] : [whole];
  return all.slice(0, most).map((c) => JSON.stringify(c));
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

function split(f: unknown): unknown[] {
  if (!isObject(f)) return [];
  return Object.entries(f).flatMap(([name, value]) => {
    if (!/^\$(and|or|must|should)$/.test(name)) return [{ [name]: value }];
    return (Array.isArray(value) ? value : [value]).flatMap((v) => (isObject(v) ? split(v) : []));
  });
}
