// Points in time, as they grow older.
import { signal } from "@preact/signals";
import { msAgo, unixMs } from "../format";

export const clock = signal(Date.now());
setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5000);
/** Ago is a point in time: unix milliseconds, or RFC 3339. */
export function Ago({ at }: { at: number | string | undefined }) {
  const ms = unixMs(at);
  if (!ms) return <span class="dim">never</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={new Date(ms).toLocaleString()}>
      {msAgo(ms, clock.value)}
    </time>
  );
}
