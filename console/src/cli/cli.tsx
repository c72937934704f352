// The command line: what is typed, and the replies to it.
import { useEffect, useRef, useState } from "preact/hooks";
import { database, enc, run, show, strs } from "../api";
import { msSpan } from "../format";
import { Button } from "../ui/controls";
import { question, sure } from "../ui/dialogs";
import { Card, Page } from "../ui/layout";
import { useLoad } from "../ui/load";
import { Drawn } from "../ui/reply";
import { destroys } from "./destroys";
import { load } from "./docs";
import { execute, type Line } from "./execute";
import { Completions, Hint, typed } from "./hint";
import { kept, masked, past } from "./past";

/** most is the number of replies that stay. */
const most = 200;
const place = "trireme-read-only";

/** readers are the names of the commands that only read. */
const readers = async () =>
  new Set(
    strs(await run("COMMAND", "LIST", "FILTERBY", "ACLCAT", "read")).map((n) => n.toUpperCase().replace("|", " ")),
  );

export function CommandLine() {
  const [lines, put] = useState<Line[]>([]);
  const [safe, guard] = useState(sessionStorage.getItem(place) === "1");
  const reads = useLoad(readers, [database.value]);
  const send = async (line: string) => {
    const began = performance.now(),
      reply = await execute(line, safe, reads.data ?? undefined);
    put((l) => [...l.slice(1 - most), { line: masked(line), reply, ms: performance.now() - began }]);
  };
  return (
    <Page
      title="Command line"
      sub={`Commands in database ${database.value}, on the node that serves this page`}
      acts={
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={safe}
              onChange={() => {
                guard(!safe);
                sessionStorage.setItem(place, safe ? "0" : "1");
              }}
            />{" "}
            Read only
          </label>
          <Button onClick={() => put([])} disabled={!lines.length}>
            Clear
          </Button>
        </>
      }
    >
      <Card class="flush">
        <div class="cli">
          <Replies of={lines} />
          <Prompt send={send} safe={safe} clear={() => put([])} />
        </div>
      </Card>
    </Page>
  );
}

function Replies({ of: lines }: { of: Line[] }) {
  const out = useRef<HTMLDivElement>(null);
  useEffect(() => {
    out.current?.scrollTo(0, out.current.scrollHeight);
  }, [lines]);
  return (
    <div class="cli-out" ref={out} role="log" aria-label="Replies" tabIndex={0}>
      {!lines.length && (
        <p class="dim">Type a command. Tab completes it, the arrows go through what you typed before, Ctrl-L clears.</p>
      )}
      {lines.map((l, i) => (
        <div key={i}>
          <div class="asked">
            <bdi>{show(enc(l.line))}</bdi> <span class="dim">{msSpan(l.ms)}</span>
          </div>
          <Drawn of={l.reply} />
        </div>
      ))}
    </div>
  );
}

type PromptProps = { send: (line: string) => Promise<void>; safe: boolean; clear: () => void };

function Prompt({ send, safe, clear }: PromptProps) {
  const [text, type] = useState("");
  const [busy, wait] = useState(false);
  const [at, seek] = useState(-1);
  const history = useRef(past());
  const input = useRef<HTMLInputElement>(null);
  const docs = useLoad(load, [database.value]);
  const now = typed(text, docs.data ?? undefined);
  const take = (name: string) => {
    type(`${name} `);
    input.current?.focus();
  };
  const go = async (line: string) => {
    wait(true);
    await send(line);
    wait(false);
    history.current = kept(history.current, line);
    type("");
    seek(-1);
  };
  /** submit asks before a command that takes away more than it names. */
  const submit = (e: Event) => {
    e.preventDefault();
    const line = text.trim();
    if (!line || busy) return;
    const what = safe ? undefined : destroys(line);
    if (!what) return go(line);
    sure({
      title: `Run ${show(what.command)}`,
      name: database.value,
      verb: "Run the command",
      text: (
        <p>
          {what.text} This is database {database.value}.
        </p>
      ),
      go: async () => {
        question.value = null;
        await go(line);
        input.current?.focus();
      },
    });
  };
  const back = (up: boolean) => {
    const h = history.current,
      older = at < 0 ? h.length - 1 : Math.max(0, at - 1),
      newer = at < 0 || at + 1 >= h.length ? -1 : at + 1,
      to = up ? older : newer;
    seek(to);
    type(h[to] ?? "");
  };
  const keys = (e: KeyboardEvent) => {
    const first = now.completions[0];
    if (e.key === "Tab" && first !== undefined && !e.shiftKey) {
      e.preventDefault();
      take(first);
    } else if ((e.key === "ArrowUp" || e.key === "ArrowDown") && history.current.length) {
      e.preventDefault();
      back(e.key === "ArrowUp");
    } else if (e.key === "l" && e.ctrlKey) {
      e.preventDefault();
      clear();
    }
  };
  return (
    <>
      <Hint of={now} empty={!text} docs={docs.data ?? undefined} error={docs.error} />
      <Completions of={now.completions} take={take} />
      <form onSubmit={submit}>
        <input
          ref={input}
          aria-label="Command"
          placeholder="GET greeting"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          // biome-ignore lint/a11y/noAutofocus: this view is one line to type into.
          autoFocus
          value={text}
          onInput={(e) => {
            type(e.currentTarget.value);
            seek(-1);
          }}
          onKeyDown={keys}
        />
        <Button type="submit" kind="main" busy={busy}>
          Run
        </Button>
      </form>
    </>
  );
}
