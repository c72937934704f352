// What the doctor has found, the worst first, each with its remedy. One can be put off for a day.
import { signal } from "@preact/signals";
import { things } from "../format";
import { Button } from "../ui/controls";
import { Note } from "../ui/layout";
import type { Finding } from "./cluster";

const day = 86_400_000,
  place = "trireme-put-off";
const grave = (f: Finding) => (f.level === "failure" ? 0 : 1);
/** named identifies a finding by what stays when it is measured again. */
const named = (f: Finding) => `${f.check} ${f.about ?? ""}`;

type PutOff = Record<string, number>; // until when, in unix milliseconds
function read(): PutOff {
  try {
    const all = Object.entries(JSON.parse(localStorage.getItem(place) ?? "{}") as PutOff);
    return Object.fromEntries(all.filter(([, until]) => until > Date.now()));
  } catch {
    return {};
  }
}
const putOff = signal<PutOff>(read());
function keep(next: PutOff) {
  putOff.value = next;
  localStorage.setItem(place, JSON.stringify(next));
}

/** open are the findings that somebody has to look at: those of all that are not put off. */
export const open = (all: Finding[]) => all.filter((f) => !((putOff.value[named(f)] ?? 0) > Date.now()));

export function Findings({ of: all }: { of: Finding[] }) {
  const shown = open(all).sort((a, b) => grave(a) - grave(b)),
    hidden = all.length - shown.length;
  return (
    <>
      {shown.map((f) => (
        <Note key={named(f)} kind={grave(f) ? "warn" : "bad"}>
          <b>
            {f.check}
            {f.about && ` ${f.about}`}
          </b>
          : {f.found}
          {f.do && `; ${f.do}`}{" "}
          <Button kind="quiet" onClick={() => keep({ ...putOff.value, [named(f)]: Date.now() + day })}>
            Not today
          </Button>
        </Note>
      ))}
      {hidden > 0 && (
        <p class="dim">
          {things(hidden, "finding")} put off until tomorrow.{" "}
          <Button kind="quiet" onClick={() => keep({})}>
            Show
          </Button>
        </p>
      )}
    </>
  );
}
