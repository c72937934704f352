// An error with its stack: one's own calls, and on demand those of libraries.
import { useState } from "preact/hooks";
import { plain } from "../api";
import { things } from "../format";
import { Button } from "../ui/controls";
import { Body, Code } from "../ui/text";
import { type Frame, thrown } from "./stack";

/** Answer shows what an endpoint has answered: an error with its stack, or the body. */
export function Answer({ text, label }: { text: string; label: string }) {
  const e = thrown(text);
  if (!e) return <Body text={text} label={label} />;
  return (
    <div class="thrown">
      <p class="thrown-head">
        {e.name && <b>{plain(e.name).slice(0, 200)}: </b>}
        <bdi>{plain(e.message).slice(0, 4000)}</bdi>
      </p>
      {e.frames.length > 0 ? <Frames of={e.frames} /> : e.stack && <Code text={e.stack} label={`${label}, stack`} />}
      <details>
        <summary>As received</summary>
        <Body text={text} label={label} />
      </details>
    </div>
  );
}

function Frames({ of }: { of: Frame[] }) {
  const own = of.filter((f) => f.own),
    [all, put] = useState(own.length === 0);
  const rest = of.length - own.length;
  return (
    <>
      <ol class="frames">
        {(all ? of : own).map((f, i) => (
          <li key={i} class={f.own ? "" : "dim"}>
            <b>
              <bdi>{plain(f.call || "(anonymous)").slice(0, 200)}</bdi>
            </b>{" "}
            <bdi>{plain(f.place).slice(0, 400)}</bdi>
          </li>
        ))}
      </ol>
      {rest > 0 && own.length > 0 && (
        <Button kind="quiet" onClick={() => put(!all)}>
          {all ? "Hide" : "Show"} {things(rest, "call")} of libraries
        </Button>
      )}
    </>
  );
}
