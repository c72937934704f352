// The rows of a waterfall. Only those within the window are in the page.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Grid } from "./axis";
import { Line } from "./line";
import type { Bounds, Row } from "./row";
import { shown, type Tick } from "./view";

/** high is the height of a row in pixels: css/waterfall.css has it, too. */
const high = 30;

type Props = {
  label: string;
  rows: Row[];
  part: Bounds;
  begin: number;
  times: Tick[];
  now: number;
  /** picked is the place of the selected row, -1 if there is none. */
  picked: number;
  pick: (what: string) => void;
  onKey: (e: KeyboardEvent, page: number) => void;
  onZoom: (factor: number, time: number) => void;
  onPan: (share: number) => void;
  box: RefObject<HTMLDivElement | null>;
};

export function Rows({ label, rows, part, begin, times, now, picked, pick, onKey, onZoom, onPan, box }: Props) {
  const [top, scroll] = useState(0),
    [room, measure] = useState(600);
  const wheel = useRef<(e: WheelEvent) => void>(() => {});
  wheel.current = (e) => {
    const track = box.current?.querySelector(".fall-track")?.getBoundingClientRect();
    if (!track) return;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      const share = Math.min(Math.max((e.clientX - track.left) / track.width, 0), 1);
      onZoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 150), part.from + share * (part.to - part.from));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      onPan((e.deltaX || e.deltaY) / track.width);
    }
  };
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const turn = (w: WheelEvent) => wheel.current(w);
    e.addEventListener("wheel", turn, { passive: false });
    const size = new ResizeObserver(() => measure(e.clientHeight));
    size.observe(e);
    return () => {
      e.removeEventListener("wheel", turn);
      size.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const e = box.current;
    if (!e || picked < 0) return;
    const at = picked * high;
    if (at < e.scrollTop) e.scrollTop = at;
    else if (at + high > e.scrollTop + e.clientHeight) e.scrollTop = at + high - e.clientHeight;
  }, [picked]);
  const { from, to } = shown(rows.length, high, top, room);
  // The selected row stays in the page: it is what assistive technology is told of.
  const places = Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i);
  if (picked >= 0 && (picked < from || picked >= to)) places.push(picked);
  return (
    <div
      ref={box}
      class="fall-rows"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={picked < 0 ? undefined : `fall-${picked}`}
      onScroll={(e) => scroll(e.currentTarget.scrollTop)}
      onKeyDown={(e) => onKey(e, Math.max(1, Math.floor(room / high) - 1))}
    >
      <div role="presentation" class="fall-sheet" style={{ height: `${rows.length * high}px` }}>
        <Grid list={times} />
        {places.map((i) => (
          <Line
            key={rows[i].id}
            row={rows[i]}
            at={i}
            of={rows.length}
            top={i * high}
            part={part}
            begin={begin}
            now={now}
            on={picked >= 0 && rows[i].pick === rows[picked].pick}
            first={i === picked}
            pick={pick}
          />
        ))}
      </div>
    </div>
  );
}
