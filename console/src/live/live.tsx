// What happens in a database, as it happens.
import { Slow } from "../analysis/slow";
import { database, signedIn } from "../api";
import { query } from "../router";
import { Page, Tabs } from "../ui/layout";
import { Channels } from "./channels";
import { Clients } from "./clients";
import { Events } from "./events";
import { Stream } from "./stream";

export function Live() {
  const part = query.value.get("part") ?? "channels";
  return (
    <Page title="Live" sub={`What happens in database ${database.value}, as it happens`}>
      <Tabs
        now={part}
        to={(n) => ({ part: n, db: query.value.get("db") ?? undefined })}
        of={[
          ["channels", "Channels"],
          ["events", "Keyspace events"],
          ["monitor", "Monitor"],
          ["slow", "Slow log"],
          ...(signedIn().admin ? ([["clients", "Clients"]] as [string, string][]) : []),
        ]}
      />
      {part === "events" ? (
        <Events />
      ) : part === "monitor" ? (
        <Stream
          key="m"
          start="/monitor"
          help={
            "Every command that the gateways of all nodes execute in this database. " +
            "Values that may be secrets are left out."
          }
        />
      ) : part === "slow" ? (
        <Slow />
      ) : part === "clients" && signedIn().admin ? (
        <Clients />
      ) : (
        <Channels />
      )}
    </Page>
  );
}
