import { join } from "node:path";
import type { Instance, ObjectState } from "./instance/instance.ts";
import { outliveRejections } from "./instance-ended.ts";
import { Namespace, type ObjectId } from "./namespace.ts";
import { type Disk, Room } from "./sqlite/room.ts";

/** A Durable Object class and its objects' name in a data folder. */
export interface ObjectClass {
  /** As workerd has it, `<worker>-<class>`: the folder of the objects' files, and the key that ids are made with. */
  readonly uniqueKey: string;
  /** @param env the bindings and variables that the object gets. */
  construct(state: ObjectState, env: object): object;
}

/** A namespace as code has it that is bound to it: as much of `DurableObjectNamespace` as the broker uses. */
export interface Binding {
  idFromName(name: string): ObjectId;
  get(id: ObjectId): object;
  getByName(name: string): object;
}

export interface Objects {
  /** Bindings to all classes, and the variables: what a Worker has as `env`. */
  readonly env: Readonly<Record<string, unknown>>;
  /** Whether the disk is full: while it is, each call gives back room that no object needs. */
  room(isFull: boolean): void;
  /** Ends all objects. What was committed is in their files, and nothing beside them. */
  close(): void;
}

export interface ObjectsInput {
  /** Folder of all objects, in which each class has its own: `<data folder>/v3/do`. */
  readonly folder: string;
  /** By the names that they are bound to. */
  readonly classes: Readonly<Record<string, ObjectClass>>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** Told of what nobody else is: an alarm that could not be heard, a promise that was rejected and nobody heard. */
  error(line: string): void;
  /** Watcher of the room on their disk. Default: none. */
  readonly disk?: Disk;
  /** The time that alarms go by, in ms since 1970. It may stand, and never goes back. Default: the system's. */
  now?(): number;
}

/**
 * Runs Durable Object classes in this process, on the files that workerd would keep for them. What is set to ring,
 * rings.
 *
 * @throws SqliteError when the file of a class's alarms is no database.
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
