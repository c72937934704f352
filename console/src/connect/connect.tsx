// How an app uses this cluster: its variables and a few lines for each language, filled in.
import { useState } from "preact/hooks";
import { base, signedIn } from "../api";
import { query, set } from "../router";
import { Choose, Field, Text } from "../ui/controls";
import { Card, Page, Tabs } from "../ui/layout";
import { Code } from "../ui/text";
import { type Place, type Service, snippets, variables } from "./snippets";

const services: Service[] = ["Keyspace", "Messages", "Workflows"];

/** reached is the address of this node's API: that of the console without its path. */
const reached = () => location.origin + base.replace(/\/console$/, "");

export function Connect() {
  const me = signedIn(),
    may = services.filter((s) => (s === "Keyspace" ? me.admin || me.keyspace : me.messages !== "")),
    of = may.find((s) => s === query.value.get("service")) ?? may[0];
  const [resp, at] = useState(`${location.hostname}:6379`),
    [token, put] = useState("");
  const place: Place = { url: reached(), resp, redisToken: token, messagesToken: token },
    list = snippets(place, of),
    shown = list.find((s) => s.name === query.value.get("with")) ?? list[0];
  return (
    <Page title="Connect" sub="Use this cluster from an app: two variables, and the client that you have already">
      <Tabs
        of={may.map((s) => [s, s])}
        now={of}
        to={(service) => ({ service, with: query.value.get("with") ?? undefined })}
      />
      <Card title="Variables">
        <div class="form">
          <Field
            label={of === "Keyspace" ? "Token of the database" : "Messages token"}
            help="Fills in what is below. It stays in this page and is sent nowhere."
            wide
          >
            <Text type="password" autocomplete="off" value={token} onText={put} />
          </Field>
          {of === "Keyspace" && (
            <Field label="Address of the RESP port" help="As --resp has it">
              <Text value={resp} onText={at} />
            </Field>
          )}
        </div>
        <br />
        <Code label="Variables" text={variables(place, of)} />
      </Card>
      <Card
        title="Code"
        acts={
          <Field label="Language">
            <Choose of={list.map((s) => s.name)} value={shown.name} onText={(name) => set({ with: name }, true)} />
          </Field>
        }
      >
        {shown.install && <Code label="Installation" text={shown.install} />}
        <Code label={shown.name} text={shown.code} />
      </Card>
    </Page>
  );
}
