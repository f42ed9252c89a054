import { LOG_LEVELS } from "@sluice/protocol";

/**
 * Replaces a console that returns new methods at each read, as Vitest's does in Workers, by a proxy that keeps them:
 * methods that record a handler's lines can be set only on such a console.
 */
export function keepMethodsOfConsole(): void {
  const behind = console;
  const methods = new Map<PropertyKey, unknown>();
  for (const level of LOG_LEVELS) {
    const method: unknown = behind[level];
    if (method !== behind[level]) methods.set(level, method);
  }
  if (methods.size === 0) return;
  const front = new Proxy(behind, {
    get: (_, key) => (methods.has(key) ? methods.get(key) : Reflect.get(behind, key)),
    set: (_, key, value) => {
      if (!methods.has(key)) return Reflect.set(behind, key, value);
      methods.set(key, value);
      return true;
    },
    // A test's spy goes to the console behind, until it is restored.
    defineProperty: (_, key, descriptor) => {
      methods.delete(key);
      return Reflect.defineProperty(behind, key, descriptor);
    },
  });
  Reflect.set(globalThis, "console", front);
}
