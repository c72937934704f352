// URL groups.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count } from "../format";
import { Button, Field, Text } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { Card, Empty, Page, Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { act } from "../ui/toasts";
import { mayWrite } from "./event";
import { B, name } from "./why";

type Group = { name: string; endpoints: { name?: string; url?: string }[]; createdAt: number; updatedAt: number };
export function Groups() {
  const list = useLoad<Group[]>((poll) => json("/v2/topics", { poll }), [], 8000);
  const [add, open] = useState<string | null>(null),
    [n, call] = useState(""),
    [url, put] = useState(""),
    [label, named] = useState("");
  return (
    <Page
      title="URL groups"
      sub="Send one message to several destinations"
      acts={
        mayWrite() && (
          <Button
            kind="main"
            icon="plus"
            onClick={() => {
              open("");
              call("");
            }}
          >
            New group
          </Button>
        )
      }
    >
      <Loaded
        of={list}
        isEmpty={(d) => !d.length}
        empty={
          <Card>
            <Empty icon="groups" title="There are no URL groups">
              A message to a group is delivered to each of its endpoints by itself.
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <>
            {d.map((g) => (
              <Card
                key={g.name}
                class="flush"
                title={<B of={g.name} />}
                acts={
                  mayWrite() && (
                    <>
                      <Button
                        kind="quiet"
                        icon="plus"
                        onClick={() => {
                          open(g.name);
                          call(g.name);
                        }}
                      >
                        Endpoint
                      </Button>
                      <Button
                        kind="quiet"
                        class="bad"
                        onClick={() =>
                          sure({
                            title: "Delete this URL group",
                            name: g.name,
                            verb: "Delete",
                            done: "Deleted",
                            text: (
                              <p>
                                Messages to {plain(g.name)} are refused then. Its endpoints,{" "}
                                {count(g.endpoints?.length ?? 0)} now, are forgotten.
                              </p>
                            ),
                            go: () => json(`/v2/topics/${name(g.name)}`, { method: "DELETE" }).then(list.again),
                          })
                        }
                      >
                        Delete
                      </Button>
                    </>
                  )
                }
              >
                <Table
                  label={`Endpoints of ${plain(g.name)}`}
                  rows={g.endpoints ?? []}
                  id={(e, i) => (e.name ?? "") + (e.url ?? "") + i}
                  columns={[
                    { name: "Name", of: (e) => <B of={e.name || "–"} /> },
                    { name: "URL", class: "main-cell", of: (e) => <B of={e.url} /> },
                    {
                      name: "-Actions",
                      class: "acts-cell",
                      of: (e) =>
                        mayWrite() && (
                          <Button
                            kind="quiet"
                            class="bad"
                            onClick={() =>
                              sure({
                                title: "Remove this endpoint",
                                verb: "Remove",
                                done: "Removed",
                                text: <p>{plain(e.url ?? "")} gets no more messages of this group.</p>,
                                go: () =>
                                  json(`/v2/topics/${name(g.name)}/endpoints`, {
                                    method: "DELETE",
                                    data: { endpoints: [e] },
                                  }).then(list.again),
                              })
                            }
                          >
                            Remove
                          </Button>
                        ),
                    },
                  ]}
                />
              </Card>
            ))}
          </>
        )}
      </Loaded>
      {add !== null && (
        <Dialog title={add ? "New endpoint" : "New URL group"} close={() => open(null)}>
          <form
            onSubmit={async (e) => {
              e.preventDefault();
              if (
                await act("Written", () =>
                  json(`/v2/topics/${name(n)}/endpoints`, {
                    data: { endpoints: [{ url, ...(label ? { name: label } : {}) }] },
                  }),
                )
              ) {
                open(null);
                put("");
                list.again();
              }
            }}
          >
            <div class="form">
              <Field label="Group" wide>
                <Text value={n} onText={call} readOnly={!!add} required />
              </Field>
              <Field label="URL" wide>
                <Text value={url} onText={put} required />
              </Field>
              <Field label="Name of the endpoint" help="Optional" wide>
                <Text value={label} onText={named} />
              </Field>
            </div>
            <footer>
              <Button onClick={() => open(null)}>Cancel</Button>
              <Button type="submit" kind="main">
                Save the endpoint
              </Button>
            </footer>
          </form>
        </Dialog>
      )}
    </Page>
  );
}
