import { isInNetwork } from "./cidr.ts";
import type { Condition, NumericComparison } from "./policy.ts";
import type { Value } from "./value.ts";

/** Conditions on one value; `exists` and `anything-but` are on all values of a property. */
export type ValueCondition = Exclude<Condition, { kind: "exists" | "anything-but" }>;

/** Whether one value meets a condition. Upper and lower case differ, and a number is no string. */
export function valueMatches(condition: ValueCondition, value: Value): boolean {
  const { scalar } = value;
  switch (condition.kind) {
    case "equals":
      return condition.values.has(scalar);
    case "prefix":
      return typeof scalar === "string" && scalar.startsWith(condition.text);
    case "suffix":
      return typeof scalar === "string" && scalar.endsWith(condition.text);
    case "equals-ignore-case":
      return typeof scalar === "string" && scalar.toLowerCase() === condition.text;
    case "wildcard":
      return typeof scalar === "string" && wildcardMatches(condition.parts, scalar);
    case "numeric":
      return typeof scalar === "number" && condition.comparisons.every((one) => compares(one, scalar));
    case "cidr": {
      const { address } = value;
      return address !== null && condition.networks.some((network) => isInNetwork(address, network));
    }
  }
}

/** Whether a value matches a wildcard: any characters may stand between its parts, also none. */
function wildcardMatches([first = "", ...parts]: readonly string[], value: string): boolean {
  const last = parts.pop();
  if (last === undefined) return value === first;
  if (value.length < first.length + last.length) return false;
  if (!value.startsWith(first) || !value.endsWith(last)) return false;
  const end = value.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const found = at + part.length > end ? -1 : indexIn(value, part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Longest text for which `indexOf` is used. */
const SHORT_LENGTH_MAX = 32;

/**
 * Finds where a text begins in a value, from `at` on; -1 for nowhere. `indexOf` begins anew at each letter of a value
 * that nearly matches everywhere, which took 0.5 s for one wildcard. This goes through the value once (Knuth, Morris
 * and Pratt).
 */
function indexIn(value: string, text: string, at: number): number {
  if (text.length <= SHORT_LENGTH_MAX) return value.indexOf(text, at);
  const borders = bordersOf(text);
  let matched = 0;
  for (let i = at; i < value.length; i++) {
    matched = nextMatched(text, borders, matched, value.charCodeAt(i));
    if (matched === text.length) return i + 1 - matched;
  }
  return -1;
}

/** Computes, for each prefix of a text, the length of the longest shorter prefix that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1);
  for (let i = 1, matched = 0; i < text.length; i++) {
    matched = nextMatched(text, borders, matched, text.charCodeAt(i));
    borders[i + 1] = matched;
  }
  return borders;
}

/** Returns the length of the prefix that matches after one more letter. */
function nextMatched(text: string, borders: Uint32Array, before: number, letter: number): number {
  let matched = before;
  while (matched > 0 && text.charCodeAt(matched) !== letter) matched = borders[matched] ?? 0;
  return text.charCodeAt(matched) === letter ? matched + 1 : 0;
}

function compares({ operator, value: bound }: NumericComparison, value: number): boolean {
  switch (operator) {
    case "<":
      return value < bound;
    case "<=":
      return value <= bound;
    case "=":
      return value === bound;
    case ">":
      return value > bound;
    case ">=":
      return value >= bound;
  }
}
