// Counts of events over time, as views load them.
import { useRef } from "preact/hooks";
import { json } from "../api";
import { type Load, useLoad } from "../ui/load";
import { joined, type Tally } from "./now";

const pages = 10, // of counts that are read at once
  rest = 300_000; // milliseconds until counts of several pages are read again

/** useTally loads the counts of the events that filters choose; states do not count. */
export function useTally(filters: string): Load<Tally> {
  const kept = useRef<{ of: string; at: number; all: Tally } | null>(null); // that took several pages
  return useLoad<Tally>(
    async (poll) => {
      if (poll && kept.current?.of === filters && Date.now() - kept.current.at < rest) return kept.current.all;
      const [all, read] = await tally(filters, poll);
      kept.current = read > 1 ? { of: filters, at: Date.now(), all } : null;
      return all;
    },
    [filters],
    30_000,
  );
}

/** tally reads counts page by page, the newest first, for the time of the first page. */
async function tally(filters: string, poll: boolean): Promise<[all: Tally, pages: number]> {
  const p = new URLSearchParams(filters);
  p.delete("state");
  p.set("groupBy", "time");
  const page = () => json<Tally>(`/v2/events?${p}`, { poll });
  let all = await page();
  let n = 1;
  for (; all.cursor && n < pages; n++) {
    for (const [name, v] of [
      ["fromDate", all.from],
      ["toDate", all.to],
      ["span", all.span],
      ["cursor", all.cursor],
    ])
      p.set(String(name), String(v));
    all = joined(all, await page());
  }
  return [all, n];
}
