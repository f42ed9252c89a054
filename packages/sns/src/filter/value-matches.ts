import { isInNetwork, parseAddress, parseNetwork } from "./cidr.ts";
import type { Condition, NumericComparison, Scalar } from "./policy.ts";

/** Conditions that look at one value; `exists` and `anything-but` look at all that a property has. */
export type ValueCondition = Exclude<Condition, { kind: "exists" | "anything-but" }>;

/** Whether one value meets a condition. Strings are compared case by case, and a number is no string. */
export function valueMatches(condition: ValueCondition, value: Scalar): boolean {
  switch (condition.kind) {
    case "equals":
      return condition.values.has(value);
    case "prefix":
      return typeof value === "string" && value.startsWith(condition.text);
    case "suffix":
      return typeof value === "string" && value.endsWith(condition.text);
    case "equals-ignore-case":
      return typeof value === "string" && value.toLowerCase() === condition.text.toLowerCase();
    case "wildcard":
      return typeof value === "string" && wildcardMatches(condition.text, value);
    case "numeric":
      return typeof value === "number" && condition.comparisons.every((one) => compares(one, value));
    case "cidr": {
      const address = typeof value === "string" ? parseAddress(value) : null;
      const network = parseNetwork(condition.network);
      return address !== null && network !== null && isInNetwork(address, network);
    }
  }
}

/** `*` stands for any characters, also for none. */
function wildcardMatches(pattern: string, value: string): boolean {
  const parts = pattern.split("*");
  const first = parts.shift() ?? "";
  const last = parts.pop();
  if (last === undefined) return value === first;
  if (value.length < first.length + last.length) return false;
  if (!value.startsWith(first) || !value.endsWith(last)) return false;
  const end = value.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const found = value.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
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
