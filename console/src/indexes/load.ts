// Search and vector indexes, as the server describes them.
import { list, num, type Reply, run, str, strs } from "../api";
import { step } from "../data/scan";

export const map = (r: Reply): Record<string, Reply> => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};

export type Definition = {
  name: string;
  type: string;
  prefixes: string[];
  language: string;
  state: string;
  suspended: string;
  size: number;
  pending: number;
  documents: number;
  leftOut: number;
  fields: string[][]; // name, type, options
};

/** describe is the definition of an index; null if there is none. */
export async function describe(name: string): Promise<Definition | null> {
  const r = await run("SEARCH.DESCRIBE", name);
  if (r.t === "nil") return null;
  const m = map(r);
  return {
    name: str(m.name),
    type: str(m.type),
    prefixes: m.prefixes ? strs(m.prefixes) : [str(m.stream)].filter(Boolean),
    language: str(m.language),
    state: str(m.state),
    suspended: str(m.suspended),
    size: num(m.indexSize),
    pending: num(m.pendingUpdates),
    documents: num(m.documents),
    leftOut: num(m.documentsLeftOut),
    fields: list(m.schema).map(strs),
  };
}

/** searchIndexes are all of a database: it has at most 100. */
export async function searchIndexes(): Promise<Definition[]> {
  const names = list(await run("SEARCH.LISTINDEXES")).map((r) => str(map(r).name));
  const all = await Promise.all(names.map(describe));
  return all.filter((d) => d !== null);
}

/** aliases are other names of indexes, with the index of each. */
export const aliases = async () => list(await run("SEARCH.LISTALIASES")).map(strs);

export type Vectors = { found: string[]; cursor: string };
const longest = 1000; // milliseconds

/** vectorIndexes looks on for keys that hold vectors, for a moment. */
export async function vectorIndexes(was?: Vectors): Promise<Vectors> {
  const end = performance.now() + longest,
    found = new Set(was?.found);
  let cursor = was?.cursor ?? "0";
  do {
    const part = await step({ pattern: "*", type: "vectorindex" }, cursor, 8192);
    for (const f of part.found) found.add(f.key);
    cursor = part.cursor;
  } while (cursor !== "0" && found.size < 500 && performance.now() < end);
  return { found: [...found].sort(), cursor };
}
