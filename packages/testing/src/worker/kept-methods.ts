import { LOG_LEVELS } from "@sluice/protocol";

/**
 * Puts a console that keeps its methods in front of one that makes them anew whenever they are read, as Vitest's does in
 * Workers: what notes a handler's lines cannot be put into that.
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
    // A spy is the console's own, until it is restored.
    defineProperty: (_, key, descriptor) => {
      methods.delete(key);
      return Reflect.defineProperty(behind, key, descriptor);
    },
  });
  Reflect.set(globalThis, "console", front);
}
