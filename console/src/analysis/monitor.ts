// Lines of the monitor, and the keys that the commands in them name.

/** Places say where the keys of a command are among its words: first, last (from the end if negative), step. */
export type Places = { first: number; last: number; step: number };

const letters: Record<string, string> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

/** wordsOf are the words of a command in a line such as `1764160000.123456 [default 10.0.0.1:4711] "GET" "k"`. */
export function wordsOf(line: string): string[] {
  const at = line.indexOf("] ");
  if (at < 0) return [];
  return [...line.slice(at + 2).matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, w]) =>
    w.replace(/\\(?:x([0-9a-f]{2})|(.))/gi, (_, hex, c) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (letters[c] ?? c),
    ),
  );
}

/** keysOf are the keys among the words of a command. */
export function keysOf(words: string[], p: Places): string[] {
  if (p.first < 1) return [];
  const end = p.last < 0 ? words.length + p.last : p.last,
    keys: string[] = [];
  for (let i = p.first; i <= Math.min(end, words.length - 1); i += Math.max(1, p.step)) keys.push(words[i]);
  return keys;
}

export type Heat = { key: string; count: number; often: string };

/** Counter counts how often keys are named, and by which command most often. Keys that come when it has very many are
 * not counted: missed says how often. */
export class Counter {
  private by = new Map<string, Map<string, number>>();
  commands = 0;
  missed = 0;
  constructor(private most = 10_000) {}
  add(name: string, keys: string[]) {
    this.commands++;
    for (const k of keys) {
      let of = this.by.get(k);
      if (!of) {
        if (this.by.size >= this.most) {
          this.missed++;
          continue;
        }
        of = new Map();
        this.by.set(k, of);
      }
      of.set(name, (of.get(name) ?? 0) + 1);
    }
  }
  top(n: number): Heat[] {
    const all = [...this.by].map(([key, of]) => {
      const by = [...of].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
      return { key, count: by.reduce((sum, [, c]) => sum + c, 0), often: by[0][0] };
    });
    return all.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1)).slice(0, n);
  }
}
