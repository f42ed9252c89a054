/** A parsed TOML table or JSON object. Both parsers make them without a prototype, so any key is just a key. */
export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Makes an object by queue name, without a prototype: "constructor" is a valid queue name. */
export function recordOf<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}
