// What the editors of collections share: rows, loaded piece by piece, of which each can be seen in its format.
import { useState } from "preact/hooks";
import { show } from "../api";
import type { KeyInfo } from "../data/key";
import { bytes, count, things } from "../format";
import { Value } from "../formats/value";
import { Button, Choose, Field } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { Empty } from "../ui/layout";
import { Failed, Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import type { Pages, Row } from "./pages";

export type Props = { name: string; info: KeyInfo; changed: () => void; gone: () => void };

/** Cell is a value in a table: its beginning, as text. */
export const Cell = ({ of }: { of: string }) => (
  <bdi class="mono">
    {show(of.slice(0, 300))}
    {of.length > 300 && <span class="dim"> … {bytes(of.length)}</span>}
  </bdi>
);

type RowsProps = {
  pages: Pages;
  columns: string[];
  acts: (r: Row) => preact.ComponentChildren;
  add: preact.ComponentChildren;
  filters?: preact.ComponentChildren;
  total: number;
  label: string;
  order?: string;
  sorts?: boolean; // the server has no order of its own: what is loaded can be sorted
  whole?: (r: Row) => Promise<string>; // loads the last cell of a long row
  filtered?: boolean;
};

export function Rows({ pages, columns, acts, add, filters, total, label, order, sorts, whole, filtered }: RowsProps) {
  const [by, sort] = useState("");
  const [seen, look] = useState<Row | null>(null);
  const last = columns.length - 1;
  const cell = (r: Row, i: number) =>
    i === last && r.long !== undefined ? (
      <span class="dim">{bytes(r.long)}, not loaded</span>
    ) : (
      <Cell of={r.cells[i]} />
    );
  return (
    <>
      <div class="filters">
        {filters}
        {sorts && (
          <Field label="Sort what is loaded">
            <Choose
              value={by}
              onText={sort}
              of={[["", "As listed"], ...columns.map((c, i) => [String(i), c] as [string, string])]}
            />
          </Field>
        )}
        <span class="acts">{add}</span>
      </div>
      <Loaded of={pages.load}>
        {() => (
          <>
            <p class="dim" role="status">
              {things(total, label)}
              {order && `, ${order}`}
              {(filtered || pages.next !== undefined) && `; ${count(pages.rows.length)} listed`}
            </p>
            {pages.rows.length ? (
              <Table
                label={`Each ${label}`}
                rows={sorted(pages.rows, by)}
                id={(r, i) => r.id + i}
                columns={[
                  ...columns.map((c, i) => ({
                    name: c,
                    class: i === last ? "main-cell" : undefined,
                    of: (r: Row) => cell(r, i),
                  })),
                  {
                    name: "-Actions",
                    class: "acts-cell",
                    of: (r: Row) => (
                      <>
                        <Button kind="quiet" onClick={() => look(r)}>
                          View
                        </Button>
                        {acts(r)}
                      </>
                    ),
                  },
                ]}
              />
            ) : (
              <Empty title={pages.next === undefined ? `No ${label} matches` : "Nothing found so far"} />
            )}
            {pages.next !== undefined && (
              <p>
                <Button busy={pages.busy} onClick={pages.more}>
                  {pages.rows.length ? "Load more" : "Look further"}
                </Button>
              </p>
            )}
          </>
        )}
      </Loaded>
      {seen && (
        <Look row={seen} title={show(seen.cells[0]).slice(0, 80)} last={last} whole={whole} close={() => look(null)} />
      )}
    </>
  );
}

const number = (s: string) => (s.trim() !== "" && Number.isFinite(Number(s)) ? Number(s) : undefined);
/** sorted are rows by one of their cells: numbers by their size, before what is no number. */
export function sorted(rows: Row[], by: string): Row[] {
  if (by === "") return rows;
  const i = Number(by);
  return [...rows].sort((a, b) => {
    const [x, y] = [number(a.cells[i]), number(b.cells[i])];
    if (x !== undefined && y !== undefined) return x - y;
    if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
    return a.cells[i] < b.cells[i] ? -1 : a.cells[i] > b.cells[i] ? 1 : 0;
  });
}

type LookProps = {
  row: Row;
  title: string;
  last: number;
  whole?: (r: Row) => Promise<string>;
  close: () => void;
};
/** Look shows one element in its format. */
function Look({ row, title, last, whole, close }: LookProps) {
  const value = useLoad(async () => (row.long !== undefined && whole ? whole(row) : row.cells[last]), [row.id]);
  return (
    <Dialog title={title} close={close} wide light>
      {value.error ? (
        <Failed error={value.error} again={value.again} />
      ) : value.data === undefined ? (
        <div class="loading" role="status">
          <span class="spin" aria-hidden="true" /> Loading
        </div>
      ) : (
        <Value of={value.data} label="Value" />
      )}
    </Dialog>
  );
}
