// Which methods of a client a program has called. The client itself is not changed: calls go through proxies.

// methodsOf are the names of an object's methods, its own and inherited ones.
const methodsOf = (target) => {
  const names = new Set();
  for (let object = target; object && object !== Object.prototype; object = Object.getPrototypeOf(object)) {
    for (const [name, is] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      if (typeof is.value === "function") names.add(name);
    }
  }
  names.delete("constructor");
  return names;
};

export class Calls {
  seen = new Set();
  all = new Set();

  // watch is the target, whose methods are counted under a name. parts are its properties that have methods of their own, and makers its
  // methods that return (a promise of) something that has: each by its name, with { name, parts, makers } of what is there. except are
  // methods that send nothing.
  watch(target, { name, parts = {}, makers = {}, except = [] }) {
    for (const method of methodsOf(target)) if (!except.includes(method)) this.all.add(`${name}.${method}`);
    return new Proxy(target, {
      get: (from, key) => {
        const value = from[key];
        if (parts[key]) return this.watch(value, parts[key]);
        if (typeof value !== "function") return value;
        return (...args) => {
          this.seen.add(`${name}.${key}`);
          const made = value.apply(from, args);
          if (!makers[key]) return made;
          const watched = (one) => this.watch(one, makers[key]);
          return typeof made?.then === "function" ? made.then(watched) : watched(made);
        };
      },
    });
  }

  // missing are the methods that were never called.
  missing() {
    return [...this.all].filter((name) => !this.seen.has(name)).sort();
  }
}
