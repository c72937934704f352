// What views load: at once, again and again while they are seen, and what they show meanwhile.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api";
import { Button } from "./controls";
import { Empty, Note } from "./layout";
import { clock } from "./time";

export type Load<T> = { data?: T; error?: ApiError; busy: boolean; again: () => Promise<void> };

/** useLoad loads at once, when deps change, and every so many milliseconds while the page is looked at. */
export function useLoad<T>(
  fn: (poll: boolean, signal: AbortSignal) => Promise<T>,
  deps: unknown[],
  every = 0,
): Load<T> {
  const [state, put] = useState<{ data?: T; error?: ApiError; busy: boolean }>({ busy: true });
  const turn = useRef(0);
  const last = useRef(fn);
  last.current = fn;
  const load = async (poll: boolean, signal: AbortSignal) => {
    const mine = ++turn.current;
    try {
      const data = await last.current(poll, signal);
      if (mine !== turn.current) return;
      clock.value = Date.now(); // what is shown is not older than the time that is told with it
      put({ data, busy: false });
    } catch (e) {
      if (mine !== turn.current || (e as Error).name === "AbortError") return;
      const error = e instanceof ApiError ? e : new ApiError(0, String((e as Error).message ?? e));
      put((was) => ({ data: poll ? was.data : undefined, error, busy: false }));
    }
  };
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    put({ busy: true });
    load(false, signal);
    let timer = 0;
    const tick = async () => {
      if (!document.hidden) await load(true, signal);
      if (!signal.aborted) timer = window.setTimeout(tick, every);
    };
    const seen = () => {
      if (!document.hidden && every) load(true, signal);
    };
    if (every) {
      timer = window.setTimeout(tick, every);
      document.addEventListener("visibilitychange", seen);
    }
    return () => {
      abort.current.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, deps);
  return { ...state, again: () => load(false, abort.current.signal) };
}

/** Loaded shows what was loaded, or why it was not. */
export function Loaded<T>({
  of,
  children,
  empty,
  isEmpty,
}: {
  of: Load<T>;
  children: (data: T) => ComponentChildren;
  empty?: ComponentChildren;
  isEmpty?: (data: T) => boolean;
}) {
  if (of.data !== undefined) {
    return (
      <>
        {of.error && <Note kind="warn">{of.error.message}</Note>}
        {isEmpty?.(of.data) ? empty : children(of.data)}
      </>
    );
  }
  if (of.error) return <Failed error={of.error} again={of.again} />;
  return (
    <div class="loading" role="status">
      <span class="spin" aria-hidden="true" /> Loading
    </div>
  );
}

export function Failed({ error, again }: { error: ApiError; again?: () => void }) {
  if (error.denied || error.status === 401) {
    return (
      <Empty icon="lock" title="Your credential does not open this">
        {error.message}
      </Empty>
    );
  }
  return (
    <Empty icon="alert" title="This could not be loaded" act={again && <Button onClick={again}>Try again</Button>}>
      {error.message}
    </Empty>
  );
}
