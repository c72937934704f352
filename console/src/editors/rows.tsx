// What the editors of collections share: rows that are loaded piece by piece, and forms for one of them.
import { useState } from "preact/hooks";
import { show } from "../api";
import type { KeyInfo } from "../data/key";
import { bytes, things } from "../format";
import { Area, Button, Field, Text } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { act } from "../ui/toasts";

export type Props = { name: string; info: KeyInfo; changed: () => void; gone: () => void };
export const page = 100;

/** Cell is a value in a table: its beginning, as text. */
export const Cell = ({ of }: { of: string }) => (
  <bdi class="mono">
    {show(of.slice(0, 300))}
    {of.length > 300 && <span class="dim"> … {bytes(of.length)}</span>}
  </bdi>
);

type Row = { id: string; cells: string[] };

/** Pages loads rows piece by piece. */
export function usePages(fetch: (at: string) => Promise<{ rows: Row[]; next?: string }>, name: string) {
  const [rest, add] = useState<{ rows: Row[]; next?: string }>();
  const load = useLoad(async () => {
    const p = await fetch("");
    add(undefined);
    return p;
  }, [name]);
  const next = rest ? rest.next : load.data?.next;
  const [busy, wait] = useState(false);
  return {
    load,
    rows: [...(load.data?.rows ?? []), ...(rest?.rows ?? [])],
    next,
    busy,
    more: async () => {
      wait(true);
      try {
        const p = await fetch(next ?? "");
        add((was) => ({ rows: [...(was?.rows ?? []), ...p.rows], next: p.next }));
      } finally {
        wait(false);
      }
    },
  };
}

export function Rows({
  pages,
  columns,
  acts,
  add,
  total,
  label,
  order,
}: {
  pages: ReturnType<typeof usePages>;
  columns: string[];
  acts: (r: Row) => preact.ComponentChildren;
  add: preact.ComponentChildren;
  total: number;
  label: string;
  order?: string;
}) {
  return (
    <Loaded of={pages.load}>
      {() => (
        <>
          <div class="acts">
            <span class="dim">
              {things(total, label)}
              {order && `, ${order}`}
            </span>
            <span class="push">{add}</span>
          </div>
          <br />
          <Table
            label={`Each ${label}`}
            rows={pages.rows}
            id={(r, i) => r.id + i}
            columns={[
              ...columns.map((c, i) => ({
                name: c,
                class: i === columns.length - 1 ? "main-cell" : undefined,
                of: (r: Row) => <Cell of={r.cells[i]} />,
              })),
              { name: "-Actions", class: "acts-cell", of: acts },
            ]}
          />
          {pages.next && (
            <p>
              <Button busy={pages.busy} onClick={pages.more}>
                Show more
              </Button>
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Form asks for some texts and writes them. */
function Form({
  title,
  fields,
  close,
  write,
}: {
  title: string;
  fields: { label: string; value?: string; area?: boolean; optional?: boolean; fixed?: boolean }[];
  close: () => void;
  write: (texts: string[]) => Promise<unknown>;
}) {
  const [texts, put] = useState(fields.map((f) => f.value ?? ""));
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("Written", () => write(texts))) close();
        }}
      >
        <div class="form">
          {fields.map((f, i) => (
            <Field key={f.label} label={f.label} wide>
              {f.area ? (
                <Area value={texts[i]} onText={(t) => put(texts.with(i, t))} />
              ) : (
                <Text
                  value={texts[i]}
                  readOnly={f.fixed}
                  required={!f.optional}
                  onText={(t) => put(texts.with(i, t))}
                />
              )}
            </Field>
          ))}
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

export function useForm() {
  const [form, open] = useState<null | Parameters<typeof Form>[0]>(null);
  return {
    open: (f: Omit<Parameters<typeof Form>[0], "close">) => open({ ...f, close: () => open(null) }),
    view: form && <Form {...form} />,
  };
}
export const Drop = ({ what, go }: { what: string; go: () => Promise<unknown> }) => (
  <Button
    kind="quiet"
    class="bad"
    onClick={() =>
      sure({
        title: `Delete ${what}`,
        text: <p>It is deleted at once, on all nodes.</p>,
        verb: "Delete",
        done: "Deleted",
        go,
      })
    }
  >
    Delete
  </Button>
);
