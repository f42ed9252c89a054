import type { parse } from "devalue";

/**
 * Properties of objects that structured clone keeps and devalue does not: errors with all their properties,
 * DOMExceptions, Headers, arrays with named properties, and objects that own a property called `__proto__`.
 *
 * Each object is written as an empty shell that mentions no other value, and its properties go into the fixups, a set
 * that devalue writes after everything else. So a cycle through an error is no special case: by the time the fixups are
 * read every object exists. Fixups are found while they are being written; a set visits what is added to it meanwhile.
 */
export type Fixups = Set<Fixup>;

/** A property to define on a shell. */
type Fixup = readonly [shell: object, key: string, value: unknown, enumerable: boolean];

/** Every error class that structured clone keeps, by its name. A contract: names are stored. Others may be added. */
const ERROR_SHELLS: Readonly<Record<string, () => Error>> = {
  Error: () => new Error(),
  EvalError: () => new EvalError(),
  RangeError: () => new RangeError(),
  ReferenceError: () => new ReferenceError(),
  SyntaxError: () => new SyntaxError(),
  TypeError: () => new TypeError(),
  URIError: () => new URIError(),
  AggregateError: () => new AggregateError([]),
  SuppressedError: () => new SuppressedError(undefined, undefined),
};

/** Makes devalue's reducers: it writes their tag and their result in place of the value. Properties go to `fixups`. */
export function shellReducers(fixups: Fixups): Record<string, (value: unknown) => unknown> {
  const later = (shell: object, keys: readonly string[]) => {
    for (const key of keys) {
      const enumerable = Object.prototype.propertyIsEnumerable.call(shell, key);
      fixups.add([shell, key, Reflect.get(shell, key), enumerable]);
    }
  };
  return {
    DOMException: (value) => {
      if (!(value instanceof DOMException)) return false;
      later(value, Object.hasOwn(value, "stack") ? ["stack"] : []);
      return [value.message, value.name];
    },
    Error: (value) => {
      if (!(value instanceof Error)) return false;
      later(value, Object.getOwnPropertyNames(value));
      const { name } = Object.getPrototypeOf(value).constructor;
      return Object.hasOwn(ERROR_SHELLS, name) ? name : "Error";
    },
    Headers: (value) => value instanceof Headers && [...value],
    List: (value) => {
      if (!Array.isArray(value) || !hasNamedProperties(value)) return false;
      later(value, Object.keys(value));
      return [value.length];
    },
    Bare: (value) => {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__")) return false;
      later(value, Object.keys(value));
      return true;
    },
  };
}

/** The counterpart of `shellReducers`. */
export const shellRevivers = {
  DOMException: ([message, name]: [string, string]) => new DOMException(message, name),
  Error: (name: string) => {
    const shell = ERROR_SHELLS[name]?.() ?? new Error();
    for (const key of Object.getOwnPropertyNames(shell)) Reflect.deleteProperty(shell, key);
    return shell;
  },
  Headers: (entries: [string, string][]) => new Headers(entries),
  List: ([length]: [number]) => {
    const list: unknown[] = [];
    list.length = length;
    return list;
  },
  Bare: () => ({}),
} satisfies Parameters<typeof parse>[1];

/** Gives the shells their properties. */
export function fillShells(fixups: Iterable<Fixup>): void {
  for (const [shell, key, value, enumerable] of fixups) {
    const defined = Reflect.defineProperty(shell, key, {
      value,
      enumerable,
      writable: true,
      configurable: true,
    });
    // workerd gives a DOMException a stack that can be written but not redefined.
    if (!defined) Reflect.set(shell, key, value);
  }
}

/** Whether an array has named properties. Indices come first among its keys, so the last key decides. */
function hasNamedProperties(list: readonly unknown[]): boolean {
  const last = Object.keys(list).at(-1);
  return last !== undefined && !isArrayIndex(last);
}

/**
 * Whether a key is an index. Those end at 2 ** 32 - 2 and are written in one way: "00", "1e3" and "4294967295" are
 * names.
 */
function isArrayIndex(key: string): boolean {
  const index = Number(key) >>> 0;
  return String(index) === key && index !== 2 ** 32 - 1;
}
