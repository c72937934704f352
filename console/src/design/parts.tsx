// Controls, and what pages say with them.
import { useState } from "preact/hooks";
import { Button, Choose, Copy, Field, IconButton, Text } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { Badge, Card, Empty, Facts, Note } from "../ui/layout";
import { Table } from "../ui/table";
import { toast } from "../ui/toasts";

export function Controls() {
  const [text, put] = useState("orders"),
    [chosen, choose] = useState("all");
  return (
    <Card title="Controls">
      <div class="acts gap">
        <Button kind="main" icon="plus" onClick={() => toast("Created")}>
          Create
        </Button>
        <Button onClick={() => toast("Not now", "bad")}>Second</Button>
        <Button kind="quiet">Quiet</Button>
        <Button busy>Busy</Button>
        <Button disabled>Disabled</Button>
        <Button
          class="bad"
          icon="trash"
          onClick={() =>
            sure({
              title: "Delete a key",
              text: <p>It is gone at once.</p>,
              name: "orders",
              verb: "Delete",
              go: async () => {},
            })
          }
        >
          Delete
        </Button>
        <Copy text="copied" />
        <IconButton icon="refresh" label="Load again" />
      </div>
      <div class="form">
        <Field label="Name" help="What it is for, if that is not plain">
          <Text value={text} onText={put} />
        </Field>
        <Field label="State">
          <Choose of={["all", "waiting", "delivered"]} value={chosen} onText={choose} />
        </Field>
      </div>
    </Card>
  );
}

export const Words = () => (
  <Card title="Words and tables">
    <Note>What is worth to know.</Note>
    <Note kind="good">What has come right.</Note>
    <Note kind="warn">What will go wrong unless somebody acts.</Note>
    <Note kind="bad">What has gone wrong.</Note>
    <Facts
      of={[
        ["Queue", "orders"],
        ["Waiting", "61"],
        ["Oldest", "4 min"],
      ]}
    />
    <Table
      label="Messages"
      rows={["DELIVERED", "RETRY", "FAILED", "ACTIVE"]}
      id={(r) => r}
      columns={[
        { name: "State", class: "tight", of: (r) => <Badge tone={tones[r]}>{r.toLowerCase()}</Badge> },
        { name: "Destination", class: "main-cell", of: () => "https://orders.example.com/hook" },
        { name: "Attempts", class: "num", of: () => "3" },
      ]}
    />
    <Empty icon="messages" title="Nothing here yet" act={<Button kind="main">Publish a message</Button>}>
      What would be here, and how it comes to be.
    </Empty>
  </Card>
);
const tones: Record<string, string> = { DELIVERED: "good", RETRY: "warn", FAILED: "bad", ACTIVE: "info" };
