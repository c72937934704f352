// Figures over time, and single ones.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { msOfSeconds, msTick, secondsClock, times } from "../format";
import { A } from "./layout";
import { shade } from "./theme";

const colours = () => {
  const s = getComputedStyle(document.documentElement);
  return {
    ink: s.getPropertyValue("--dim").trim(),
    line: s.getPropertyValue("--line").trim(),
    a: s.getPropertyValue("--accent").trim(),
    b: s.getPropertyValue("--second").trim(),
    c: s.getPropertyValue("--bad").trim(),
    sans: s.getPropertyValue("--sans").trim(),
  };
};

/** picked are the times between two places on a chart, in unix milliseconds. */
const picked = (u: uPlot, left: number, right: number): [number, number] => [
  Math.floor(msOfSeconds(u.posToVal(left, "x"))),
  Math.ceil(msOfSeconds(u.posToVal(right, "x"))),
];

/** powers of two are the steps between ticks of bytes. */
const powers = Array.from({ length: 60 }, (_, i) => 2 ** i);

export function Chart({
  time,
  series,
  unit,
  label,
  bytes,
  pick,
}: {
  time: number[];
  series: { name: string; data: number[]; tone?: "a" | "b" | "c" }[];
  unit: (n: number) => string;
  label: string;
  bytes?: boolean | undefined; // the unit is bytes: ticks are at whole kilobytes, megabytes and so on
  pick?: (from: number, to: number) => void; // a time over which the pointer was dragged, in unix milliseconds
}) {
  const [at, point] = useState<number | null>(null);
  const ref = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = shade.value,
    clocked = times.value;
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const width = () => box.clientWidth || 300;
    const c = colours();
    const axis = {
      stroke: c.ink,
      grid: { stroke: c.line, width: 1 },
      ticks: { show: false },
      font: `11px ${c.sans}`,
    };
    plot.current = new uPlot(
      {
        width: width(),
        height: 150,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 6 }, drag: { x: !!pick, y: false, setScale: false } },
        hooks: {
          setCursor: [(u) => point(u.cursor.idx ?? null)],
          setSelect: [
            (u) => {
              const { left, width } = u.select;
              if (width > 2) pick?.(...picked(u, left, left + width));
            },
          ],
        },
        scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.15 : 1] } },
        axes: [
          {
            ...axis,
            size: 26,
            values: (_u, times, _axis, _space, step) => times.map((t) => secondsClock(t, step)),
            space: 72,
          },
          { ...axis, size: 62, values: (_u, v) => v.map(unit), ...(bytes && { incrs: powers }) },
        ],
        series: [
          {},
          ...series.map((s, i) => ({
            label: s.name,
            stroke: c[s.tone ?? (i ? "b" : "a")],
            fill: i ? undefined : `${c[s.tone ?? "a"]}1f`,
            width: 1.75,
            points: { show: false },
          })),
        ],
      },
      [time.map((t) => t / 1000), ...series.map((s) => s.data)],
      box,
    );
    const size = new ResizeObserver(() => plot.current?.setSize({ width: width(), height: 150 }));
    size.observe(box);
    return () => {
      size.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [now, label, clocked]);
  useEffect(() => {
    plot.current?.setData([time.map((t) => t / 1000), ...series.map((s) => s.data)]);
  }, [time, series]);
  const here = at !== null && at < time.length ? at : time.length - 1;
  return (
    <figure class="chart">
      <figcaption>
        <span>
          {label}
          {here === at && <span class="dim"> at {msTick(time[here], time[time.length - 1] - time[0])}</span>}
        </span>
        <span class="legend">
          {series.map((s, i) => (
            <span key={s.name} class={`key-${s.tone ?? (i ? "b" : "a")}`}>
              {s.name} <b>{unit(s.data[here] ?? 0)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={ref} aria-hidden="true" />
    </figure>
  );
}
export const Stat = ({
  label,
  value,
  tone,
  sub,
  to,
}: {
  label: string;
  value: ComponentChildren;
  tone?: string;
  sub?: ComponentChildren;
  to?: string;
}) => {
  const body = (
    <>
      <span class="stat-label">{label}</span>
      <span class={`stat-value ${tone ?? ""}`}>{value}</span>
      {sub && <span class="stat-sub">{sub}</span>}
    </>
  );
  return to ? (
    <A to={to} class="stat">
      {body}
    </A>
  ) : (
    <div class="stat">{body}</div>
  );
};
