// URL groups.
import { useState } from "preact/hooks";
import { json } from "../api";
import { mayWrite } from "../messages/event";
import { B } from "../messages/why";
import { query } from "../router";
import { Button } from "../ui/controls";
import { First } from "../ui/first";
import { A, Card, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { EndpointForm } from "./endpoint-form";
import { Endpoints, type Group, GroupActs, One } from "./group";

export function Groups() {
  const id = query.value.get("name");
  return id ? <One id={id} key={id} /> : <List />;
}

function List() {
  const list = useLoad<Group[]>((poll) => json("/v2/topics", { poll }), [], 8000),
    [adding, add] = useState<string | null>(null);
  return (
    <Page
      title="URL groups"
      sub="Send one message to several destinations"
      acts={
        mayWrite() && (
          <Button kind="main" icon="plus" onClick={() => add("")}>
            New group
          </Button>
        )
      }
    >
      <Loaded
        of={list}
        isEmpty={(d) => !d.length}
        empty={
          <First
            icon="groups"
            title="There are no URL groups"
            act={
              mayWrite() && (
                <Button kind="main" icon="plus" onClick={() => add("")}>
                  Create the first group
                </Button>
              )
            }
            shell="trireme groups add order-events warehouse=https://example.com/warehouse"
            service="Messages"
          >
            A message to a group is delivered to each of its endpoints, and repeated for each by itself.
          </First>
        }
      >
        {(d) => (
          <>
            {d.map((g) => (
              <Card
                key={g.name}
                class="flush"
                title={
                  <A to="/groups" q={{ name: g.name }}>
                    <B of={g.name} />
                  </A>
                }
                acts={mayWrite() && <GroupActs of={g} add={() => add(g.name)} gone={list.again} />}
              >
                <Endpoints of={g} again={list.again} />
              </Card>
            ))}
          </>
        )}
      </Loaded>
      {adding !== null && <EndpointForm group={adding} close={() => add(null)} done={list.again} />}
    </Page>
  );
}
