// Commands that take away more than they name.
import asks from "../asks.json";
import { words } from "./words";

/** destroys says what a command takes away beyond what it names; asks.json has the table of `trireme redis`. */
export function destroys(line: string): { command: string; text: string } | undefined {
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
