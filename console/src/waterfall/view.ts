// What of a waterfall is seen: a part of its time, and the row that is selected.
import type { Bounds, Row } from "./row";

/** least is the shortest time that can be looked at, in milliseconds. */
const least = 2;

/** inside moves and shortens a part so that it is within bounds. */
export function inside(part: Bounds, all: Bounds): Bounds {
  const length = Math.min(Math.max(part.to - part.from, least), Math.max(all.to - all.from, least));
  const from = Math.min(Math.max(part.from, all.from), Math.max(all.to - length, all.from));
  return { from, to: from + length };
}

/** zoom makes a part shorter (factor below 1) or longer. The time at stays where it is. */
export function zoom(part: Bounds, all: Bounds, factor: number, at: number): Bounds {
  const length = Math.min(Math.max((part.to - part.from) * factor, least), all.to - all.from);
  const share = (at - part.from) / (part.to - part.from);
  return inside({ from: at - share * length, to: at + (1 - share) * length }, all);
}

/** pan moves a part by a share of its length. */
export function pan(part: Bounds, all: Bounds, share: number): Bounds {
  const by = (part.to - part.from) * share;
  return inside({ from: part.from + by, to: part.to + by }, all);
}

/** around shows a time with some room on both sides. */
export function around(from: number, to: number, all: Bounds): Bounds {
  const room = Math.max((to - from) * 0.15, least);
  return inside({ from: from - room, to: to + room }, all);
}

/** isAll reports whether a part is everything. */
export const isAll = (part: Bounds, all: Bounds) => part.from <= all.from && part.to >= all.to;

export type Act =
  | { act: "select"; by: number }
  | { act: "end"; last: boolean }
  | { act: "zoom"; factor: number }
  | { act: "pan"; share: number }
  | { act: "fit" | "step" | "open" | "close" };

/** keyAct is what a key does; null for keys that do nothing here. */
export function keyAct(key: string, page: number): Act | null {
  switch (key) {
    case "ArrowDown":
      return { act: "select", by: 1 };
    case "ArrowUp":
      return { act: "select", by: -1 };
    case "PageDown":
      return { act: "select", by: page };
    case "PageUp":
      return { act: "select", by: -page };
    case "Home":
      return { act: "end", last: false };
    case "End":
      return { act: "end", last: true };
    case "ArrowLeft":
      return { act: "pan", share: -0.2 };
    case "ArrowRight":
      return { act: "pan", share: 0.2 };
    case "+":
    case "=":
      return { act: "zoom", factor: 0.6 };
    case "-":
      return { act: "zoom", factor: 1 / 0.6 };
    case "0":
      return { act: "fit" };
    case "z":
      return { act: "step" };
    case "Enter":
      return { act: "open" };
    case "Escape":
      return { act: "close" };
  }
  return null;
}

/** moved is the place of the row that is so many rows that can be selected from another; -1 if there is none. Rows that
 * select the same are one. */
export function moved(rows: Row[], at: number, by: number): number {
  const step = by < 0 ? -1 : 1;
  let left = Math.abs(by),
    last = at >= 0 && rows[at]?.pick !== undefined ? at : -1;
  for (let i = at < 0 && step < 0 ? rows.length - 1 : at + step; i >= 0 && i < rows.length && left > 0; i += step) {
    if (rows[i].pick === undefined || rows[i].pick === rows[i - 1]?.pick) continue;
    last = i;
    left--;
  }
  return last;
}

/** Tick is a place on the axis, as a share of it. The words of a last one stand before it. */
export type Tick = { since: number; share: number; last?: boolean };
const nice = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5,
  216e5, 432e5, 864e5, 1728e5, 6048e5, 12096e5, 2592e6, 7776e6, 31536e6,
];
/** ticks are round times since the beginning, at most so many. */
export function ticks(part: Bounds, begin: number, most: number): Tick[] {
  const length = part.to - part.from,
    year = nice[nice.length - 1],
    every = nice.find((n) => length / n <= most) ?? year * Math.ceil(length / year / most);
  const list: Tick[] = [];
  for (let since = Math.ceil((part.from - begin) / every) * every; begin + since <= part.to; since += every)
    list.push({ since, share: (begin + since - part.from) / length });
  return list;
}

/** shown are the places of the rows that are within a window, and some more on both sides. */
export function shown(
  count: number,
  height: number,
  top: number,
  room: number,
  more = 8,
): { from: number; to: number } {
  const from = Math.max(0, Math.floor(top / height) - more);
  return { from, to: Math.min(count, Math.ceil((top + room) / height) + more) };
}
