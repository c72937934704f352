// All of a waterfall, small: a drag chooses a part of its time, moves the part, or moves one of its ends.
import { useEffect, useRef, useState } from "preact/hooks";
import { shade } from "../ui/theme";
import { Brush } from "./axis";
import { paint } from "./canvas";
import { type Dragged, shortest, useDrag } from "./drag";
import type { Bounds, Row } from "./row";
import { inside, isAll } from "./view";

const grip = 8;
type Hold = "new" | "move" | "from" | "to";
type Props = { rows: Row[]; bounds: Bounds; part: Bounds; now: number; look: (part: Bounds) => void };

export function Strip({ rows, bounds, part, now, look }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null),
    hold = useRef<Hold>("new"),
    was = useRef(part),
    [width, measure] = useState(0),
    [drag, put] = useState<Dragged | null>(null);
  const theme = shade.value;
  useEffect(() => {
    const e = canvas.current;
    if (!e) return;
    const size = new ResizeObserver(() => measure(e.clientWidth));
    size.observe(e);
    return () => size.disconnect();
  }, []);
  // What goes on is painted again once it is longer by half a pixel, not each second.
  const painted = useRef(bounds.to),
    step = (bounds.to - bounds.from) / Math.max(2 * width, 1);
  if (Math.abs(bounds.to - painted.current) > step) painted.current = bounds.to;
  useEffect(() => {
    if (canvas.current && width) paint(canvas.current, rows, bounds, now);
  }, [rows, bounds.from, painted.current, width, theme]);
  const length = bounds.to - bounds.from,
    share = (t: number) => (t - bounds.from) / length,
    time = (s: number) => bounds.from + s * length;
  const grab = (at: number, wide: number): Hold => {
    if (isAll(part, bounds)) return "new";
    const from = (at - share(part.from)) * wide,
      to = (at - share(part.to)) * wide;
    if (Math.abs(from) <= grip) return "from";
    if (Math.abs(to) <= grip) return "to";
    return from > 0 && to < 0 ? "move" : "new";
  };
  const apply = (d: Dragged) => {
    const by = (d.to - d.from) * length,
      { from, to } = was.current;
    if (hold.current === "move") look(inside({ from: from + by, to: to + by }, bounds));
    else if (hold.current === "from") look(inside({ from: Math.min(from + by, to - 2), to }, bounds));
    else if (hold.current === "to") look(inside({ from, to: Math.max(to + by, from + 2) }, bounds));
  };
  const on = useDrag({
    begin: (at, wide) => {
      hold.current = grab(at, wide);
      was.current = part;
    },
    move: (d) => (hold.current === "new" ? put(d) : apply(d)),
    end: (d) => {
      put(null);
      if (hold.current !== "new") return;
      if (Math.abs(d.to - d.from) * d.width < shortest) return;
      look({ from: time(Math.min(d.from, d.to)), to: time(Math.max(d.from, d.to)) });
    },
  });
  return (
    <div class="fall-strip" {...on} aria-hidden="true">
      <canvas ref={canvas} />
      {!isAll(part, bounds) && (
        <>
          <i class="fall-shade" style={{ left: 0, width: `${100 * share(part.from)}%` }} />
          <i class="fall-shade" style={{ left: `${100 * share(part.to)}%`, right: 0 }} />
          <i
            class="fall-window"
            style={{ left: `${100 * share(part.from)}%`, width: `${100 * (share(part.to) - share(part.from))}%` }}
          />
        </>
      )}
      {drag && <Brush from={drag.from} to={drag.to} />}
    </div>
  );
}
