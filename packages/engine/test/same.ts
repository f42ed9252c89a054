/** Throws where the engine and the naive list differ; not `expect`, because it runs millions of times. */
export function same<Value>(actual: Value, expected: Value, what: string): void {
  if (actual !== expected) throw new Error(`${what}: the engine says ${actual}, the list ${expected}`);
}
