// Databases and their tokens.
import { useState } from "preact/hooks";
import { json } from "../api";
import { figure, things } from "../format";
import { query, set } from "../router";
import { Button, Choose, Field, Text } from "../ui/controls";
import { Dialog, showOnce, sure } from "../ui/dialogs";
import { Card } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";

type Database = {
  name: string;
  path: string;
  createdAt?: string;
  keys: number;
  bytes: number;
  users: number;
};
/** NewTokens are a database with its tokens, which are known only when they are made. */
type NewTokens = Database & { token: string; readonlyToken: string };
type Page = { databases: Database[]; cursor?: string };
/** most is the number of databases of a page. */
const most = 100;

export function Databases() {
  const order = query.value.get("order") === "name" ? "name" : "memory";
  const all = useLoad<Page>(
    (poll) => json(`/admin/databases?count=${most}&order=${order}`, { poll }),
    [order],
    order === "name" ? 6000 : 30_000,
  );
  const [rest, add] = useState<Page>(); // the pages behind the first one
  const [making, make] = useState(false),
    [name, call] = useState("");
  const show = (x: NewTokens) =>
    showOnce({
      title: `Tokens of ${x.name}`,
      note: "They are shown this once. The cluster keeps their digests only.",
      rows: [
        ["Token", x.token],
        ["Read-only token", x.readonlyToken],
      ],
      verb: "I saved them",
    });
  const create = () =>
    act("Created", async () => {
      const made = await json<NewTokens>("/admin/databases", { data: { name } });
      make(false);
      show(made);
      add(undefined);
      all.again();
    });
  return (
    <Loaded of={all}>
      {(d) => (
        <Card
          class="flush"
          title="Databases"
          acts={
            <>
              <Field label="Order">
                <Choose
                  value={order}
                  of={[
                    ["memory", "Most memory first"],
                    ["name", "By name"],
                  ]}
                  onText={(to) => {
                    add(undefined);
                    set({ order: to }, true);
                  }}
                />
              </Field>
              <Button kind="main" icon="plus" onClick={() => make(true)}>
                New database
              </Button>
            </>
          }
        >
          <Table
            label="Databases"
            rows={[...d.databases, ...(d.cursor && rest ? rest.databases : [])]}
            id={(x) => x.name}
            columns={[
              { name: "Database", of: (x) => <b>{x.name}</b> },
              { name: "Path", of: (x) => <span class="mono">{x.name === "default" ? "/" : x.path}</span> },
              { name: "Keys", class: "num", of: (x) => figure("/admin/databases", "keys", x.keys) },
              { name: "Memory", class: "num", of: (x) => figure("/admin/databases", "bytes", x.bytes) },
              { name: "Users", class: "num", of: (x) => figure("/admin/databases", "users", x.users) },
              { name: "Created", of: (x) => <Ago at={x.createdAt} /> },
              {
                name: "-Actions",
                class: "acts-cell",
                of: (x) => (
                  <>
                    <Button
                      kind="quiet"
                      onClick={() =>
                        sure({
                          title: `New tokens for ${x.name}`,
                          name: x.name,
                          verb: "Replace the tokens",
                          text: (
                            <p>
                              Both tokens of {x.name} are void at once, on all nodes: every app that uses them is
                              refused until it has the new ones.
                            </p>
                          ),
                          go: async () => {
                            show(
                              await json(`/admin/databases/${encodeURIComponent(x.name)}/reset-password`, {
                                method: "POST",
                              }),
                            );
                          },
                        })
                      }
                    >
                      Replace tokens
                    </Button>
                    {x.name !== "default" && (
                      <Button
                        kind="quiet"
                        class="bad"
                        onClick={() =>
                          sure({
                            title: `Delete the database ${x.name}`,
                            name: x.name,
                            verb: "Delete",
                            done: "Deleted",
                            text: (
                              <p>
                                {things(x.keys, "key")} ({figure("/admin/databases", "bytes", x.bytes)}) and{" "}
                                {things(x.users, "user")} are deleted for good, on all nodes. Its tokens open nothing
                                any more.
                              </p>
                            ),
                            go: () =>
                              json(`/admin/databases/${encodeURIComponent(x.name)}`, { method: "DELETE" }).then(() => {
                                add(undefined);
                                return all.again();
                              }),
                          })
                        }
                      >
                        Delete
                      </Button>
                    )}
                  </>
                ),
              },
            ]}
          />
          {order === "memory" && d.databases.length === most && (
            <p class="tree-foot dim">These are the {most} largest databases.</p>
          )}
          {d.cursor && (rest ? rest.cursor : true) && (
            <div class="tree-foot">
              <Button
                kind="quiet"
                onClick={async () => {
                  const at = rest?.cursor ?? d.cursor ?? "";
                  const more = await json<Page>(`/admin/databases?count=${most}&cursor=${encodeURIComponent(at)}`);
                  add({ databases: [...(rest?.databases ?? []), ...more.databases], cursor: more.cursor });
                }}
              >
                Show more
              </Button>
            </div>
          )}
          {making && (
            <Dialog title="New database" close={() => make(false)}>
              <form
                onSubmit={(e) => {
                  e.preventDefault();
                  create();
                }}
              >
                <Field label="Name" help="Letters, digits, hyphens and underscores">
                  <Text value={name} onText={call} required pattern="[A-Za-z0-9][A-Za-z0-9_\-]{0,63}" />
                </Field>
                <footer>
                  <Button onClick={() => make(false)}>Cancel</Button>
                  <Button type="submit" kind="main">
                    Create
                  </Button>
                </footer>
              </form>
            </Dialog>
          )}
        </Card>
      )}
    </Loaded>
  );
}
