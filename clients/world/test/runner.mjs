// Runs checks one after another, a line for each, and ends the program with what became of them.
const limit = 120_000; // of one check
const wanted = process.argv.slice(2);

export class Runner {
  failures = 0;
  passed = 0;

  async check(name, run) {
    const began = performance.now();
    let late;
    const timeout = new Promise((_, reject) => (late = setTimeout(() => reject(new Error(`not done in ${limit} ms`)), limit)));
    const took = () => `(${Math.round(performance.now() - began)} ms)`;
    try {
      await Promise.race([run(), timeout]);
      this.passed++;
      console.log(`ok    ${name} ${took()}`);
    } catch (e) {
      this.failures++;
      console.log(`FAIL  ${name} ${took()}\n${e.stack ?? e}`);
    } finally {
      clearTimeout(late);
    }
  }

  // group runs the functions that a module exports, those that the arguments of the program name.
  async group(name, checks, context) {
    for (const [member, run] of Object.entries(checks)) {
      const title = `${name}: ${member.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}`;
      if (wanted.length === 0 || wanted.some((w) => title.includes(w))) await this.check(title, () => run(context()));
    }
  }

  // end prints the sum and gives the exit code.
  end() {
    console.log(`${this.passed} checks passed, ${this.failures} failed, against ${process.env.WORKFLOW_TARGET_WORLD}`);
    return this.failures === 0 && this.passed > 0 ? 0 : 1;
  }
}
