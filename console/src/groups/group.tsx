// One URL group: its endpoints, and what went through it.
import { useState } from "preact/hooks";
import { found, json, plain } from "../api";
import { count } from "../format";
import { mayWrite } from "../messages/event";
import { Traffic } from "../messages/traffic";
import { B, name } from "../messages/why";
import { go } from "../router";
import type { Messages } from "../schemas";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Card, Empty, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Url } from "../ui/text";
import { EndpointForm } from "./endpoint-form";

export type Endpoint = Messages["Endpoint"];
export type Group = Messages["Topic"];

type Acts = { of: Group; add: () => void; gone: () => void };
export const GroupActs = ({ of: g, add, gone }: Acts) => (
  <>
    <Button kind="quiet" icon="plus" onClick={add}>
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
              Messages to {plain(g.name)} are refused then. Its endpoints, {count(g.endpoints?.length ?? 0)} now, are
              forgotten.
            </p>
          ),
          go: () => json(`/v2/topics/${name(g.name)}`, { method: "DELETE" }).then(gone),
        })
      }
    >
      Delete
    </Button>
  </>
);

const remove = (g: Group, e: Endpoint, again: () => void) =>
  sure({
    title: "Remove this endpoint",
    verb: "Remove",
    done: "Removed",
    text: <p>{plain(e.url ?? "")} gets no more messages of this group.</p>,
    go: () => json(`/v2/topics/${name(g.name)}/endpoints`, { method: "DELETE", data: { endpoints: [e] } }).then(again),
  });

export const Endpoints = ({ of: g, again }: { of: Group; again: () => void }) => (
  <Table
    label={`Endpoints of ${plain(g.name)}`}
    rows={g.endpoints ?? []}
    id={(e, i) => (e.name ?? "") + (e.url ?? "") + i}
    columns={[
      { name: "Name", of: (e) => <B of={e.name || "–"} /> },
      { name: "URL", class: "main-cell", of: (e) => <Url of={e.url} /> },
      {
        name: "-Actions",
        class: "acts-cell",
        of: (e) =>
          mayWrite() && (
            <Button kind="quiet" class="bad" onClick={() => remove(g, e, again)}>
              Remove
            </Button>
          ),
      },
    ]}
  />
);

export function One({ id }: { id: string }) {
  const [adding, add] = useState(false);
  const one = useLoad((poll) => found<Group>(`/v2/topics/${name(id)}`, poll), [id], 8000);
  return (
    <Page
      title="URL group"
      sub={
        <>
          <A to="/groups">URL groups</A> / <B of={id} />
        </>
      }
      acts={one.data && mayWrite() && <GroupActs of={one.data} add={() => add(true)} gone={() => go("/groups")} />}
    >
      <Loaded of={one} isEmpty={(g) => !g} empty={<None id={id} />}>
        {(g) =>
          g && (
            <Card class="flush" title="Endpoints">
              <Endpoints of={g} again={one.again} />
            </Card>
          )
        }
      </Loaded>
      <Traffic of={{ topicName: id }} />
      {adding && <EndpointForm group={id} close={() => add(false)} done={one.again} />}
    </Page>
  );
}

const None = ({ id }: { id: string }) => (
  <Card>
    <Empty icon="groups" title="There is no such URL group">
      Messages to {plain(id)} are refused. What was sent to it is below as long as it is kept.
    </Empty>
  </Card>
);
