// One message: why it waits, its attempts on a line of time, its events, its request.
import { useRef, useState } from "preact/hooks";
import { plain } from "../api";
import { A, Card, Empty, Note, Page } from "../ui/layout";
import { type Load, Loaded, useLoad } from "../ui/load";
import { Body, Headers } from "../ui/text";
import { Ago } from "../ui/time";
import { About } from "./about";
import { Attempts } from "./attempts";
import { type Course, courseOf, isEnded, type Known } from "./course";
import { type Event, type Explanation, mayWrite, text64 } from "./event";
import { Failure } from "./failure";
import { MessageActs } from "./message-acts";
import { Publish } from "./publish";
import { Timeline } from "./timeline";

export function Message({ id }: { id: string }) {
  const last = useRef<Course | null>(null),
    known = useRef<Known>(new Map());
  const view = useLoad(
    async (poll) => {
      if (poll && last.current && isEnded(last.current)) return last.current;
      last.current = await courseOf(id, known.current, poll);
      return last.current;
    },
    [id],
    2000,
  );
  return (
    <Loaded of={view} isEmpty={(d) => !d.events.length && !d.message} empty={<None id={id} />}>
      {(course) => <Found id={id} of={course} view={view} />}
    </Loaded>
  );
}

const None = ({ id }: { id: string }) => (
  <Page title="Message">
    <Card>
      <Empty
        icon="messages"
        title="Message not found"
        act={
          <A to="/messages" class="button">
            All messages
          </A>
        }
      >
        {plain(id)} was never published here, or is kept no longer.
      </Empty>
    </Card>
  </Page>
);

function Found({ id, of: course, view }: { id: string; of: Course; view: Load<Course> }) {
  const [again, republish] = useState(false),
    { events, message } = course;
  const last: Event | undefined = events[events.length - 1],
    e = last ?? message,
    why = message?.explain;
  if (!e) return null;
  const body = last ? text64(last.body) : (e.body ?? text64(message?.bodyBase64));
  return (
    <Page
      title="Message"
      sub={
        <>
          <A to="/messages">Messages</A> / <span class="mono">{plain(id)}</span>
        </>
      }
      acts={
        mayWrite() && (
          <MessageActs id={id} of={e} message={message} again={view.again} republish={() => republish(true)} />
        )
      }
    >
      {why && <Why of={why} />}
      {last?.state === "FAILED" && <Failure of={last} course={course} />}
      <About of={e} state={last?.state ?? "CREATED"} />
      {events.length > 0 && (
        <Card title="Attempts">
          <Attempts of={course} live={!isEnded(course)} />
        </Card>
      )}
      <div class="two">
        <Card title="Events">
          <Timeline of={events} />
        </Card>
        <Card title="Request">
          <h3>Headers</h3>
          <Headers of={e.header} />
          <br />
          <h3>Body</h3>
          <Body label="Body of the request" text={body} />
        </Card>
      </div>
      {again && (
        <Publish
          title="Edit and republish"
          from={last ?? { ...e, body: message?.bodyBase64 ?? base64(e.body ?? "") }}
          close={() => republish(false)}
          done={() => {}}
        />
      )}
    </Page>
  );
}

const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const Why = ({ of: why }: { of: Explanation }) => (
  <Note kind={/backoff|pause|wait|flow|queue/.test(why.reason) ? "warn" : "info"}>
    <b>Why it waits</b>: {plain(why.text)}
    {why.next && (
      <>
        {" "}
        Next attempt: <Ago at={why.next} />.
      </>
    )}
  </Note>
);
