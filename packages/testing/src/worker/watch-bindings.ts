import { callFor } from "./invocation.ts";

/** Classes of data, whose objects are not called. */
const DATA: ReadonlySet<string> = new Set([
  "Array",
  "ArrayBuffer",
  "CryptoKey",
  "DurableObjectId",
  "Module",
  "Object",
  "Uint8Array",
]);
const IDS = ["idFromName", "idFromString", "newUniqueId"];
/** Methods without a call of their own, by class: their result makes the call. */
const BUILDERS: Readonly<Record<string, readonly string[]>> = {
  D1Database: ["prepare", "withSession"],
  D1DatabaseSession: ["prepare"],
  D1PreparedStatement: ["bind"],
  DurableObjectNamespace: ["get", "getByName", "getExisting", "jurisdiction", ...IDS],
  DynamicDispatcher: ["get"],
  R2Bucket: ["resumeMultipartUpload"],
};
/** Beginning of the names of our bindings. */
const OURS = "__";
/** Methods that read a property of another Worker. */
const READS: ReadonlySet<string> = new Set(["then", "catch", "finally"]);

type Call = (...args: unknown[]) => unknown;

/**
 * Routes the calls of all bindings and of the global `fetch` through `callFor`. Runs before any of the user's code,
 * which may keep references to them.
 */
export function watchCalls(env: object): void {
  for (const name of Object.keys(env)) if (!name.startsWith(OURS)) watchBinding(env, name);
  const { fetch } = globalThis;
  const watched = (...args: Parameters<typeof fetch>) => callFor("fetch", () => fetch(...args));
  globalThis.fetch = watched as typeof fetch;
}

/** Routes the calls of a binding through `callFor`. */
export function watchBinding(env: object, name: string): void {
  const binding: unknown = Reflect.get(env, name);
  if (typeof binding === "object" && binding !== null) watch(binding, `env.${name}`);
}

/**
 * Watches the calls of an object in place, so that the runtime still knows it and it can be passed to another Worker. A
 * prototype of ours finds its methods. The stub of a Worker or of an object claims to have every method, but only
 * through its own prototype, which it gets back during a lookup.
 */
function watch<Watched extends object>(target: Watched, name: string): Watched {
  const prototype: object | null = Object.getPrototypeOf(target);
  const className = String(target.constructor?.name);
  if (prototype === null || DATA.has(className)) return target;
  const builders = BUILDERS[className] ?? [];
  const ours = new Proxy(prototype, {
    get(_, key) {
      Object.setPrototypeOf(target, prototype);
      let value: unknown;
      try {
        value = Reflect.get(target, key);
      } finally {
        Object.setPrototypeOf(target, ours);
      }
      if (typeof value !== "function" || typeof key === "symbol" || key === "constructor") return value;
      const method = value as Call;
      if (!builders.includes(key)) return watchedMethod(method, `${name}.${key}`);
      return (...args: unknown[]) => {
        const built = Reflect.apply(method, target, args);
        return typeof built === "object" && built !== null ? watch(built, name) : built;
      };
    },
  });
  Object.setPrototypeOf(target, ours);
  return target;
}

/** Watches a method, or a property of another Worker, which has properties and methods in turn. */
function watchedMethod(method: Call, name: string): Call {
  return new Proxy(method, {
    apply: (_, self, args) => callFor(name, () => Reflect.apply(method, self, args)),
    get(_, key) {
      const value: unknown = Reflect.get(method, key);
      if (typeof value !== "function" || typeof key === "symbol" || key in Function.prototype) return value;
      if (!READS.has(key)) return watchedMethod(value as Call, `${name}.${key}`);
      return (...args: unknown[]) => callFor(name, () => Reflect.apply(value as Call, method, args));
    },
  });
}
