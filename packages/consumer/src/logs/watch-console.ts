import { LOG_LEVELS, type LogLevel } from "@sluice/protocol";

type Method = (...args: unknown[]) => unknown;
/** Is called with each call of the console before it prints. */
type Taken = (level: LogLevel, args: readonly unknown[]) => void;

/**
 * Watches calls of the console of this isolate. Each method gets a proxy, so that it prints as before, and has whatever
 * properties a tracing library or a spy has given it.
 */
export class ConsoleWatch {
  #taken: Taken = () => {};
  readonly #watched = new WeakSet<object>();
  /** Whether a watched call is running. The calls that it makes, as one of a tracing library does, are part of it. */
  #isWithin = false;

  /**
   * Begins to watch. Called again, it watches methods that were replaced or restored since.
   *
   * @param taken takes the place of the one before. Default: that one.
   */
  begin(taken?: Taken): void {
    if (taken !== undefined) this.#taken = taken;
    for (const level of LOG_LEVELS) {
      const method: unknown = console[level];
      if (typeof method !== "function" || this.#watched.has(method)) continue;
      // A console that makes its methods when they are read would call the proxy from within it: that of older Wranglers.
      if (method !== console[level]) continue;
      const watched = new Proxy(method as Method, {
        apply: (target, self, args: unknown[]) => this.#call(level, target, self, args),
      });
      // A frozen console stays as it is.
      if (Reflect.set(console, level, watched)) this.#watched.add(watched);
    }
  }

  #call(level: LogLevel, method: Method, self: unknown, args: unknown[]): unknown {
    if (this.#isWithin) return Reflect.apply(method, self, args);
    this.#isWithin = true;
    try {
      this.#taken(level, args);
      return Reflect.apply(method, self, args);
    } finally {
      this.#isWithin = false;
    }
  }
}

/** Watch of this isolate. */
export const consoleWatch = new ConsoleWatch();

/**
 * Begins to watch the console. A generated entry calls it before the user's modules run: a logger may keep the methods
 * that it finds. Otherwise the first delivery that asks for logs begins.
 */
export function watchConsole(): void {
  consoleWatch.begin();
}
