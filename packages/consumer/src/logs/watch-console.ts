import { LOG_LEVELS, type LogLevel } from "@sluice/protocol";

type Method = (...args: unknown[]) => unknown;
/**
 * Takes each call of the console before it prints.
 *
 * @param called function that the caller has called.
 * @returns the name of the delivery that makes it; `null` where that is not known.
 */
type Taken = (level: LogLevel, args: readonly unknown[], called: Called) => string | null;
export type Called = (...args: never[]) => unknown;

/**
 * Watches calls of the console of this isolate. Each method gets a proxy, so that it prints as before, and has whatever
 * properties a tracing library or a spy has given it.
 */
export class ConsoleWatch {
  #taken: Taken = () => null;
  readonly #watched = new WeakSet<object>();
  /** Whether lines are printed behind the name of their delivery. */
  #printsNames = false;
  /** Name that is printed before what the watched call that is running prints. */
  #name: string | null = null;
  /** Levels of which a method is watched that prints names. A method that replaces it later is taken to call it. */
  readonly #named = new Set<LogLevel>();
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
      // A console that makes its methods when they are read would call the proxy from within it: that of older
      // Wranglers.
      if (method !== console[level]) continue;
      const printsName = !this.#named.has(level);
      const apply = (target: Method, self: unknown, args: unknown[]): unknown =>
        this.#call(level, args, apply, () =>
          Reflect.apply(target, self, printsName ? withName(this.#name, args) : args),
        );
      const watched = new Proxy(method as Method, { apply });
      // A frozen console stays as it is.
      if (!Reflect.set(console, level, watched)) continue;
      this.#watched.add(watched);
      this.#named.add(level);
    }
  }

  /** Prints lines behind the name of their delivery from now on. */
  printNames(): void {
    this.#printsNames = true;
  }

  #call(level: LogLevel, args: unknown[], called: Called, print: () => unknown): unknown {
    if (this.#isWithin) return print();
    this.#isWithin = true;
    try {
      const name = this.#taken(level, args, called);
      this.#name = this.#printsNames ? name : null;
      return print();
    } finally {
      this.#isWithin = false;
      this.#name = null;
    }
  }
}

/** Puts a name before the arguments of a call. A first text goes on behind it, since it may be a format. */
function withName(name: string | null, args: unknown[]): unknown[] {
  const [first, ...others] = args;
  if (name === null || args.length === 0) return args;
  return typeof first === "string" ? [`${name} ${first}`, ...others] : [name, ...args];
}

/** Watch of this isolate. */
export const consoleWatch = new ConsoleWatch();

/**
 * Begins to watch the console. A generated entry calls it before the user's modules run: a logger may keep the methods
 * that it finds. Otherwise the first delivery that asks for logs begins.
 *
 * @param options.names whether handlers' lines are printed behind the queue and the message. Default: false.
 */
export function watchConsole({ names = false }: { readonly names?: boolean } = {}): void {
  consoleWatch.begin();
  if (names) consoleWatch.printNames();
}
