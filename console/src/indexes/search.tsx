// One search index: what it is, and a bench for queries of it.
import { database, show } from "../api";
import { bytes, count } from "../format";
import { query } from "../router";
import { Button } from "../ui/controls";
import { A, Badge, Card, Empty, Facts, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Bench } from "./bench";
import { tone } from "./indexes";
import { type Definition, describe } from "./load";

export const back = () => (
  <A to="/indexes" q={{ db: query.value.get("db") ?? undefined }}>
    All indexes
  </A>
);

export function SearchIndex({ name }: { name: string }) {
  const of = useLoad(() => describe(name), [name, database.value]);
  return (
    <Page
      title={show(name)}
      sub={back()}
      acts={
        <Button kind="quiet" icon="refresh" onClick={of.again}>
          Reload
        </Button>
      }
    >
      <Loaded
        of={of}
        isEmpty={(d) => d === null}
        empty={
          <Empty icon="find" title="There is no index of this name">
            It was dropped, or belongs to another database.
          </Empty>
        }
      >
        {(d) =>
          d && (
            <>
              <About d={d} />
              <Bench d={d} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function About({ d }: { d: Definition }) {
  return (
    <>
      {d.state === "suspended" && (
        <Note kind="bad">
          This node has suspended the index: it would take more memory than {show(d.suspended)} allows. Searches of it
          fail until there is room.
        </Note>
      )}
      {d.state === "building" && <Note>This node is building the index. Searches wait for it.</Note>}
      <Card>
        <Facts
          of={[
            ["State on this node", <Badge tone={tone(d.state)}>{d.state}</Badge>],
            ["Documents", count(d.documents)],
            ["Left out", d.leftOut ? count(d.leftOut) : undefined],
            ["Changes that wait", count(d.pending)],
            ["Memory on this node", bytes(d.size)],
            ["Of", `${d.type} keys`],
            [d.type === "STREAM" ? "Stream" : "Keys that begin with", <bdi>{d.prefixes.map(show).join(", ")}</bdi>],
            ["Language", d.language],
          ]}
        />
      </Card>
      <Card class="flush" title="Fields">
        <Table
          label="Fields"
          rows={d.fields}
          id={(f) => f[0]}
          columns={[
            { name: "Field", class: "main-cell", of: (f) => <bdi class="mono">{show(f[0])}</bdi> },
            { name: "Type", of: (f) => f[1] },
            { name: "Options", of: (f) => <bdi>{f.slice(2).map(show).join(" ") || "–"}</bdi> },
          ]}
        />
      </Card>
    </>
  );
}
