// The page of all parts, in development builds: what DESIGN.md describes, drawn.
import "../css/design.css";
import { Chart, Stat } from "../ui/charts";
import { Card, Page } from "../ui/layout";
import { Code } from "../ui/text";
import { Controls, Words } from "./parts";
import { Colours, Icons, Spaces, Type } from "./tokens";

const minute = 60,
  begin = 1_700_000_000;
const time = Array.from({ length: 60 }, (_, i) => begin + i * minute);

export function Design() {
  return (
    <Page title="Design" sub="Every token and part of the console; DESIGN.md says when each is used">
      <Colours />
      <div class="two">
        <Type />
        <Spaces />
      </div>
      <Icons />
      <Controls />
      <Words />
      <div class="stats">
        <Stat label="Requests" value="1,204/s" sub="over all nodes" />
        <Stat label="p99" value="2.1 ms" tone="good" sub="the slowest node" />
        <Stat label="Backlog" value="61" tone="warn" sub="oldest 4 min" />
        <Stat label="Failed" value="12" tone="bad" sub="in the last hour" />
      </div>
      <div class="charts">
        <Card>
          <Chart
            label="A rate"
            time={time}
            unit={(n) => `${Math.round(n)}/s`}
            series={[
              { name: "reads", data: time.map((_, i) => 60 + 40 * Math.sin(i / 6)) },
              { name: "writes", data: time.map((_, i) => 30 + 10 * Math.cos(i / 9)), tone: "b" },
            ]}
          />
        </Card>
        <Card title="Code">
          <Code label="Code" text={'{\n  "order": 4711,\n  "total": "12.50 €"\n}'} />
        </Card>
      </div>
    </Page>
  );
}
