// The axis: round times since the beginning. A drag over it chooses a part.
import { useEffect, useRef, useState } from "preact/hooks";
import { msSpan } from "../format";
import { type Dragged, shortest, useDrag } from "./drag";
import type { Bounds } from "./row";
import { ticks } from "./view";

/** tickRoom is the width that the words of a tick take, in pixels. */
const tickRoom = 90;

export function Axis({ part, begin, look }: { part: Bounds; begin: number; look: (part: Bounds) => void }) {
  const box = useRef<HTMLDivElement>(null),
    [width, measure] = useState(600),
    [drag, put] = useState<Dragged | null>(null);
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const size = new ResizeObserver(() => measure(e.clientWidth));
    size.observe(e);
    return () => size.disconnect();
  }, []);
  const length = part.to - part.from;
  const on = useDrag({
    move: put,
    end: (d) => {
      put(null);
      if (Math.abs(d.to - d.from) * d.width < shortest) return;
      const [a, b] = [Math.min(d.from, d.to), Math.max(d.from, d.to)];
      look({ from: part.from + a * length, to: part.from + b * length });
    },
  });
  const most = Math.max(1, Math.floor(width / tickRoom));
  return (
    <div class="fall-axis" aria-hidden="true">
      <div class="fall-ticks" ref={box} {...on}>
        {ticks(part, begin, most).map((t) => (
          <span key={t.at} style={{ left: `${(100 * (t.at - part.from)) / length}%` }}>
            {t.since ? msSpan(t.since) : "0"}
          </span>
        ))}
        {drag && <Brush from={drag.from} to={drag.to} />}
      </div>
    </div>
  );
}

/** Brush is what is chosen while a pointer is dragged. */
export const Brush = ({ from, to }: { from: number; to: number }) => (
  <i class="fall-brush" style={{ left: `${100 * Math.min(from, to)}%`, width: `${100 * Math.abs(to - from)}%` }} />
);
