// Replies of commands, by their types.
import { useState } from "preact/hooks";
import { type Reply, show, lines as textLines } from "../api";
import { bytes } from "../format";
import { Button } from "./controls";

/** Drawn is a reply by its type. */
export function Drawn({ of, deep = 0 }: { of: Reply; deep?: number }) {
  const [most, put] = useState(100);
  switch (of.t) {
    case "nil":
      return <div class="reply nil">(nil)</div>;
    case "int":
      return <div class="reply int">(integer) {of.v}</div>;
    case "status":
      return (
        <div class="reply status">
          <bdi>{show(of.v)}</bdi>
        </div>
      );
    case "err":
      return (
        <div class="reply err">
          <bdi>(error) {show(of.v)}</bdi>
        </div>
      );
    case "str": {
      const lines = of.v.includes("\n");
      const t = show(textLines(of.v.slice(0, 20000)));
      return (
        <div class="reply str">
          <bdi>{lines ? t : `"${t}"`}</bdi>
          {of.v.length > 20000 && <span class="dim"> … {bytes(of.v.length)}</span>}
        </div>
      );
    }
  }
  if (!of.v.length) return <div class="reply nil">(empty list)</div>;
  return (
    <>
      <div class="reply-list">
        {of.v.slice(0, most).map((r, i) => (
          <>
            {<span>{i + 1})</span>}
            <div>{deep > 20 ? "…" : <Drawn of={r} deep={deep + 1} />}</div>
          </>
        ))}
      </div>
      {of.v.length > most && (
        <Button kind="quiet" onClick={() => put(most * 5)}>
          Show more ({of.v.length - most} left)
        </Button>
      )}
    </>
  );
}
