// What was done, for a moment at the edge of the page, with the way to what came of it, or back.
import { signal } from "@preact/signals";
import { href, type Query } from "../router";

/** Follow is a link to what came of an act, or what undoes it. */
export type Follow = { name: string; to: string } | { name: string; undo: () => Promise<unknown> };
type Toast = { id: number; text: string; kind: "good" | "bad"; follow?: Follow };

export const toasts = signal<Toast[]>([]);
let toastId = 0;
/** drop ends a toast before its time. */
export const drop = (id: number) => {
  toasts.value = toasts.value.filter((t) => t.id !== id);
};
export function toast(text: string, kind: "good" | "bad" = "good", follow?: Follow) {
  const id = ++toastId;
  toasts.value = [...toasts.value.slice(-3), { id, text: text.slice(0, 400), kind, follow }];
  setTimeout(() => drop(id), kind === "bad" || follow ? 9000 : 4000);
}
/** see is a link to a view, for a toast. */
export const see = (name: string, to: string, q: Query): Follow => ({ name, to: href(to, q) });

/** act does something and says how it went; follow is told what came of it. */
export async function act<T>(
  what: string,
  fn: () => Promise<T>,
  follow?: (result: T) => Follow | undefined,
): Promise<boolean> {
  try {
    const result = await fn();
    toast(what, "good", follow?.(result));
    return true;
  } catch (e) {
    toast((e as Error).message, "bad");
    return false;
  }
}
