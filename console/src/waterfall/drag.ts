// Pointers that are dragged over a line of time.
import type { HTMLAttributes } from "preact";
import { useRef } from "preact/hooks";

/** Dragged is where a drag began and where it is, as shares of the width. */
export type Dragged = { from: number; to: number; width: number };
type Handlers = Pick<
  HTMLAttributes<HTMLElement>,
  "onPointerDown" | "onPointerMove" | "onPointerUp" | "onPointerCancel"
>;

/** useDrag calls begin, move and end for a drag of the main button or of a finger. */
export function useDrag(on: {
  begin?: (at: number, width: number) => void;
  move: (d: Dragged) => void;
  end: (d: Dragged) => void;
}): Handlers {
  const start = useRef<number | null>(null);
  const where = (e: PointerEvent) => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
    return { at: Math.min(Math.max((e.clientX - box.left) / box.width, 0), 1), width: box.width };
  };
  const drop = (e: PointerEvent, done: boolean) => {
    if (start.current === null) return;
    const { at, width } = where(e),
      from = start.current;
    start.current = null;
    on.end({ from, to: done ? at : from, width });
  };
  return {
    onPointerDown: (e) => {
      if (e.button) return;
      const { at, width } = where(e);
      start.current = at;
      e.currentTarget.setPointerCapture(e.pointerId);
      on.begin?.(at, width);
    },
    onPointerMove: (e) => {
      if (start.current === null) return;
      const { at, width } = where(e);
      on.move({ from: start.current, to: at, width });
    },
    onPointerUp: (e) => drop(e, true),
    onPointerCancel: (e) => drop(e, false),
  };
}

/** shortest is how far a pointer goes in a drag, in pixels: less is a click. */
export const shortest = 4;
