// What is known of the command that is being typed.
import type { ComponentChildren } from "preact";
import { things } from "../format";
import type { Doc } from "./docs";

/** most is the number of completions that are shown. */
const most = 12;

/** Typed is a line in the making: its command with what is known of it, and the commands that it may become. */
export type Typed = { name: string; doc?: Doc; completions: string[] };

export function typed(text: string, docs: Map<string, Doc> | undefined): Typed {
  const line = text.trimStart().toUpperCase(),
    first = line.split(/\s+/),
    two = first[1] ? docs?.get(first.slice(0, 2).join(" ")) : undefined,
    doc = two ?? docs?.get(first[0]);
  const open = line !== "" && (!doc || !/\s/.test(line) || (!two && first.length === 2));
  const completions = open && docs ? [...docs.keys()].filter((n) => n.startsWith(line) && n !== line.trim()) : [];
  return {
    name: two ? `${first[0]} ${first[1]}` : first[0],
    ...(doc && { doc }),
    completions: completions.slice(0, most),
  };
}

type HintProps = { of: Typed; empty: boolean; docs: Map<string, Doc> | undefined; error: Error | null | undefined };

export function Hint({ of, empty, docs, error }: HintProps) {
  let text: ComponentChildren = "";
  if (of.doc)
    text = (
      <>
        <b>{of.name}</b> <span class="mono">{of.doc.syntax}</span> – {of.doc.summary}
      </>
    );
  else if (error) text = error.message;
  else if (empty && docs) text = things(docs.size, "command");
  return (
    <div class="hint" aria-live="polite">
      {text}
    </div>
  );
}

export const Completions = ({ of, take }: { of: string[]; take: (name: string) => void }) =>
  of.length > 0 ? (
    <div class="completions" role="group" aria-label="Completions">
      {of.map((n) => (
        <button key={n} type="button" tabIndex={-1} onClick={() => take(n)}>
          {n}
        </button>
      ))}
    </div>
  ) : null;
