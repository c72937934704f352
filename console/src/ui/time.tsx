// Points in time, as they grow older, or on a clock.
import { effect, signal } from "@preact/signals";
import { msAgo, msStamp, timeModes, times, unixMs } from "../format";

times.value = timeModes.find((m) => m === localStorage.getItem("trireme-times")) ?? "relative";
effect(() => localStorage.setItem("trireme-times", times.value));

/** nextTimes chooses the form of times after the one that is chosen. */
export function nextTimes() {
  times.value = timeModes[(timeModes.indexOf(times.value) + 1) % timeModes.length];
}

export const clock = signal(Date.now());
setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5000);
/** Ago is a point in time: unix milliseconds, or RFC 3339. */
export function Ago({ at }: { at: number | string | undefined }) {
  const ms = unixMs(at);
  if (!ms) return <span class="dim">never</span>;
  const age = msAgo(ms, clock.value),
    stamp = msStamp(ms),
    aged = times.value === "relative";
  return (
    <time dateTime={new Date(ms).toISOString()} title={aged ? stamp : age}>
      {aged ? age : stamp}
    </time>
  );
}
