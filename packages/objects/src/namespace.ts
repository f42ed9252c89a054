import { existsSync } from "node:fs";
import { AlarmIndex } from "./alarms/alarm-index.ts";
import { makeDurableFolder } from "./files/folders.ts";
import { objectFile } from "./files/object-files.ts";
import { idOfName } from "./files/object-id.ts";
import { copyOf } from "./instance/copy.ts";
import { Instance, type Methods, type ObjectState } from "./instance/instance.ts";
import { Storage } from "./instance/storage.ts";
import type { Room } from "./sqlite/room.ts";

/** Delay after which a failed alarm rings again, in ms: doubled after each failure, up to the maximum. */
const ALARM_RETRY_MS = 2_000;
const ALARM_RETRY_MS_MAX = 60_000;
/** Mode of the folder, for its owner alone: the data is read through the objects, or by the user who runs them. */
const FOLDER_MODE = 0o700;
/** Most names whose ids are remembered. */
const IDS_KEPT_MAX = 10_000;

export interface ObjectId {
  readonly name: string;
  toString(): string;
}

export interface NamespaceInput {
  /** Folder of its objects' files, created if it does not exist. */
  readonly folder: string;
  readonly uniqueKey: string;
  /** Constructs an object. @param instance caller for the stubs that the object gets. */
  construct(state: ObjectState, instance: Instance): object;
  error(line: string): void;
  readonly room: Room;
  /** Returns the time by which alarms ring, in ms since 1970. */
  now(): number;
}

/**
 * The objects of a class. A call or its alarm starts an object. It runs until it is aborted, a commit fails, it holds
 * nothing any more (`HOLDS_NOTHING`), or all are closed.
 */
export class Namespace {
  readonly #input: NamespaceInput;
  readonly #alarms: AlarmIndex;
  readonly #instances = new Map<string, Instance>();
  readonly #ids = new Map<string, string>();
  /** Failures in a row of an object's alarm, by id. */
  readonly #alarmFailures = new Map<string, number>();
  #isClosed = false;

  constructor(input: NamespaceInput) {
    this.#input = input;
    makeDurableFolder(input.folder, FOLDER_MODE);
    const { folder, ...ports } = input;
    this.#alarms = new AlarmIndex(folder, (id, name) => void this.#ring(id, name), ports);
  }

  /** Returns the id of a name, in hexadecimal digits. */
  idOf(name: string): string {
    let id = this.#ids.get(name);
    if (id === undefined) {
      if (this.#ids.size >= IDS_KEPT_MAX) this.#ids.clear();
      id = idOfName(this.#input.uniqueKey, name);
      this.#ids.set(name, id);
    }
    return id;
  }

  /**
   * Returns a stub that calls the object with a name.
   *
   * @param caller calling object; `null` for outside code. Its calls are made when its writes are durable, and answers
   *   are dropped once its instance has ended.
   */
  stub(name: string, caller: Instance | null): Methods {
    const call = (method: string, args: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        const copied = copyOf(args) as unknown[];
        if (caller === null) return this.#call(name, method, copied, resolve, reject);
        const unlessOver = (settle: (result: unknown) => void) => (result: unknown) => {
          if (!caller.isOver) settle(result);
        };
        caller.whenDurable(() => this.#call(name, method, copied, unlessOver(resolve), unlessOver(reject)));
      });
    const methods: Methods = Object.create(null);
    return new Proxy(methods, {
      get: (_, method) => {
        // `await` reads `then` of a stub.
        if (typeof method !== "string" || method === "then") return undefined;
        methods[method] ??= (...args) => call(method, args);
        return methods[method];
      },
    });
  }

  /** Ends all objects; everything that was committed is in their files. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const instance of [...this.#instances.values()]) instance.close();
    this.#alarms.close();
  }

  #call(
    name: string,
    method: string,
    args: readonly unknown[],
    resolve: (result: unknown) => void,
    reject: (reason: unknown) => void,
  ): void {
    let instance: Instance;
    try {
      instance = this.#instance(this.idOf(name), name);
    } catch (error) {
      reject(error);
      return;
    }
    instance.call(method, args, resolve, reject);
  }

  #instance(id: string, name: string | null): Instance {
    if (this.#isClosed) throw new Error("the broker is stopping");
    let instance = this.#instances.get(id);
    if (instance === undefined) {
      const { room, now } = this.#input;
      instance = new Instance({
        id,
        name,
        open: (lost) => new Storage(this.#fileOf(id), { id, name, alarms: this.#alarms, room, now, lost }),
        now,
        later: setImmediate,
        construct: (state, self) => this.#input.construct(state, self),
        ended: (ended) => {
          if (this.#instances.get(id) === ended) this.#instances.delete(id);
        },
        logError: this.#input.error,
      });
      this.#instances.set(id, instance);
    }
    return instance;
  }

  #fileOf(id: string): string {
    return objectFile(this.#input.folder, id);
  }

  async #ring(id: string, name: string | null): Promise<void> {
    try {
      if (!this.#instances.has(id) && !existsSync(this.#fileOf(id))) {
        // Its file is gone: an object without one has no alarm.
        this.#alarms.committed(id, name, null);
        return;
      }
      await this.#instance(id, name).ring();
      this.#alarmFailures.delete(id);
    } catch (error) {
      if (this.#isClosed) return;
      const failures = this.#alarmFailures.get(id) ?? 0;
      this.#alarmFailures.set(id, failures + 1);
      const waitMs = Math.min(ALARM_RETRY_MS * 2 ** failures, ALARM_RETRY_MS_MAX);
      this.#input.error(
        `${name ?? id}: its alarm could not be heard, and rings again in ${waitMs / 1_000} s: ${error}`,
      );
      this.#alarms.postpone(id, name, this.#input.now() + waitMs);
    }
  }
}
