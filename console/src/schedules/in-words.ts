// Cron expressions in words.
import { toString as words } from "cronstrue";

const zoned = /^(?:CRON_TZ|TZ)=(\S+)\s+/;

/** inWords says what a cron expression means; it is empty for one that makes no sense. */
export function inWords(cron: string): string {
  const zone = zoned.exec(cron)?.[1],
    rest = cron.replace(zoned, "").trim(),
    every = /^@every (\S+)$/.exec(rest)?.[1];
  if (every) return `Every ${every}`;
  try {
    const text = words(rest, { use24HourTimeFormat: true, verbose: true });
    return text + (zone ? `, in ${zone}` : "");
  } catch {
    return "";
  }
}
