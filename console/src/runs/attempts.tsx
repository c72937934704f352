// The attempts of a step that failed. Those in a row that failed alike are one.
import { plain } from "../api";
import { figure, unixMs } from "../format";
import { Answer } from "../waterfall/thrown";
import { type Alike, alike } from "./alike";
import type { Attempt } from "./reply";

const title = (name: string, a: Alike) =>
  a.first === a.last ? `${name} ${a.first} failed` : `${name}s ${a.first} to ${a.last} failed alike`;

export const Attempts = ({ name, of }: { name: string; of?: Attempt[] }) => (
  <>
    {alike(of ?? []).map((a) => (
      <section key={a.first}>
        <h4>{title(name, a)}</h4>
        <p class="dim">
          {a.of.status ? `status ${a.of.status}` : "no answer"}
          {a.of.time
            ? `, ${a.first < a.last ? "last " : ""}${figure("/v2/workflows/logs", "time", unixMs(a.of.time))}`
            : ""}{" "}
          {a.of.error && plain(String(a.of.error))}
        </p>
        <Answer label={`${name} ${a.last}`} text={String(a.of.body ?? "")} />
      </section>
    ))}
  </>
);
