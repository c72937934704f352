// Runs a line of the command line.
import { type Reply, run, show } from "../api";
import { words } from "./words";

/** Line is a line with its reply, and how long that took in milliseconds. */
export type Line = { line: string; reply: Reply; ms: number };

/** harmless reads nothing of keys, and is allowed when only reads are. */
const harmless = ["PING", "ECHO", "INFO", "DBSIZE", "TIME", "COMMAND", "TYPE"];
const streams = ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR"];

/** reading reports whether a command only reads: reads are the names of those that do. */
const reading = (name: string, sub: string, reads: Set<string> | undefined) =>
  harmless.includes(name) || reads?.has(sub) || (reads?.has(name) && !/_?STORE$/.test(name));

/** execute runs a line; with safe, only one that reads. Errors are replies. */
export async function execute(line: string, safe: boolean, reads: Set<string> | undefined): Promise<Reply> {
  try {
    const argv = words(line),
      name = argv[0].toUpperCase();
    if (safe && !reading(name, `${name} ${(argv[1] ?? "").toUpperCase()}`, reads))
      return { t: "err", v: `The read-only switch is on: ${show(name)} is not a reading command` };
    if (streams.includes(name)) return { t: "err", v: "The view Live shows channels and what is executed" };
    return await run(...argv);
  } catch (x) {
    return { t: "err", v: (x as Error).message };
  }
}
