import { useEffect, useRef, useState } from "preact/hooks";
import { database, enc, list, type Reply, run, show, str, strs } from "./api";
import asks from "./asks.json";
import { msSpan, things } from "./format";
import { Button } from "./ui/controls";
import { question, sure } from "./ui/dialogs";
import { Card, Page } from "./ui/layout";
import { useLoad } from "./ui/load";
import { Drawn } from "./ui/reply";

type Doc = { summary: string; group: string; syntax: string };
const map = (r: Reply) => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};

function syntax(args: Reply | undefined): string {
  return list(args)
    .map((one) => {
      const a = map(one),
        flags = strs(a.flags),
        token = str(a.token),
        type = str(a.type),
        name = str(a.name) || str(a.display_text);
      let t =
        type === "pure-token"
          ? token
          : type === "oneof"
            ? list(a.arguments)
                .map((x) => syntaxOne(x))
                .join(" | ")
            : type === "block"
              ? syntax(a.arguments)
              : (token ? `${token} ` : "") + name;
      if (token && (type === "oneof" || type === "block")) t = `${token} ${t}`;
      if (type === "oneof" && !flags.includes("optional")) t = `<${t}>`;
      if (flags.includes("multiple")) t += " …";
      return flags.includes("optional") ? `[${t}]` : t;
    })
    .join(" ");
}
const syntaxOne = (r: Reply) => syntax({ t: "list", v: [r] }).replace(/^\[|\]$/g, "");

/** Docs of every command, by its name in capitals; subcommands stand with their command. */
async function load(): Promise<Map<string, Doc>> {
  const all = new Map<string, Doc>();
  const take = (r: Reply) => {
    const v = list(r);
    for (let i = 0; i + 1 < v.length; i += 2) {
      const d = map(v[i + 1]);
      all.set(str(v[i]).replace("|", " ").toUpperCase(), {
        summary: str(d.summary),
        group: str(d.group),
        syntax: syntax(d.arguments),
      });
      if (d.subcommands) take(d.subcommands);
    }
  };
  take(await run("COMMAND", "DOCS"));
  return all;
}

/** codePoint of a text at i, which is within it. */
const codePoint = (text: string, i: number) => text.codePointAt(i) ?? 0;

