/** Step that the contract test has an object do, in JSON: the same on workerd and in this process. */
export type Step =
  | { readonly sql: string; readonly bindings?: readonly Value[] }
  /** All of them, or nothing if `fails`. */
  | { readonly transaction: readonly Step[]; readonly fails?: boolean }
  | { readonly setAlarmInMs: number }
  | { readonly deleteAlarm: true }
  | { readonly getAlarm: true }
  | { readonly sync: true }
  | { readonly abort: string }
  /** Has another object run steps. */
  | { readonly call: string; readonly steps: readonly Step[] }
  /** Starts a call of another object, and does not wait for it. */
  | { readonly callLater: string; readonly steps: readonly Step[] }
  | { readonly waitMs: number }
  /** Sets a timer that executes a statement. */
  | { readonly afterMs: number; readonly executes: string }
  /** The same, and cancels it. */
  | { readonly cancelledAfterMs: number; readonly executes: string }
  | { readonly fail: string };

/** A value of SQL in JSON. */
export type Value = string | number | null | { readonly bytes: readonly number[] };

interface Cursor {
  readonly rowsWritten: number;
  toArray(): Record<string, unknown>[];
}

/** As much of a host as the class uses (`Host` of the broker). */
interface SubjectHost {
  readonly id: { readonly name?: string | undefined; toString(): string };
  readonly env: { readonly SUBJECTS: Subjects };
  readonly storage: {
    readonly sql: { exec(sql: string, ...bindings: readonly unknown[]): Cursor };
    transactionSync<Result>(work: () => Result): Result;
    setAlarm(at: number): Promise<void>;
    deleteAlarm(): Promise<void>;
    getAlarm(): Promise<number | null>;
    sync(): Promise<void>;
  };
  readonly clock: { now(): number };
  readonly log: { log(line: string): void };
  readonly isOver: boolean;
  after(callback: () => void, ms: number): () => void;
  blockConcurrencyWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  abort(reason: string): void;
}

interface Subjects {
  idFromName(name: string): { readonly name?: string };
  get(id: { readonly name?: string }): { run(steps: readonly Step[]): Promise<unknown[]> };
}

type Base = new (ctx: never, env: never) => object;

