// What was done, for a moment at the edge of the page.
import { signal } from "@preact/signals";

export const toasts = signal<{ id: number; text: string; kind: "good" | "bad" }[]>([]);
let toastId = 0;
export function toast(text: string, kind: "good" | "bad" = "good") {
  const id = ++toastId;
  toasts.value = [...toasts.value.slice(-3), { id, text: text.slice(0, 400), kind }];
  setTimeout(
    () => {
      toasts.value = toasts.value.filter((t) => t.id !== id);
    },
    kind === "bad" ? 9000 : 4000,
  );
}
/** act does something and says how it went. */
export async function act(what: string, fn: () => Promise<unknown>): Promise<boolean> {
  try {
    await fn();
    toast(what);
    return true;
  } catch (e) {
    toast((e as Error).message, "bad");
    return false;
  }
}
