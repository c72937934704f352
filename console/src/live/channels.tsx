// Subscribe to channels, and publish to them.
import { useState } from "preact/hooks";
import { database, enc, poll, run, show, strs } from "../api";
import { Button, Choose, Field, Text } from "../ui/controls";
import { Card, Empty } from "../ui/layout";
import { useLoad } from "../ui/load";
import { act } from "../ui/toasts";
import { Stream } from "./stream";

const encode = (s: string) => s.split(/\s+/).filter(Boolean).map(encodeURIComponent).join("/");

export function Channels() {
  const [text, put] = useState(""),
    [kind, choose] = useState("psubscribe"),
    [on, start] = useState("");
  const [channel, to] = useState(""),
    [message, write] = useState("");
  const active = useLoad(async (p) => strs(await (p ? poll : run)("PUBSUB", "CHANNELS")), [database.value], 5000);
  return (
    <>
      <form
        class="filters"
        onSubmit={(e) => {
          e.preventDefault();
          start(`/${kind}/${encode(text)}`);
        }}
      >
        <Field label="Subscribe to">
          <Choose
            value={kind}
            onText={choose}
            of={[
              ["psubscribe", "Patterns"],
              ["subscribe", "Channels"],
            ]}
          />
        </Field>
        <Field label="Names, separated by blanks">
          <Text value={text} onText={put} placeholder="news.*" required />
        </Field>
        <Button type="submit" kind="main">
          Subscribe
        </Button>
        {on && <Button onClick={() => start("")}>Stop</Button>}
      </form>
      {on ? (
        <Stream key={on} start={on} help="Messages appear here." />
      ) : (
        <Card>
          <Empty icon="live" title="Not subscribed">
            What is published to a channel goes to those who listen at that moment, and is not kept. Subscribe above,
            then publish below. Channels that have subscribers now:{" "}
            {active.data?.length ? active.data.slice(0, 50).map(show).join(", ") : "none"}
          </Empty>
        </Card>
      )}
      <Card title="Publish">
        <form
          class="filters"
          onSubmit={async (e) => {
            e.preventDefault();
            await act("Published", () => run("PUBLISH", enc(channel), enc(message)));
          }}
        >
          <Field label="Channel">
            <Text value={channel} onText={to} required />
          </Field>
          <Field label="Message">
            <Text value={message} onText={write} />
          </Field>
          <Button type="submit">Publish</Button>
        </form>
      </Card>
    </>
  );
}