/** The class, on that which the platform gives to extend, and on the host that is made of what it is constructed with. */
export function subjectOf(DurableObject: Base, hostOf: (ctx: never, env: never) => SubjectHost) {
  return class Subject extends DurableObject {
    readonly #host: SubjectHost;
    readonly #rung = new Set<() => void>();
    /** In this life. */
    #runs = 0;

    /** Whether what the constructor lets calls wait for is done. */
    #isReady = false;

    constructor(ctx: never, env: never) {
      super(ctx, env);
      this.#host = hostOf(ctx, env);
      const { sql } = this.#host.storage;
      void this.#host.blockConcurrencyWhile(async () => {
        await this.#wait(20);
        this.#isReady = true;
      });
      sql.exec("CREATE TABLE IF NOT EXISTS rung (id INTEGER PRIMARY KEY, answers TEXT)");
      sql.exec("CREATE TABLE IF NOT EXISTS plans (id INTEGER PRIMARY KEY, steps TEXT)");
    }

    /** Runs steps, and returns the answer of each. */
    async run(steps: readonly Step[]): Promise<unknown[]> {
      this.#runs += 1;
      const answers: unknown[] = [];
      for (const step of steps) answers.push(await this.#answer(step));
      return answers;
    }

    /** How often it was told to in this life. */
    async runs(): Promise<number> {
      return this.#runs;
    }

    async who(): Promise<unknown> {
      return { name: this.#host.id.name ?? null, isReady: this.#isReady, isOver: this.#host.isOver };
    }

    async objectId(): Promise<string> {
      return this.#host.id.toString();
    }

    /** Describes the value that it was given, with the types. */
    async echo(value: unknown): Promise<string> {
      return described(value);
    }

    /** Not what an object can hand out. */
    async instance(): Promise<unknown> {
      return new (class Point {
        x = 1;
      })();
    }

    /** Returns the answers of each call of the alarm handler, once there have been `times` of them. */
    async rung(times: number): Promise<unknown[]> {
      const rows = () => this.#host.storage.sql.exec("SELECT answers FROM rung ORDER BY id").toArray();
      while (rows().length < times) {
        await new Promise<void>((resolve) => this.#rung.add(resolve));
      }
      return rows().map(({ answers }) => JSON.parse(String(answers)));
    }

    /** Does what the oldest plan says. */
    async alarm(): Promise<void> {
      const { sql, sync } = { sql: this.#host.storage.sql, sync: () => this.#host.storage.sync() };
      const [plan] = sql.exec("SELECT id, steps FROM plans ORDER BY id LIMIT 1").toArray();
      const steps: Step[] = plan === undefined ? [] : JSON.parse(String(plan.steps));
      if (plan !== undefined) sql.exec("DELETE FROM plans WHERE id = ?", plan.id);
      const answers: unknown[] = [];
      for (const step of steps) if (!("fail" in step)) answers.push(await this.#answer(step));
      sql.exec("INSERT INTO rung (answers) VALUES (?)", JSON.stringify(answers));
      await sync();
      this.#host.log.log(`${this.#host.id.name} rang`);
      for (const resolve of this.#rung) resolve();
      for (const step of steps) if ("fail" in step) throw new Error(step.fail);
    }

    async #answer(step: Step): Promise<unknown> {
      const { storage } = this.#host;
      if ("getAlarm" in step) {
        const at = await storage.getAlarm();
        return at === null ? null : Math.round((at - this.#host.clock.now()) / 10_000) * 10_000;
      }
      if ("setAlarmInMs" in step)
        return storage.setAlarm(this.#host.clock.now() + step.setAlarmInMs).then(() => "set");
      if ("deleteAlarm" in step) return storage.deleteAlarm().then(() => "deleted");
      if ("sync" in step) return storage.sync().then(() => "synced");
      if ("call" in step) return this.#subject(step.call).run(step.steps);
      if ("callLater" in step) {
        this.#subject(step.callLater)
          .run(step.steps)
          .catch(() => {});
        return "called";
      }
      if ("waitMs" in step) return this.#wait(step.waitMs);
      if ("afterMs" in step) {
        this.#host.after(() => void storage.sql.exec(step.executes), step.afterMs);
        return "set";
      }
      if ("cancelledAfterMs" in step) {
        this.#host.after(() => void storage.sql.exec(step.executes), step.cancelledAfterMs)();
        return "cancelled";
      }
      return this.#now(step);
    }

    #subject(name: string) {
      const { SUBJECTS: subjects } = this.#host.env;
      return subjects.get(subjects.idFromName(name));
    }

    #wait(ms: number): Promise<string> {
      return new Promise((resolve) => this.#host.after(() => resolve("waited"), ms));
    }

    #now(step: Step): unknown {
      const { storage } = this.#host;
      if ("sql" in step) {
        try {
          const cursor = storage.sql.exec(step.sql, ...(step.bindings ?? []).map(bound));
          const rows = cursor
            .toArray()
            .map((row) =>
              Object.fromEntries(Object.entries(row).map(([name, value]) => [name, described(value)])),
            );
          return { rows, written: cursor.rowsWritten };
        } catch (error) {
          return { thrown: String(error) };
        }
      }
      if ("transaction" in step) {
        const answers: unknown[] = [];
        try {
          storage.transactionSync(() => {
            for (const inner of step.transaction) {
              if ("setAlarmInMs" in inner) void storage.setAlarm(this.#host.clock.now() + inner.setAlarmInMs);
              else if ("deleteAlarm" in inner) void storage.deleteAlarm();
              else answers.push(this.#now(inner));
            }
            if (step.fails === true) throw new Error("rolled back");
          });
        } catch (error) {
          answers.push({ thrown: String(error) });
        }
        return answers;
      }
      if ("abort" in step) return this.#host.abort(step.abort);
      if ("fail" in step) throw new RangeError(step.fail);
      throw new Error(`not to be done here: ${JSON.stringify(step)}`);
    }
  };
}

function bound(value: Value): unknown {
  return value !== null && typeof value === "object" ? Uint8Array.from(value.bytes).buffer : value;
}

/** A value with its type. */
function described(value: unknown): string {
  if (value instanceof ArrayBuffer) return `ArrayBuffer ${[...new Uint8Array(value)].join(" ")}`;
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return `${value.constructor.name} ${[...bytes].join(" ")} in ${value.buffer.byteLength}`;
  }
  if (Array.isArray(value)) return `[${value.map(described).join(", ")}]`;
  if (value instanceof Date) return `Date ${value.getTime()}`;
  if (value instanceof Map) return `Map ${described([...value])}`;
  if (value instanceof Set) return `Set ${described([...value])}`;
  if (value instanceof Error) return `${value.constructor.name} ${value.name} ${value.message}`;
  if (value !== null && typeof value === "object") {
    const of = Object.getPrototypeOf(value) === Object.prototype ? "" : "other ";
    return `${of}{${Object.entries(value)
      .map(([name, inner]) => `${name}: ${described(inner)}`)
      .join(", ")}}`;
  }
  return Object.is(value, -0) ? "number -0" : `${typeof value} ${String(value)}`;
}
