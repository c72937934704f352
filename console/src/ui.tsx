// What views are made of.

import { signal } from "@preact/signals";
import type {
  ButtonHTMLAttributes,
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { ApiError, lines, plain } from "./api";
import { bytes, msAgo, unixMs } from "./format";
import { href, type Query } from "./router";

type Kids = { children?: ComponentChildren };

// Data.

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

export function Empty({
  icon = "box",
  title,
  children,
  act,
}: Kids & { icon?: string; title: string; act?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h3>{title}</h3>
      {children && <p>{children}</p>}
      {act}
    </div>
  );
}

export function Note({ kind = "info", children }: Kids & { kind?: "info" | "warn" | "bad" | "good" }) {
  return (
    <div class={`note ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      <Icon name={kind === "good" ? "check" : kind === "info" ? "info" : "alert"} />
      <div>{children}</div>
    </div>
  );
}

// Icons are drawn from paths of our own on a grid of 24.
const icons: Record<string, string> = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 4v3h6V4z",
  data: "M4 6c0-4 16-4 16 0s-16 4-16 0v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0",
  cli: "M4 6l6 6-6 6M12 18h8",
  live: "M3 12h4l3-8 4 16 3-8h4",
  messages: "M3 6h18v12H3zM3 7l9 7 9-7",
  dead: "M4 5h16v14H4zM9 10l6 5M15 10l-6 5",
  queues: "M4 6h16M4 12h16M4 18h10",
  flow: "M4 5h16l-6 7v7l-4-2v-5z",
  schedules: "M12 3a9 9 0 100 18 9 9 0 000-18M12 7v5l3 2",
  groups: "M12 4v6M6 20v-4h12v4M12 10v6M10 4h4",
  keys: "M15 9a5 5 0 11-3-3l8-3-2 4 2 2-3 1z",
  runs: "M5 4v16M5 8h8M5 16h13M13 6v4M18 14v4",
  cluster: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  access: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
  lock: "M6 11h12v9H6zM8 11V8a4 4 0 018 0v3",
  alert: "M12 4L2.5 20h19zM12 10v4M12 17v.5",
  info: "M12 3a9 9 0 100 18 9 9 0 000-18M12 11v5M12 8v.5",
  check: "M5 12l5 5 9-10",
  box: "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8",
  menu: "M4 6h16M4 12h16M4 18h16",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8M12 3v2M12 19v2M3 12h2M19 12h2M6 6l1 1M17 17l1 1M6 18l1-1M17 7l1-1",
  moon: "M20 14A8 8 0 0110 4a8 8 0 1010 10z",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  plus: "M12 5v14M5 12h14",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  folder: "M3 6h6l2 2h10v11H3z",
  key: "M15 9a5 5 0 11-3-3l8-3-2 4 2 2-3 1z",
  close: "M6 6l12 12M18 6L6 18",
  refresh: "M19 8A8 8 0 105 15M19 3v5h-5",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  audit: "M6 3h9l4 4v14H6zM9 12h7M9 16h7",
  back: "M15 5l-7 7 7 7",
  down: "M12 4v12M7 11l5 5 5-5M5 20h14",
};
export const Icon = ({ name }: { name: string }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={icons[name] ?? icons.box} />
  </svg>
);

// Controls.

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: "main" | "bad" | "quiet";
  icon?: string;
  busy?: boolean;
};
export function Button({ kind, icon, busy, children, class: more, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={busy || rest.disabled}
      class={["button", kind, more].filter(Boolean).join(" ")}
    >
      {busy ? <span class="spin" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
export const IconButton = ({
  icon,
  label,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { icon: string; label: string }) => (
  <button type="button" {...rest} class="icon-button" aria-label={label} title={label}>
    <Icon name={icon} />
  </button>
);

export function Field({ label, help, children, wide }: Kids & { label: string; help?: string; wide?: boolean }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class={wide ? "field wide" : "field"}>
      <span>{label}</span>
      {children}
      {help && <small>{help}</small>}
    </label>
  );
}
export function Text({ onText, ...rest }: InputHTMLAttributes<HTMLInputElement> & { onText?: (text: string) => void }) {
  return (
    <input
      type="text"
      autoComplete="off"
      spellcheck={false}
      {...rest}
      onInput={(e) => onText?.(e.currentTarget.value)}
    />
  );
}
export function Area({
  onText,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { onText?: (text: string) => void }) {
  return <textarea spellcheck={false} {...rest} onInput={(e) => onText?.(e.currentTarget.value)} />;
}
export function Choose({
  of,
  onText,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { of: (string | [string, string])[]; onText: (text: string) => void }) {
  return (
    <select {...rest} onChange={(e) => onText(e.currentTarget.value)}>
      {of.map((o) => {
        const [v, t] = typeof o === "string" ? [o, o] : o;
        return (
          <option value={v} key={v}>
            {t}
          </option>
        );
      })}
    </select>
  );
}
export const Badge = ({ tone = "plain", children }: Kids & { tone?: string }) => (
  <span class={`badge ${tone}`}>{children}</span>
);
export const A = ({
  to,
  q,
  children,
  class: more,
  ...rest
}: Kids & { to: string; q?: Query; class?: string; [more: string]: unknown }) => (
  <a href={href(to, q)} class={more} {...rest}>
    {children}
  </a>
);
export function Tabs({
  of,
  now,
  to,
}: {
  of: [string, string][];
  now: string;
  to: (name: string) => Query | undefined;
}) {
  return (
    <nav class="tabs" aria-label="Parts of this view">
      {of.map(([name, text]) => (
        <a
          key={name}
          href={href(location.pathname.slice(new URL(document.baseURI).pathname.length - 1), to(name))}
          aria-current={now === name ? "page" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}
export function Copy({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const [done, put] = useState(false);
  return (
    <Button
      kind="quiet"
      icon={done ? "check" : "copy"}
      onClick={async () => {
        await navigator.clipboard?.writeText(typeof text === "string" ? text : text()).then(
          () => {
            put(true);
            setTimeout(() => put(false), 1500);
          },
          () => toast("The browser does not allow copying here", "bad"),
        );
      }}
    >
      {done ? "Copied" : label}
    </Button>
  );
}

export function Page({
  title,
  sub,
  acts,
  children,
}: Kids & { title: string; sub?: ComponentChildren; acts?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Trireme`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {sub && <p>{sub}</p>}
        </div>
        {acts && <div class="acts">{acts}</div>}
      </header>
      {children}
    </>
  );
}
export const Card = ({
  title,
  acts,
  children,
  class: more,
}: Kids & { title?: ComponentChildren; acts?: ComponentChildren; class?: string }) => (
  <section class={`card ${more ?? ""}`}>
    {(title || acts) && (
      <header>
        <h2>{title}</h2>
        {acts && <div class="acts">{acts}</div>}
      </header>
    )}
    {children}
  </section>
);
export const Facts = ({ of }: { of: [string, ComponentChildren][] }) => (
  <dl class="facts">
    {of
      .filter(([, v]) => v !== undefined && v !== "" && v !== null)
      .map(([k, v]) => (
        <div key={k}>
          <dt>{k}</dt>
          <dd>{v}</dd>
        </div>
      ))}
  </dl>
);

type Column<T> = { name: string; of: (row: T) => ComponentChildren; class?: string };
export function Table<T>({
  rows,
  columns,
  id,
  label,
}: {
  rows: T[];
  columns: Column<T>[];
  id: (row: T, i: number) => string;
  label: string;
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.name} scope="col" class={c.class}>
                {c.name.startsWith("-") ? <span class="sr">{c.name.slice(1)}</span> : c.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r, i) => (
            <tr key={id(r, i)}>
              {columns.map((c) => (
                <td key={c.name} class={c.class}>
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

const most = 65536;
/** Code shows text of any length; of long text the beginning, until somebody asks for more. */
export function Code({ text, label, tall }: { text: string; label: string; tall?: boolean }) {
  const [all, put] = useState(most);
  const copy = plain(lines(text.slice(0, all)));
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label} class={tall ? "tall" : ""}>
        <bdi>{copy}</bdi>
      </pre>
      <div class="code-acts">
        {text.length > all && (
          <Button kind="quiet" onClick={() => put(all * 8)}>
            Show more ({bytes(text.length - all)} left)
          </Button>
        )}
        <Copy text={text} />
      </div>
    </div>
  );
}
/** Bytes of a body: JSON is laid out. */
export function Body({ text, label }: { text: string; label: string }) {
  const [raw, put] = useState(false);
  let nice = text;
  if (!raw && text.length < 1 << 20)
    try {
      nice = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      /* not JSON */
    }
  if (!text) return <p class="dim">empty</p>;
  return (
    <>
      {nice !== text || raw ? (
        <label class="check">
          <input type="checkbox" checked={raw} onChange={() => put(!raw)} /> as it is
        </label>
      ) : null}
      <Code text={nice} label={label} />
    </>
  );
}
export function Headers({ of }: { of?: Record<string, string[] | string> }) {
  const rows = Object.entries(of ?? {})
    .flatMap(([name, v]) => (Array.isArray(v) ? v : [v]).map((one) => [name, one] as const))
    .slice(0, 500);
  if (!rows.length) return <p class="dim">none</p>;
  return (
    <dl class="headers">
      {rows.map(([n, v], i) => (
        <div key={i}>
          <dt>
            <bdi>{plain(n)}</bdi>
          </dt>
          <dd>
            <bdi>{plain(String(v)).slice(0, 2000)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

// Time.

export const clock = signal(Date.now());
setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5000);
/** Ago is a point in time: unix milliseconds, or RFC 3339. */
export function Ago({ at }: { at: number | string | undefined }) {
  const ms = unixMs(at);
  if (!ms) return <span class="dim">never</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={new Date(ms).toLocaleString()}>
      {msAgo(ms, clock.value)}
    </time>
  );
}

// What was done, for a moment at the edge of the page.
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

// Dialogs.

/** Dialog closes by its buttons. Esc and a click beside it close it too, unless somebody has typed something into it,
 * or it is kept: then that would be lost. */
export function Dialog({
  title,
  close,
  children,
  wide,
  kept,
}: Kids & { title: string; close: () => void; wide?: boolean; kept?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null),
    typed = useRef(false);
  const leave = () => {
    if (!kept && !typed.current) close();
  };
  useEffect(() => {
    const d = ref.current;
    if (d && !d.open) d.showModal();
    return () => d?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? "wide" : ""}
      aria-label={title}
      onInput={() => {
        typed.current = true;
      }}
      onKeyDown={(e) => {
        if (e.key === "Escape") {
          e.preventDefault();
          leave();
        }
      }}
      onCancel={(e) => {
        if (e.target !== ref.current) return;
        e.preventDefault();
        leave();
      }}
      onClose={() => {
        if (kept && ref.current?.isConnected) ref.current.showModal();
      }}
      onClick={(e) => {
        if (e.target === ref.current) leave();
      }}
    >
      <div class="dialog">
        <header>
          <h2>{title}</h2>
          {!kept && <IconButton icon="close" label="Close" onClick={close} />}
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** What is shown this once: it can't be had again. */
type Once = { title: string; note: string; rows: [name: string, text: string][]; verb: string };
const once = signal<Once | null>(null);
const stay = (e: BeforeUnloadEvent) => e.preventDefault();
/** showOnce shows what can't be had again, until somebody says that it was taken: whatever becomes of the view, of its
 * data and of the session. */
export function showOnce(o: Once) {
  once.value = o;
  window.addEventListener("beforeunload", stay);
}
export function ShownOnce() {
  const o = once.value;
  if (!o) return null;
  const taken = () => {
    once.value = null;
    window.removeEventListener("beforeunload", stay);
  };
  return (
    <Dialog title={o.title} close={taken} kept>
      <Note kind="warn">{o.note}</Note>
      {o.rows.map(([name, text]) => (
        <div key={name} class="node">
          <b>{name}</b>
          <Copy text={text} />
          <span class="mono" style={{ overflowWrap: "anywhere" }}>
            {text}
          </span>
        </div>
      ))}
      <footer>
        <Button kind="main" onClick={taken}>
          {o.verb}
        </Button>
      </footer>
    </Dialog>
  );
}

type Question = {
  title: string;
  text: ComponentChildren;
  name?: string;
  verb: string;
  go: () => Promise<unknown>;
  done?: string;
};
export const question = signal<Question | null>(null);
/** sure asks before something is destroyed; with a name, that has to be typed. */
export const sure = (q: Question) => {
  question.value = q;
};
export function Sure() {
  const q = question.value;
  const [typed, put] = useState("");
  const [busy, wait] = useState(false);
  useEffect(() => put(""), [q]);
  if (!q) return null;
  const close = () => {
    question.value = null;
  };
  return (
    <Dialog title={q.title} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          wait(true);
          const ok = await act(q.done ?? "Done", q.go);
          wait(false);
          if (ok) close();
        }}
      >
        <div class="dialog-text">{q.text}</div>
        {q.name !== undefined && (
          <Field label={`Type ${show(q.name)} to go on`}>
            <Text onText={put} value={typed} data-sure />
          </Field>
        )}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="bad" busy={busy} disabled={q.name !== undefined && typed !== show(q.name)}>
            {q.verb}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
const show = plain;

// Charts.

const colours = () => {
  const s = getComputedStyle(document.documentElement);
  return {
    ink: s.getPropertyValue("--dim").trim(),
    line: s.getPropertyValue("--line").trim(),
    a: s.getPropertyValue("--accent").trim(),
    b: s.getPropertyValue("--second").trim(),
    c: s.getPropertyValue("--bad").trim(),
  };
};
export const theme = signal(localStorage.getItem("trireme-theme") ?? "system");

export function Chart({
  time,
  series,
  unit,
  label,
}: {
  time: number[];
  series: { name: string; data: number[]; tone?: "a" | "b" | "c" }[];
  unit: (n: number) => string;
  label: string;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = theme.value;
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const width = () => box.clientWidth || 300;
    const c = colours();
    const axis = {
      stroke: c.ink,
      grid: { stroke: c.line, width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    plot.current = new uPlot(
      {
        width: width(),
        height: 150,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
        scales: { y: { range: (_u, _min, max) => [0, Math.max(max * 1.15, 0.001)] } },
        axes: [
          { ...axis, values: "{HH}:{mm}", space: 60 },
          { ...axis, size: 62, values: (_u, v) => v.map(unit) },
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
  }, [now, label]);
  useEffect(() => {
    plot.current?.setData([time.map((t) => t / 1000), ...series.map((s) => s.data)]);
  }, [time, series]);
  return (
    <figure class="chart">
      <figcaption>
        <span>{label}</span>
        <span class="legend">
          {series.map((s, i) => (
            <span key={s.name} class={`key-${s.tone ?? (i ? "b" : "a")}`}>
              {s.name} <b>{unit(s.data[s.data.length - 1] ?? 0)}</b>
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
