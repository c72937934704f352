// Which methods of a client a program has called. The client itself is not changed: calls
// go through proxies.

// Those that are other names of the same thing, or of a service that is not this one's.
const parts = ["dlq", "messages", "schedules", "urlGroups", "topics", "flowControl"];
const makers = ["queue", "chat"];
const others = ["constructor", "workflow"];

export class Calls {
  seen = new Set();
  all = new Set();

  // watch gives an object whose calls are counted under a name.
  watch(name, target) {
    const proto = Object.getPrototypeOf(target);
    for (const key of Object.getOwnPropertyNames(proto)) {
      if (!parts.includes(key) && !makers.includes(key) && !others.includes(key)) this.all.add(`${name}.${key}`);
    }
    return new Proxy(target, {
      get: (from, key) => {
        const value = from[key];
        if (parts.includes(key)) return this.watch(key, value);
        if (typeof value !== "function") return value;
        if (makers.includes(key)) return (...args) => this.watch(key, value.apply(from, args));
        this.seen.add(`${name}.${key}`);
        return value.bind(from);
      },
    });
  }

  // missing are the methods that nobody has called.
  missing() {
    return [...this.all].filter((name) => !this.seen.has(name)).sort();
  }
}
