/** Bounds of a 32-bit integer: what the binding can put on the wire. */
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/**
 * Reads a delay as the bindings do, in `send()` and in `retry()` (spec cloudflare-queues 1.4, 2.1): `ToNumber`,
 * truncated. A value that is no finite number is 0, `null` included; `undefined` is no delay. The range of 0 to 86,400
 * s is checked elsewhere.
 *
 * @throws TypeError outside 32 bits, and what `ToNumber` throws for a symbol or a BigInt.
 */
export function toDelaySeconds(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = +(value as number);
  if (!Number.isFinite(number)) return 0;
  const seconds = Math.trunc(number);
  if (seconds < INT32_MIN || seconds > INT32_MAX) {
    throw new TypeError(`Value out of range. Must be between ${INT32_MIN} and ${INT32_MAX} (inclusive).`);
  }
  // -0.5 truncates to -0; adding 0 makes it 0.
  return seconds + 0;
}

/**
 * Reads an options argument as the bindings do: `undefined` and `null` are no options.
 *
 * @param refusal text of the TypeError for anything else that is no object.
 */
export function toOptions<Options extends object>(value: unknown, refusal: string): Partial<Options> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new TypeError(refusal);
  return value as Partial<Options>;
}

/** Whether a value is an object as JavaScript has it: functions are objects too. */
export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** Makes the error that a method of a binding throws when it is called without its object. */
export function illegalInvocation(): TypeError {
  return new TypeError(
    "Illegal invocation: function called with incorrect `this` reference. See " +
      "https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details.",
  );
}
