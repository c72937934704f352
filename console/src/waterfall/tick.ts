// Time that goes on while something is drawn live.
import { useEffect, useState } from "preact/hooks";

/** useNow is the time of the cluster: skew is how far its clock is ahead of this machine's. It goes on while live. */
export function useNow(live: boolean, skew: number): number {
  const [now, put] = useState(Date.now() + skew);
  useEffect(() => {
    put(Date.now() + skew);
    if (!live) return;
    const timer = setInterval(() => {
      if (!document.hidden) put(Date.now() + skew);
    }, 1000);
    return () => clearInterval(timer);
  }, [live, skew]);
  return now;
}
