// One run: why it is where it is, its steps on a line of time, its result.
import { useState } from "preact/hooks";
import { plain } from "../api";
import { mayWrite } from "../messages/event";
import { A, Card, Empty, Page } from "../ui/layout";
import { Loaded } from "../ui/load";
import { Body } from "../ui/text";
import { useNow } from "../waterfall/tick";
import { About, AfterFailure } from "./about";
import { Started } from "./acts";
import { type Loaded as Data, useRun } from "./load";
import { Notify } from "./notify";
import type { RunSteps } from "./reply";
import { StateOf } from "./state";
import { Steps } from "./steps";
import { Why } from "./why";

export function One({ id }: { id: string }) {
  const load = useRun(id);
  return (
    <Loaded of={load} isEmpty={(d) => !d.run} empty={<None id={id} />}>
      {(d) => d.run && <Found id={id} run={d.run} of={d} again={load.again} />}
    </Loaded>
  );
}

const None = ({ id }: { id: string }) => (
  <Page title="Run">
    <Card>
      <Empty
        icon="runs"
        title="Run not found"
        act={
          <A to="/runs" class="button">
            All runs
          </A>
        }
      >
        {plain(id)} was never started here, or is kept no longer.
      </Empty>
    </Card>
  </Page>
);

function Found({ id, run, of, again }: { id: string; run: RunSteps; of: Data; again: () => Promise<void> }) {
  const [notify, open] = useState<string | null>(null),
    live = run.workflowState === "RUN_STARTED",
    now = useNow(live, of.skew);
  return (
    <Page
      title="Run"
      sub={
        <>
          <A to="/runs">Runs</A> / <span class="mono">{plain(id)}</span>
        </>
      }
      acts={mayWrite() && live && <Started id={id} notify={() => open("")} again={again} />}
    >
      {of.why && <Why run={run} why={of.why} again={again} />}
      <Card>
        <About run={run} now={now} />
      </Card>
      <Card title="Steps">
        <Steps id={id} run={run} why={of.why} now={now} wake={open} again={again} />
      </Card>
      {of.state && <StateOf state={of.state} />}
      {run.workflowRunResponse !== undefined && (
        <Card title="Result">
          <Body label="Result" text={run.workflowRunResponse} />
        </Card>
      )}
      {run.failureFunction && <AfterFailure of={run.failureFunction} />}
      {notify !== null && <Notify event={notify} run={id} close={() => open(null)} done={again} />}
    </Page>
  );
}
