// Parts of a value, loaded page by page: never the whole of a large one.
import { useState } from "preact/hooks";
import { useLoad } from "../ui/load";

/** Row is an element of a value. Long is the size of one that is too long to be loaded with the others. */
export type Row = { id: string; cells: string[]; long?: number };
export type Part = { rows: Row[]; next?: string };

export const page = 100;
const longest = 700; // milliseconds of a search for elements that match

/** gather looks on until it has a page of elements, or has looked for a moment. */
export async function gather(at: string, look: (at: string) => Promise<Part>): Promise<Part> {
  const end = performance.now() + longest,
    rows: Row[] = [];
  let next: string | undefined = at;
  do {
    const part: Part = await look(next);
    rows.push(...part.rows);
    next = part.next;
  } while (next !== undefined && rows.length < page && performance.now() < end);
  return { rows, next };
}

/** step is how many elements one call of a scan looks at: more of them where few will match. */
export const step = (text: string) => String(text ? 10 * page : page);

/** glob is the pattern of what somebody typed: a part of a name, unless it is a pattern itself. */
export const glob = (b: string) => (!b ? "*" : /[*?[]/.test(b) ? b : `*${b.replace(/\\/g, "\\\\")}*`);

/** usePages loads the first page, again when what it is asked of changes, and more when somebody wants them. */
export function usePages(fetch: (at: string) => Promise<Part>, of: string) {
  const [rest, add] = useState<{ of: string; rows: Row[]; next?: string }>();
  const load = useLoad(async () => {
    const p = await fetch("");
    add(undefined);
    return p;
  }, [of]);
  const tail = rest?.of === of ? rest : undefined;
  const next = tail ? tail.next : load.data?.next;
  const [busy, wait] = useState(false);
  return {
    load,
    rows: [...(load.data?.rows ?? []), ...(tail?.rows ?? [])],
    next,
    busy,
    more: async () => {
      wait(true);
      try {
        const p = await fetch(next ?? "");
        add((was) => ({ of, rows: [...(was?.of === of ? was.rows : []), ...p.rows], next: p.next }));
      } finally {
        wait(false);
      }
    },
  };
}
export type Pages = ReturnType<typeof usePages>;
