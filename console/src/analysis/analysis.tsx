// What takes the memory and the time of a database.
import { database } from "../api";
import { query } from "../router";
import { Page, Tabs } from "../ui/layout";
import { Biggest } from "./biggest";
import { Hot } from "./hot";
import { Prefixes } from "./prefixes";
import { Slow } from "./slow";

export function Analysis() {
  const part = query.value.get("part") ?? "memory";
  return (
    <Page title="Memory and load" sub={`What takes the memory and the time of database ${database.value}`}>
      <Tabs
        now={part}
        to={(n) => ({ part: n, db: query.value.get("db") ?? undefined })}
        of={[
          ["memory", "Memory by prefix"],
          ["biggest", "Biggest keys"],
          ["hot", "Hot keys"],
          ["slow", "Slow log"],
        ]}
      />
      {part === "biggest" ? <Biggest /> : part === "hot" ? <Hot /> : part === "slow" ? <Slow /> : <Prefixes />}
    </Page>
  );
}
