// Paints all spans of a waterfall on a small canvas.
import type { Bounds, Kind, Row } from "./row";

const tokens: Record<Kind, string> = {
  work: "--span-work",
  call: "--span-call",
  run: "--span-run",
  sleep: "--span-wait",
  event: "--span-wait",
  retry: "--warn",
  queue: "--span-wait",
};

/** paint draws one line for each row, as high as there is room. */
export function paint(canvas: HTMLCanvasElement, rows: Row[], all: Bounds, now: number) {
  const c = canvas.getContext("2d");
  if (!c) return;
  const dense = devicePixelRatio || 1,
    width = canvas.clientWidth,
    height = canvas.clientHeight,
    style = getComputedStyle(canvas);
  canvas.width = Math.round(width * dense);
  canvas.height = Math.round(height * dense);
  c.scale(dense, dense);
  const colours = Object.fromEntries(Object.entries(tokens).map(([k, name]) => [k, style.getPropertyValue(name)])),
    bad = style.getPropertyValue("--bad"),
    each = height / Math.max(rows.length, 4),
    thick = Math.min(Math.max(each * 0.7, 1), 5),
    length = all.to - all.from;
  for (const [i, r] of rows.entries()) {
    for (const s of r.spans) {
      const x = ((s.from - all.from) / length) * width,
        to = (((s.to ?? now) - all.from) / length) * width;
      c.fillStyle = s.failed ? bad : colours[s.kind];
      c.fillRect(x, i * each, Math.max(to - x, 1), thick);
    }
  }
}
