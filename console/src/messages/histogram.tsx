// Outcomes over time: what was delivered and what failed, and when. A part of the time can be chosen.
import { useRef, useState } from "preact/hooks";
import { count, msSpan, msTick, things } from "../format";
import { set } from "../router";
import { Card } from "../ui/layout";
import { type Bin, bins, outcomes, type Tally } from "./now";

/** Histogram shows the outcomes that were counted. */
export function Histogram({ of }: { of?: Tally }) {
  const list = of && bins(of);
  if (!of || !list?.some((b) => b.all)) return null;
  return (
    <Card class="outcomes">
      <Bars of={list} span={of.span} />
      {of.cursor && <p class="dim">Only the newest are counted: there are too many to count all of them at once.</p>}
    </Card>
  );
}

function Bars({ of, span }: { of: Bin[]; span: number }) {
  const box = useRef<HTMLDivElement>(null),
    [at, point] = useState<number | null>(null),
    [from, begin] = useState<number | null>(null);
  const top = Math.max(...of.map((b) => b.all)),
    here = at === null ? null : of[Math.min(at, of.length - 1)],
    range = of.length * span;
  const under = (e: PointerEvent) => {
    const r = (box.current as HTMLDivElement).getBoundingClientRect();
    return Math.max(0, Math.min(of.length - 1, Math.floor(((e.clientX - r.left) / r.width) * of.length)));
  };
  const zoom = (a: number, b: number) =>
    set({ fromDate: String(of[Math.min(a, b)].time), toDate: String(of[Math.max(a, b)].time + span - 1) });
  const key = (e: KeyboardEvent) => {
    const now = at ?? of.length - 1,
      next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: of.length - 1 }[e.key];
    if (e.key === "Enter") zoom(e.shiftKey && from !== null ? from : now, now);
    else if (next === undefined) return;
    else {
      if (!e.shiftKey) begin(null);
      else if (from === null) begin(now);
      point(Math.max(0, Math.min(of.length - 1, next)));
    }
    e.preventDefault();
  };
  const [low, high] = from === null || at === null ? [-1, -1] : [Math.min(from, at), Math.max(from, at)];
  return (
    <figure>
      <figcaption>
        {outcomes.map(([state, name, tone], i) => (
          <span key={state} class={`outcome ${tone}`}>
            {name} <b>{count(of.reduce((n, b) => n + b.of[i], 0))}</b>
          </span>
        ))}
        <span class="dim said" aria-live="polite">
          {here ? said(here, span, range) : "Drag over a time to see what happened then"}
        </span>
      </figcaption>
      <div class="bars-frame">
        <span class="bars-top">{count(top)}</span>
        <div
          ref={box}
          class="bars"
          role="slider"
          tabIndex={0}
          aria-label="Outcomes over time. Arrows move, Enter chooses a time."
          aria-valuemin={0}
          aria-valuemax={of.length - 1}
          aria-valuenow={at ?? of.length - 1}
          aria-valuetext={said(here ?? of[of.length - 1], span, range)}
          onKeyDown={key}
          onPointerDown={(e) => {
            box.current?.setPointerCapture(e.pointerId);
            begin(under(e));
            point(under(e));
          }}
          onPointerMove={(e) => point(under(e))}
          onPointerLeave={() => from === null && point(null)}
          onPointerUp={(e) => {
            if (from !== null) zoom(from, under(e));
            begin(null);
          }}
        >
          {of.map((b, i) => (
            <div key={b.time} class={i === at ? "at" : i >= low && i <= high ? "chosen" : undefined}>
              {outcomes.map(
                ([state, , tone], k) =>
                  b.of[k] > 0 && <i key={state} class={tone} style={{ height: `${(100 * b.of[k]) / top}%` }} />,
              )}
            </div>
          ))}
        </div>
        <div class="bars-foot" aria-hidden="true">
          {[0, 0.25, 0.5, 0.75].map((part) => (
            <span key={part}>{msTick(of[Math.floor(part * of.length)].time, range)}</span>
          ))}
          <span>{msTick(of[of.length - 1].time + span, range)}</span>
        </div>
      </div>
    </figure>
  );
}

/** said is a span of time in words, which begins with seconds if it is shorter than a minute. */
function said(b: Bin, span: number, range: number): string {
  const parts = outcomes.flatMap(([, name], i) => (b.of[i] ? [`${count(b.of[i])} ${name}`] : []));
  return `${msTick(b.time, span < 60_000 ? 0 : range)}, ${msSpan(span)}: ${parts.join(", ") || things(0, "outcome")}`;
}
