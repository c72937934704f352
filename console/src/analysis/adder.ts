// Sums of keys and bytes by what names begin with, of very many names.

export type Sum = { name: string; keys: number; bytes: number };
export type Sums = { rows: Sum[]; rest: Sum | null; keys: number; bytes: number };

const kept = 5000; // names that are told apart

/** Adder adds up. Of very many names it keeps those that take most so far, and counts the others together: their sums
 * would take more memory than a page should have. */
export class Adder {
  private by = new Map<string, Sum>();
  private rest: Sum = { name: "", keys: 0, bytes: 0 };
  constructor(private most = kept) {}
  add(one: Sum) {
    const was = this.by.get(one.name);
    if (was) {
      was.keys += one.keys;
      was.bytes += one.bytes;
      return;
    }
    this.by.set(one.name, { ...one });
    if (this.by.size > 2 * this.most) this.prune();
  }
  private prune() {
    const rows = [...this.by.values()].sort((a, b) => b.bytes - a.bytes);
    for (const r of rows.slice(this.most)) {
      this.by.delete(r.name);
      this.rest.keys += r.keys;
      this.rest.bytes += r.bytes;
    }
  }
  sums(): Sums {
    const rows = [...this.by.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
    const all = this.rest.keys ? [...rows, this.rest] : rows;
    return {
      rows: rows.map((r) => ({ ...r })),
      rest: this.rest.keys ? { ...this.rest } : null,
      keys: all.reduce((n, r) => n + r.keys, 0),
      bytes: all.reduce((n, r) => n + r.bytes, 0),
    };
  }
}
