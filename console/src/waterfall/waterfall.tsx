// A waterfall: rows of spans on a line of time, of which a part can be looked at, and what is selected beside it.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { msSpan } from "../format";
import { Button } from "../ui/controls";
import { Axis, useTicks } from "./axis";
import { Legend } from "./legend";
import { type Bounds, extent, type Row } from "./row";
import { Rows } from "./rows";
import { Strip } from "./strip";
import { type Act, around, inside, isAll, keyAct, moved, pan, zoom } from "./view";

type Props = {
  label: string;
  rows: Row[];
  bounds: Bounds;
  now: number;
  picked?: string;
  pick: (what: string | undefined) => void;
  /** children are what is shown of what is selected. */
  children?: ComponentChildren;
};

export function Waterfall({ label, rows, bounds, now, picked, pick, children }: Props) {
  const [chosen, choose] = useState<Bounds | null>(null),
    panel = useRef<HTMLDivElement>(null),
    list = useRef<HTMLDivElement>(null);
  const part = chosen ? inside(chosen, bounds) : bounds;
  const { box, list: times } = useTicks(part, bounds.from);
  const look = (next: Bounds) => choose(isAll(next, bounds) ? null : next);
  const at = picked === undefined ? -1 : rows.findIndex((r) => r.pick === picked);
  const zoomBy = (factor: number) => look(zoom(part, bounds, factor, (part.from + part.to) / 2));
  const toStep = () => {
    const e = at < 0 ? null : extent(rows[at]);
    if (e) look(around(e.from, e.to ?? now, bounds));
  };
  const close = () => {
    pick(undefined);
    list.current?.focus();
  };
  const go = (a: Act) => {
    if (a.act === "select") pick(rows[moved(rows, at, a.by)]?.pick);
    else if (a.act === "end") pick(rows[moved(rows, a.last ? rows.length : -1, a.last ? -1 : 1)]?.pick);
    else if (a.act === "zoom") zoomBy(a.factor);
    else if (a.act === "pan") look(pan(part, bounds, a.share));
    else if (a.act === "fit") choose(null);
    else if (a.act === "step") toStep();
    else if (a.act === "open") panel.current?.focus();
    else close();
  };
  const key = (e: KeyboardEvent, page: number) => {
    const a = e.ctrlKey || e.metaKey || e.altKey ? null : keyAct(e.key, page);
    if (!a) return;
    e.preventDefault();
    go(a);
  };
  return (
    <div class="fall">
      <div class="fall-bar">
        <Legend rows={rows} />
        <div class="acts push" role="group" aria-label="Part of the time">
          <span class="dim fall-part">{msSpan(part.to - part.from)}</span>
          <Button kind="quiet" icon="minus" aria-label="Zoom out" onClick={() => zoomBy(2)} disabled={!chosen} />
          <Button kind="quiet" icon="plus" aria-label="Zoom in" onClick={() => zoomBy(0.5)} />
          <Button kind="quiet" onClick={toStep} disabled={at < 0}>
            Zoom to selection
          </Button>
          <Button kind="quiet" onClick={() => choose(null)} disabled={!chosen}>
            Show all
          </Button>
        </div>
      </div>
      <Strip rows={rows} bounds={bounds} part={part} now={now} look={look} />
      <div class={children ? "fall-body with-panel" : "fall-body"}>
        <div class="fall-main">
          <Axis part={part} box={box} list={times} look={look} />
          <Rows
            label={label}
            rows={rows}
            part={part}
            begin={bounds.from}
            times={times}
            now={now}
            picked={at}
            pick={pick}
            onKey={key}
            onZoom={(factor, time) => look(zoom(part, bounds, factor, time))}
            onPan={(share) => look(pan(part, bounds, share))}
            box={list}
          />
        </div>
        {children && (
          <div
            class="fall-panel"
            ref={panel}
            tabIndex={0}
            role="region"
            aria-label="Selection"
            onKeyDown={(e) => e.key === "Escape" && close()}
          >
            {children}
          </div>
        )}
      </div>
    </div>
  );
}
