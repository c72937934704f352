// The book: an HTTP server of the test program to which steps report. A report can be held until the test answers it.
import http from "node:http";

export class Book {
  #reports = new Map(); // what -> [data]
  #answers = new Map(); // what -> [promise]; held ones have one
  #watchers = new Set();

  async open() {
    this.server = http.createServer(async (req, res) => {
      const parts = [];
      for await (const part of req) parts.push(part);
      const what = decodeURIComponent(req.url.slice(1));
      const seen = this.reports(what);
      seen.push(JSON.parse(Buffer.concat(parts).toString() || "null"));
      this.#reports.set(what, seen);
      for (const look of this.#watchers) look();
      const answer = await this.#answers.get(what)?.(seen);
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify(answer ?? null));
    });
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  reports = (what) => this.#reports.get(what) ?? [];

  // answer sets what reports of a name are answered: a function of all reports so far, which may return a promise.
  answer(what, reply) {
    this.#answers.set(what, reply);
  }

  // hold makes steps that report a name wait until the function that it returns is called.
  hold(what) {
    let release;
    const held = new Promise((done) => (release = done));
    this.answer(what, () => held);
    return release;
  }

  // reported waits until a name was reported so often, and gives the reports.
  reported(what, times = 1, ms = 60_000) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#watchers.delete(look);
        reject(new Error(`"${what}" was reported ${this.reports(what).length} times, not ${times}`));
      }, ms);
      const look = () => {
        if (this.reports(what).length < times) return;
        clearTimeout(late);
        this.#watchers.delete(look);
        resolve(this.reports(what));
      };
      this.#watchers.add(look);
      look();
    });
  }
}
