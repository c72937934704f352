// The latest entries of a change feed.
import { show } from "../api";
import { keyQuery } from "../data/tree";
import { unixMs } from "../format";
import { A, Card, Empty } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";
import { type Change, changes, type Trigger, to } from "./load";

const at = (c: Change) => unixMs(c.id.split("-")[0]);

/** told is a value of a change; why it is left out, if it is. */
const told = (c: Change, name: "old" | "new") => {
  const omitted = c.fields[`${name}Omitted`],
    value = c.fields[name];
  return omitted ? `left out: ${show(omitted)}` : value === undefined ? "–" : show(value.slice(0, 200));
};

export function Changes({ of: t }: { of: Trigger }) {
  const latest = useLoad((polls) => changes(t.stream, polls), [t.stream], 4000);
  const value = (name: "old" | "new", title: string) =>
    t.values.includes(name) ? [{ name: title, of: (c: Change) => <bdi class="mono dim">{told(c, name)}</bdi> }] : [];
  return (
    <Card
      class="flush"
      title="Latest changes"
      acts={
        <A to="/data" q={to(keyQuery(t.stream))} class="button quiet">
          All of the stream
        </A>
      }
    >
      <Loaded
        of={latest}
        isEmpty={(d) => !d.length}
        empty={
          <Empty icon="live" title="No changes so far">
            The stream has no entries.
          </Empty>
        }
      >
        {(d) => (
          <Table
            label="Latest changes"
            rows={d}
            id={(c) => c.id}
            columns={[
              { name: "Entry", class: "mono", of: (c) => show(c.id) },
              { name: "Time", of: (c) => <Ago at={at(c)} /> },
              { name: "Event", of: (c) => show(c.fields.event ?? "") },
              {
                name: "Key",
                class: "main-cell",
                of: (c) =>
                  c.fields.key ? (
                    <A to="/data" q={to(keyQuery(c.fields.key))}>
                      <bdi class="mono">{show(c.fields.key)}</bdi>
                    </A>
                  ) : (
                    "all"
                  ),
              },
              { name: "Type", of: (c) => show(c.fields.type ?? "") },
              ...value("old", "Before"),
              ...value("new", "After"),
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
