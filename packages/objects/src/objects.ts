import { join } from "node:path";
import type { Instance, ObjectState } from "./instance/instance.ts";
import { outliveRejections } from "./instance-ended.ts";
import { Namespace, type ObjectId } from "./namespace.ts";
import { type Disk, Room } from "./sqlite/room.ts";

/** A Durable Object class, with the name of its objects' folder. */
export interface ObjectClass {
  /** workerd's `<worker>-<class>`: name of the folder of the objects' files, and key for their ids. */
  readonly uniqueKey: string;
  /** @param env the bindings and variables that the object gets. */
  construct(state: ObjectState, env: object): object;
}

/** Binding to a namespace: the part of `DurableObjectNamespace` that the broker uses. */
export interface Binding {
  idFromName(name: string): ObjectId;
  get(id: ObjectId): object;
  getByName(name: string): object;
}

export interface Objects {
  /** Bindings to all classes, and the variables, as a Worker's `env`. */
  readonly env: Readonly<Record<string, unknown>>;
  /** Tells the objects whether the disk is full. While it is, each call gives back space that no object needs. */
  room(isFull: boolean): void;
  /** Ends all objects. All that was committed is in their files, without write-ahead logs beside them. */
  close(): void;
}

export interface ObjectsInput {
  /** Folder of all objects, in which each class has its own: `<data folder>/v3/do`. */
  readonly folder: string;
  /** Classes by the names of their bindings. */
  readonly classes: Readonly<Record<string, ObjectClass>>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** Logs errors that reach no caller: failed alarms, unhandled rejections. */
  error(line: string): void;
  /** Watcher of the free space on their disk. Default: none. */
  readonly disk?: Disk;
  /**
   * Returns the time by which alarms ring, in ms since 1970. It may stand, but never goes back. Default: system time.
   */
  now?(): number;
}

/**
 * Runs Durable Object classes in this process, on the files that workerd would keep for them. Stored alarms ring.
 *
 * @throws SqliteError when the index of a class's alarms cannot be opened.
 */
export function openObjects({ folder, classes, vars, error, disk, now = Date.now }: ObjectsInput): Objects {
  outliveRejections(error);
  const room = new Room(disk);
  const namespaces = new Map<string, Namespace>();
  const close = () => {
    for (const namespace of namespaces.values()) namespace.close();
  };
  const envOf = (caller: Instance | null) => {
    const bindings = Object.keys(classes).map((name) => [
      name,
      bindingOf(() => namespaces.get(name), caller),
    ]);
    return { ...vars, ...Object.fromEntries(bindings) };
  };
  try {
    for (const [binding, { uniqueKey, construct }] of Object.entries(classes)) {
      const namespace = new Namespace({
        folder: join(folder, uniqueKey),
        uniqueKey,
        construct: (state, instance) => construct(state, envOf(instance)),
        error,
        room,
        now,
      });
      namespaces.set(binding, namespace);
    }
  } catch (reason) {
    close();
    throw reason;
  }
  return { env: envOf(null), room: (isFull) => room.set(isFull), close };
}

function bindingOf(namespaceOf: () => Namespace | undefined, caller: Instance | null): Binding {
  const stubs = new Map<string, object>();
  const getByName = (name: string): object => {
    let stub = stubs.get(name);
    if (stub === undefined) {
      const namespace = namespaceOf();
      if (namespace === undefined) throw new Error("the objects are not open yet");
      if (stubs.size >= STUBS_KEPT_MAX) stubs.clear();
      stub = namespace.stub(name, caller);
      stubs.set(name, stub);
    }
    return stub;
  };
  return {
    idFromName: (name) => ({ name, toString: () => namespaceOf()?.idOf(name) ?? "" }),
    get: ({ name }) => getByName(name),
    getByName,
  };
}

/** Most stubs that a caller keeps. */
const STUBS_KEPT_MAX = 10_000;
