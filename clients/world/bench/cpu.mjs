// CPU time of processes and their children, from Linux: unlike the time that passes it does not depend on what else the machine does.
import { readdirSync, readFileSync } from "node:fs";

const tick = 10; // milliseconds: USER_HZ is 100

function stat(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    return { parent: Number(fields[1]), ms: fields.slice(11, 15).reduce((sum, n) => sum + Number(n), 0) * tick };
  } catch {
    return undefined; // it has ended, or this is no Linux
  }
}

// cpuOf is the CPU time in milliseconds of some processes, of their children, and of children of theirs that have ended.
export function cpuOf(pids) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), stat(name)]);
  return all.reduce((sum, [pid, s]) => sum + (s && (pids.includes(pid) || pids.includes(s.parent)) ? s.ms : 0), 0);
}
