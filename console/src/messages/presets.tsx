// Ranges of time that filters offer by name.
import { Button } from "../ui/controls";

const hour = 3600000;

/** ranges names each preset and gives its first moment, in unix milliseconds, as seen at the time now. */
export const ranges: [string, (now: number) => number][] = [
  ["Last hour", (now) => now - hour],
  ["Last 24 hours", (now) => now - 24 * hour],
  ["Today", (now) => new Date(now).setHours(0, 0, 0, 0)],
];

/** Presets picks a range that begins at a preset's first moment and has no end. */
export function Presets({ pick }: { pick: (from: string) => void }) {
  return (
    <fieldset class="presets">
      <legend class="sr">Range of time</legend>
      {ranges.map(([name, from]) => (
        <Button key={name} kind="quiet" onClick={() => pick(String(from(Date.now())))}>
          {name}
        </Button>
      ))}
    </fieldset>
  );
}
