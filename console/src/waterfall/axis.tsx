// The axis: round times since the beginning. A drag over it chooses a part.
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { msSpan } from "../format";
import { type Dragged, shortest, useDrag } from "./drag";
import type { Bounds } from "./row";
import { type Tick, ticks } from "./view";

/** tickRoom is the width that the words of a tick take, in pixels. */
const tickRoom = 90;

/** useTicks are round times, as many as there is room for in the box. */
export function useTicks(part: Bounds, begin: number): { box: RefObject<HTMLDivElement | null>; list: Tick[] } {
  const box = useRef<HTMLDivElement>(null),
    [width, measure] = useState(600);
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const size = new ResizeObserver(() => measure(e.clientWidth));
    size.observe(e);
    return () => size.disconnect();
  }, []);
  const room = tickRoom / width / 2;
  const list = ticks(part, begin, Math.max(1, Math.floor(width / tickRoom)));
  return { box, list: list.map((t) => ({ ...t, last: t.share > 1 - room })) };
}

type Props = { part: Bounds; box: RefObject<HTMLDivElement | null>; list: Tick[]; look: (part: Bounds) => void };

export function Axis({ part, box, list, look }: Props) {
  const [drag, put] = useState<Dragged | null>(null),
    length = part.to - part.from;
  const on = useDrag({
    move: put,
    end: (d) => {
      put(null);
      if (Math.abs(d.to - d.from) * d.width < shortest) return;
      const [a, b] = [Math.min(d.from, d.to), Math.max(d.from, d.to)];
      look({ from: part.from + a * length, to: part.from + b * length });
    },
  });
  return (
    <div class="fall-axis" aria-hidden="true">
      <div class="fall-ticks" ref={box} {...on}>
        {list.map((t) => (
          <span key={t.since} class={t.last ? "last" : ""} style={{ left: `${100 * t.share}%` }}>
            <b>{t.since ? msSpan(t.since) : "0"}</b>
          </span>
        ))}
        {drag && <Brush from={drag.from} to={drag.to} />}
      </div>
    </div>
  );
}

/** Grid are lines through all rows at the times of the axis. */
export const Grid = ({ list }: { list: Tick[] }) => (
  <div class="fall-grid" aria-hidden="true">
    {list.map((t) => (
      <i key={t.since} style={{ left: `${100 * t.share}%` }} />
    ))}
  </div>
);

/** Brush is what is chosen while a pointer is dragged. */
export const Brush = ({ from, to }: { from: number; to: number }) => (
  <i class="fall-brush" style={{ left: `${100 * Math.min(from, to)}%`, width: `${100 * Math.abs(to - from)}%` }} />
);
