import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import type { BindQueues } from "./queue-binder.ts";

type Handler = (...args: unknown[]) => unknown;
type AnyClass = new (ctx: unknown, env: unknown) => object;

/** Handlers that get an event, `env` and the context. */
const HANDLERS: ReadonlySet<PropertyKey> = new Set([
  "connect",
  "email",
  "fetch",
  "queue",
  "scheduled",
  "tail",
  "tailStream",
  "test",
  "trace",
]);
const BASES = [DurableObject, WorkerEntrypoint, WorkflowEntrypoint] as const;

/**
 * Wraps an export of the user's main module so that the `env` it gets has the queues: a class, or an object of
 * handlers. Other values are returned unchanged.
 */
export function boundExport(exported: unknown, bind: BindQueues): unknown {
  if (isClass(exported)) return boundClass(exported, bind);
  return typeof exported === "object" && exported !== null ? boundObject(exported, bind) : exported;
}

/** Wraps the named exports of the user's main module, each on access, so that a replaced export is seen. */
export function boundExports(module: object, bind: BindQueues): object {
  const names = Object.keys(module).filter((name) => name !== "default");
  const bound = new Map<unknown, unknown>();
  const boundOnce = (exported: unknown) => {
    // Wrapped once: Vite's runner would take a second wrapper of the same class for an edited class.
    if (!bound.has(exported)) bound.set(exported, boundExport(exported, bind));
    return bound.get(exported);
  };
  const properties = names.map((name): [string, PropertyDescriptor] => [
    name,
    { enumerable: true, get: () => boundOnce(Reflect.get(module, name)) },
  ]);
  return Object.defineProperties({}, Object.fromEntries(properties));
}

function boundClass(Class: AnyClass, bind: BindQueues): AnyClass {
  const Bound = class extends Class {
    constructor(ctx: unknown, env: unknown) {
      super(ctx, bind(env));
    }
  };
  return Object.defineProperty(Bound, "name", { value: Class.name });
}

/** A proxy, since handlers may be added later. They are called on the object itself, not on the proxy. */
function boundObject(handlers: object, bind: BindQueues): object {
  return new Proxy(handlers, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || !HANDLERS.has(name)) return value;
      return (event: unknown, env: unknown, ...rest: unknown[]) =>
        Reflect.apply(value as Handler, target, [event, bind(env), ...rest]);
    },
  });
}

/** Whether an export is a class, told by its base class, or by its source for a Durable Object class without one. */
function isClass(exported: unknown): exported is AnyClass {
  if (typeof exported !== "function") return false;
  const { prototype } = exported as { readonly prototype?: object };
  if (prototype === undefined) return false;
  return (
    BASES.some((base) => prototype instanceof base) ||
    Function.prototype.toString.call(exported).startsWith("class")
  );
}
