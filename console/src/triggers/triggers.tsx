// Triggers: what is made of changes of keys.
import { useState } from "preact/hooks";
import { database, enc, show } from "../api";
import { count } from "../format";
import { query } from "../router";
import { Button } from "../ui/controls";
import { First } from "../ui/first";
import { A, Card, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";
import { to, triggers } from "./load";
import { One, State, Target, TriggerActs } from "./trigger";
import { TriggerForm } from "./trigger-form";

export function Triggers() {
  const name = query.value.get("name");
  return name ? <One name={enc(name)} key={`${database.value} ${name}`} /> : <List />;
}

function List() {
  const all = useLoad(triggers, [database.value], 4000);
  const [making, open] = useState(false);
  return (
    <Page
      title="Triggers"
      sub={`What changes of keys make in database ${database.value}: messages, runs, change feeds`}
      acts={
        all.data && (
          <Button kind="main" icon="plus" onClick={() => open(true)}>
            New trigger
          </Button>
        )
      }
    >
      <Loaded
        of={all}
        isEmpty={(d) => !d.length}
        empty={
          <First
            icon="triggers"
            title="There are no triggers"
            act={
              <Button kind="main" icon="plus" onClick={() => open(true)}>
                Create the first trigger
              </Button>
            }
            shell="trireme triggers set orders order: --values new --message https://example.com/orders"
            service="Keyspace"
          >
            A trigger makes something of each change of the keys that begin with its prefix: a message, a workflow run,
            or an entry of a stream. It does so exactly once, in the step that makes the change.
          </First>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Triggers"
              rows={d}
              id={(t) => t.name}
              columns={[
                {
                  name: "Trigger",
                  class: "main-cell",
                  of: (t) => (
                    <>
                      <A to="/triggers" q={to({ name: show(t.name) })}>
                        <bdi>{show(t.name)}</bdi>
                      </A>
                      <div class="dim">
                        <Target of={t} />
                        {t.error && <div class="bad-text">{show(t.error)}</div>}
                      </div>
                    </>
                  ),
                },
                { name: "State", of: (t) => <State of={t} /> },
                { name: "Keys", of: (t) => <bdi class="mono">{show(t.prefix)}*</bdi> },
                { name: "Backlog", class: "num", of: (t) => (t.to === "stream" ? "–" : count(t.backlog)) },
                { name: "Changes", class: "num", of: (t) => count(t.fired) },
                { name: "Missed", class: "num", of: (t) => count(t.missed) },
                { name: "Last", class: "less", of: (t) => <Ago at={t.firedAt} /> },
                {
                  name: "-Actions",
                  class: "acts-cell",
                  of: (t) => <TriggerActs of={t} again={all.again} gone={all.again} />,
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      {making && <TriggerForm close={() => open(false)} done={all.again} />}
    </Page>
  );
}
