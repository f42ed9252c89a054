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
 * Binds queues to an export of the user's main module: a class, or an object of handlers. Other values are returned
 * unchanged.
 */
export function boundHandlers(exported: unknown, bind: BindQueues): unknown {
  if (isClass(exported)) return boundClass(exported, bind);
  return typeof exported === "object" && exported !== null ? boundObject(exported, bind) : exported;
}

/** Binds all named exports of the user's main module, each when it is used. */
export function boundExports(module: object, bind: BindQueues): object {
  const names = Object.keys(module).filter((name) => name !== "default");
  const bound = new Map<unknown, unknown>();
  const boundOnce = (exported: unknown) => {
    // The runner takes another class for a new version of it.
    if (!bound.has(exported)) bound.set(exported, boundHandlers(exported, bind));
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

/** Binds an object by a proxy, so that a handler added later counts too. Handlers keep their `this`. */
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

/** Whether an export is a class. A Durable Object's class may extend nothing. */
function isClass(exported: unknown): exported is AnyClass {
  if (typeof exported !== "function") return false;
  const { prototype } = exported as { readonly prototype?: object };
  if (prototype === undefined) return false;
  return (
    BASES.some((base) => Object.prototype.isPrototypeOf.call(base.prototype, prototype)) ||
    Function.prototype.toString.call(exported).startsWith("class")
  );
}
