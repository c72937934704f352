// One row of a waterfall: its name, how long it took, its spans.
import { plain } from "../api";
import { msSpan } from "../format";
import { type Bounds, type Row, type Span, took } from "./row";

type Props = {
  row: Row;
  at: number;
  of: number;
  top: number;
  part: Bounds;
  begin: number;
  now: number;
  /** on: it is selected, or belongs to what is. first: it is the one that the keyboard is at. */
  on: boolean;
  first: boolean;
  pick: (what: string) => void;
};

export function Line({ row, at, of, top, part, begin, now, on, first, pick }: Props) {
  const time = took(row, now),
    { pick: what } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and says which option is active.
    <div
      id={`fall-${at}`}
      role="option"
      aria-selected={first}
      aria-disabled={what === undefined}
      aria-setsize={of}
      aria-posinset={at + 1}
      class={on ? "fall-row on" : "fall-row"}
      style={{ transform: `translateY(${top}px)` }}
      onClick={what === undefined ? undefined : () => pick(what)}
    >
      <span class="fall-name" style={{ paddingLeft: `${12 + row.depth * 16}px` }}>
        <i class={`dot ${row.tone}`} />
        <bdi>{plain(row.name.slice(0, 200))}</bdi>
        {row.note && <small class={row.tone}>{row.note}</small>}
      </span>
      <span class="fall-took">{time === null ? "" : msSpan(time)}</span>
      <span class="fall-track" aria-hidden="true">
        {row.spans.map((s, i) => (
          <Bar key={i} of={s} part={part} begin={begin} now={now} />
        ))}
      </span>
    </div>
  );
}

function Bar({ of: s, part, begin, now }: { of: Span; part: Bounds; begin: number; now: number }) {
  const to = s.to ?? Math.max(now, s.from),
    length = part.to - part.from;
  if (to < part.from || s.from > part.to) return null;
  const from = Math.max(s.from, part.from),
    width = Math.min(to, part.to) - from;
  const classes = ["span", s.kind, s.failed && "failed", s.to === undefined && "open"].filter(Boolean).join(" ");
  return (
    <i
      class={classes}
      style={{ left: `${(100 * (from - part.from)) / length}%`, width: `${(100 * width) / length}%` }}
      title={`${plain(s.text.slice(0, 200))}: ${msSpan(to - s.from)}, after ${msSpan(s.from - begin)}`}
    />
  );
}