/** words splits a line as redis-cli does. */
export function words(line: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < line.length; ) {
    if (/\s/.test(line[i])) {
      i++;
      continue;
    }
    let word = "";
    for (; i < line.length && !/\s/.test(line[i]); ) {
      const quote = line[i];
      if (quote !== '"' && quote !== "'") {
        const c = codePoint(line, i);
        word += enc(String.fromCodePoint(c));
        i += c > 0xffff ? 2 : 1;
        continue;
      }
      let closed = false;
      for (i++; i < line.length; i++) {
        if (line[i] === quote) {
          i++;
          closed = true;
          break;
        }
        if (line[i] !== "\\" || i + 1 >= line.length) {
          const c = codePoint(line, i);
          word += enc(String.fromCodePoint(c));
          if (c > 0xffff) i++;
          continue;
        }
        const next = line[++i];
        if (quote === "'") word += next === "'" ? "'" : `\\${enc(next)}`;
        else if (next === "x" && /^[0-9a-f]{2}$/i.test(line.slice(i + 1, i + 3))) {
          word += String.fromCharCode(parseInt(line.slice(i + 1, i + 3), 16));
          i += 2;
        } else word += ({ n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" } as Record<string, string>)[next] ?? enc(next);
      }
      if (!closed) throw new Error("A quote is not closed");
    }
    out.push(word);
  }
  return out;
}

type Line = { line: string; reply: Reply; ms: number };
/** destroys says what a command takes away beyond what it names; asks.json has the table of `trireme redis`. */
function destroys(line: string): { command: string; text: string } | undefined {
  let argv: string[];
  try {
    argv = words(line).map((w) => w.toLowerCase());
  } catch {
    return undefined;
  }
  for (const command of [argv.slice(0, 2).join(" "), argv[0]])
    if (Object.hasOwn(asks, command))
      return { command: command.toUpperCase(), text: (asks as Record<string, string>)[command] };
}
const secret = /^\s*(auth|hello|acl|config\s+set)\b/i;
const past = (): string[] => {
  try {
    return JSON.parse(sessionStorage.getItem("trireme-history") ?? "[]");
  } catch {
    return [];
  }
};

export function CommandLine() {
  const [lines, put] = useState<Line[]>([]);
  const [text, type] = useState("");
  const [busy, wait] = useState(false);
  const [safe, guard] = useState(sessionStorage.getItem("trireme-read-only") === "1");
  const [at, seek] = useState(-1);
  const history = useRef(past());
  const input = useRef<HTMLInputElement>(null),
    out = useRef<HTMLDivElement>(null);
  const docs = useLoad(load, [database.value]);
  const reads = useLoad(
    async () =>
      new Set(
        strs(await run("COMMAND", "LIST", "FILTERBY", "ACLCAT", "read")).map((n) => n.toUpperCase().replace("|", " ")),
      ),
    [database.value],
  );
  useEffect(() => {
    out.current?.scrollTo(0, out.current.scrollHeight);
  }, [lines]);

  const first = text.trimStart().toUpperCase().split(/\s+/);
  const two = first[1] ? docs.data?.get(first.slice(0, 2).join(" ")) : undefined,
    doc = two ?? docs.data?.get(first[0]);
  const typing = text.trimStart() !== "" && (!doc || !/\s/.test(text.trimStart()) || (!two && first.length === 2));
  const found =
    typing && docs.data
      ? [...docs.data.keys()]
          .filter((n) => n.startsWith(text.trimStart().toUpperCase()) && n !== text.trim().toUpperCase())
          .slice(0, 12)
      : [];
  const complete = (n: string) => {
    type(`${n} `);
    input.current?.focus();
  };

  /** submit asks before a command that takes away more than it names. */
  const submit = (e: Event) => {
    e.preventDefault();
    const line = text.trim();
    if (!line || busy) return;
    const what = safe ? undefined : destroys(line);
    if (!what) return send(line);
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
        await send(line);
        input.current?.focus();
      },
    });
  };
  const send = async (line: string) => {
    let reply: Reply;
    wait(true);
    const began = performance.now();
    try {
      const argv = words(line),
        name = argv[0].toUpperCase(),
        sub = `${name} ${(argv[1] ?? "").toUpperCase()}`;
      const may =
        ["PING", "ECHO", "INFO", "DBSIZE", "TIME", "COMMAND", "TYPE"].includes(name) ||
        reads.data?.has(sub) ||
        (reads.data?.has(name) && !/_?STORE$/.test(name));
      if (safe && !may) reply = { t: "err", v: `The read-only switch is on: ${show(name)} is not a reading command` };
      else if (["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR"].includes(name))
        reply = { t: "err", v: "The view Live shows channels and what is executed" };
      else reply = await run(...argv);
    } catch (x) {
      reply = { t: "err", v: (x as Error).message };
    }
    wait(false);
    put((l) => [
      ...l.slice(-199),
      {
        line: secret.test(line) ? `${line.split(/\s+/).slice(0, 2).join(" ")} …` : line,
        reply,
        ms: performance.now() - began,
      },
    ]);
    if (!secret.test(line)) {
      history.current = [...history.current.filter((h) => h !== line), line].slice(-200);
      sessionStorage.setItem("trireme-history", JSON.stringify(history.current));
    }
    type("");
    seek(-1);
  };
  const keys = (e: KeyboardEvent) => {
    if (e.key === "Tab" && found.length && !e.shiftKey) {
      e.preventDefault();
      complete(found[0]);
    }
    if (e.key === "ArrowUp" || e.key === "ArrowDown") {
      const h = history.current,
        to = e.key === "ArrowUp" ? (at < 0 ? h.length - 1 : Math.max(0, at - 1)) : at < 0 ? -1 : at + 1;
      if (!h.length) return;
      e.preventDefault();
      if (to < 0 || to >= h.length) {
        seek(-1);
        type("");
      } else {
        seek(to);
        type(h[to]);
      }
    }
    if (e.key === "l" && e.ctrlKey) {
      e.preventDefault();
      put([]);
    }
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
                sessionStorage.setItem("trireme-read-only", safe ? "0" : "1");
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
          <div class="cli-out" ref={out} role="log" aria-label="Replies" tabIndex={0}>
            {!lines.length && (
              <p class="dim">
                Type a command. Tab completes it, the arrows go through what you typed before, Ctrl-L clears.
              </p>
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
          <div class="hint" aria-live="polite">
            {doc ? (
              <>
                <b>
                  {first[0]}
                  {two ? ` ${first[1]}` : ""}
                </b>{" "}
                <span class="mono">{doc.syntax}</span> – {doc.summary}
              </>
            ) : docs.error ? (
              docs.error.message
            ) : text ? (
              ""
            ) : docs.data ? (
              things(docs.data.size, "command")
            ) : (
              ""
            )}
          </div>
          {found.length > 0 && (
            <div class="completions" role="group" aria-label="Completions">
              {found.map((n) => (
                <button key={n} type="button" tabIndex={-1} onClick={() => complete(n)}>
                  {n}
                </button>
              ))}
            </div>
          )}
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
        </div>
      </Card>
    </Page>
  );
}
