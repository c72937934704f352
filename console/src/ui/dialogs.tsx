// Dialogs: forms, the question before something is destroyed, what is shown once.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { plain } from "../api";
import { Button, Copy, Field, IconButton, type Kids, Text } from "./controls";
import { Note } from "./layout";
import { act } from "./toasts";

/** Dialog closes by its buttons. Esc and a click beside it close it too, unless somebody has typed something into it,
 * or it is kept: then that would be lost. Of a light one nothing is lost. */
export function Dialog({
  title,
  close,
  children,
  wide,
  kept,
  light,
}: Kids & { title: string; close: () => void; wide?: boolean; kept?: boolean; light?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null),
    typed = useRef(false);
  const leave = () => {
    if (!kept && (light || !typed.current)) close();
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

type FormDialogProps = Kids & {
  title: string;
  close: () => void;
  wide?: boolean;
  verb: string; // of the button that submits
  said: string; // when it is done
  go: () => Promise<unknown>;
  then?: () => void; // when it is done, behind the dialog
};

/** FormDialog holds the fields of a form. It closes when what it is for is done; an error leaves it open. */
export const FormDialog = ({ title, close, children, wide, verb, said, go, then }: FormDialogProps) => (
  <Dialog title={title} close={close} wide={!!wide}>
    <form
      onSubmit={async (e) => {
        e.preventDefault();
        if (!(await act(said, go))) return;
        close();
        then?.();
      }}
    >
      {children}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="main">
          {verb}
        </Button>
      </footer>
    </form>
  </Dialog>
);

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
