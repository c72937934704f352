// Tables: a head that stays in sight, columns whose width can be changed, rows that lead to what they are of.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

/** dense: rows are low. */
export const dense = signal(localStorage.getItem("trireme-rows") === "dense");
dense.subscribe((on) => {
  document.documentElement.dataset.rows = on ? "dense" : "roomy";
  localStorage.setItem("trireme-rows", on ? "dense" : "roomy");
});

export type Column<T> = { name: string; of: (row: T) => ComponentChildren; class?: string };
type Props<T> = { rows: T[]; columns: Column<T>[]; id: (row: T, i: number) => string; label: string };

export function Table<T>({ rows, columns, id, label }: Props<T>) {
  const [widths, put] = useState(() => kept(label));
  const resize = (name: string, width: number | undefined) => {
    const next = { ...widths, [name]: width };
    put(next);
    localStorage.setItem(place(label), JSON.stringify(next));
  };
  return (
    <div class="scroll rows" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.name} scope="col" class={c.class} style={wide(widths[c.name])}>
                {c.name.startsWith("-") ? <span class="sr">{c.name.slice(1)}</span> : c.name}
                {!c.name.startsWith("-") && <Grip resize={(width) => resize(c.name, width)} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r, i) => (
            <tr key={id(r, i)}>
              {columns.map((c) => (
                <td key={c.name} class={c.class} data-label={c.name.replace(/^-.*/, "")} style={wide(widths[c.name])}>
                  {c.of(r)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Widths = Record<string, number | undefined>;
const place = (label: string) => `trireme-columns ${label.slice(0, 40)}`;
function kept(label: string): Widths {
  try {
    return JSON.parse(localStorage.getItem(place(label)) ?? "{}") as Widths;
  } catch {
    return {};
  }
}
const wide = (width: number | undefined) =>
  width === undefined ? undefined : { width: `${width}px`, minWidth: `${width}px`, maxWidth: `${width}px` };

const narrowest = 48; // pixels

/** soon is the time between two presses that give the width back to the browser, in milliseconds. */
const soon = 500;

/** Grip changes the width of a column by a drag; two presses give the width back to the browser. */
function Grip({ resize }: { resize: (width: number | undefined) => void }) {
  const [from, begin] = useState<{ x: number; width: number } | null>(null),
    pressed = useRef(Number.NEGATIVE_INFINITY);
  return (
    <i
      class="grip"
      aria-hidden="true"
      onPointerDown={(e) => {
        const again = e.timeStamp - pressed.current < soon;
        pressed.current = e.timeStamp;
        if (again) return resize(undefined);
        e.currentTarget.setPointerCapture(e.pointerId);
        begin({ x: e.clientX, width: e.currentTarget.parentElement?.offsetWidth ?? 0 });
      }}
      onPointerMove={(e) =>
        from && e.clientX !== from.x && resize(Math.max(narrowest, Math.round(from.width + e.clientX - from.x)))
      }
      onPointerUp={() => begin(null)}
      onPointerCancel={() => begin(null)}
    />
  );
}
