import { type Network, parseNetwork } from "./cidr.ts";
import {
  type Condition,
  InvalidFilterPolicy,
  type NumericComparison,
  type NumericOperator,
} from "./policy.ts";

/** Keywords of conditions: an object with such a member is a condition, in any place. */
export const CONDITION_KEYWORDS = [
  "anything-but",
  "cidr",
  "equals-ignore-case",
  "exists",
  "numeric",
  "prefix",
  "suffix",
  "wildcard",
] as const;

/** Conditions that `anything-but` can negate. */
const NEGATABLE = ["prefix", "suffix", "equals-ignore-case", "wildcard"] as const;

const NUMERIC_OPERATORS: readonly string[] = ["<", "<=", "=", ">", ">="] satisfies NumericOperator[];

function refuse(reason: string): never {
  throw new InvalidFilterPolicy(`FilterPolicy: ${reason}`);
}

/**
 * Reads one element of the array of a property. Throws `InvalidFilterPolicy` in SNS's words (spec sns-delivery 9.4).
 */
export function parseCondition(value: unknown): Condition {
  if (value === null || typeof value !== "object") return parseEquals(value);
  if (Array.isArray(value)) refuse("Match value must be String, number, true, false, or null");
  const [entry, ...others] = Object.entries(value);
  if (entry === undefined || others.length > 0) refuse("Only one key allowed in match expression");
  const [keyword, operand]: [string, unknown] = entry;
  switch (keyword) {
    case "prefix":
    case "suffix":
      return { kind: keyword, text: textOf(keyword, operand) };
    case "equals-ignore-case":
      return { kind: keyword, text: textOf(keyword, operand).toLowerCase() };
    case "wildcard":
      return { kind: keyword, parts: textOf(keyword, operand).split("*") };
    case "exists":
      return typeof operand === "boolean"
        ? { kind: "exists", exists: operand }
        : refuse("exists match pattern must be either true or false.");
    case "numeric":
      return { kind: "numeric", comparisons: parseNumeric(operand) };
    case "cidr":
      return { kind: "cidr", networks: [parseCidr(operand)] };
    case "anything-but":
      return { kind: "anything-but", conditions: parseAnythingBut(operand) };
    default:
      return refuse(`Unrecognized match type ${keyword}`);
  }
}

/**
 * Reads the array of a property. Its networks become one condition, and so do its values: an array can be as long as
 * the policy, and each value of a message is read once for that.
 */
export function parseConditions(values: readonly unknown[]): readonly Condition[] {
  const conditions = values.map(parseCondition);
  const networks = conditions.flatMap((one) => (one.kind === "cidr" ? one.networks : []));
  const equals = conditions.flatMap((one) => (one.kind === "equals" ? [...one.values] : []));
  return [
    ...conditions.filter(({ kind }) => kind !== "cidr" && kind !== "equals"),
    ...(networks.length === 0 ? [] : [{ kind: "cidr" as const, networks }]),
    ...(equals.length === 0 ? [] : [{ kind: "equals" as const, values: new Set(equals) }]),
  ];
}

function textOf(keyword: string, operand: unknown): string {
  return typeof operand === "string" ? operand : refuse(`${keyword} match pattern must be a string`);
}

function parseEquals(value: unknown): Extract<Condition, { kind: "equals" }> {
  if (
    value === null ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return { kind: "equals", values: new Set([value]) };
  }
  return refuse("Match value must be String, number, true, false, or null");
}

function parseAnythingBut(operand: unknown): readonly Condition[] {
  if (Array.isArray(operand)) {
    if (operand.length === 0) refuse("Empty arrays are not allowed");
    // One set: a list can be as long as the policy, and is compared with each value of a message.
    return [{ kind: "equals", values: new Set(operand.flatMap((one) => [...parseEquals(one).values])) }];
  }
  if (operand === null || typeof operand !== "object") return [parseEquals(operand)];
  for (const keyword of Object.keys(operand)) {
    if (!NEGATABLE.some((known) => known === keyword)) refuse(`Unsupported anything-but pattern: ${keyword}`);
  }
  return [parseCondition(operand)];
}

/** `[">", 0, "<=", 100]`: one comparison, or a lower bound and then an upper one. */
function parseNumeric(operand: unknown): readonly NumericComparison[] {
  const members: unknown[] = Array.isArray(operand) ? [...operand] : [];
  const [operator, value, secondOperator, secondValue, ...rest] = members;
  if (members.length === 0) refuse("Invalid member in numeric match: ]");
  if (typeof operator !== "string") refuse(`Invalid member in numeric match: ${JSON.stringify(operator)}`);
  if (!isNumericOperator(operator)) refuse(`Unrecognized numeric range operator: ${operator}`);
  if (typeof value !== "number") refuse(`Value of ${operator === "=" ? "equals" : operator} must be numeric`);
  const first = { operator, value };
  if (members.length === 2) return [first];
  if (operator !== ">" && operator !== ">=") refuse("Too many elements in numeric expression");
  if (typeof secondOperator !== "string")
    refuse(`Bad value in numeric range: ${JSON.stringify(secondOperator)}`);
  if (secondOperator !== "<" && secondOperator !== "<=")
    refuse(`Bad numeric range operator: ${secondOperator}`);
  if (typeof secondValue !== "number") refuse(`Value of ${secondOperator} must be numeric`);
  if (secondValue <= value) refuse("Bottom must be less than top");
  if (rest.length > 0) refuse("Too many terms in numeric range expression");
  return [first, { operator: secondOperator, value: secondValue }];
}

function isNumericOperator(text: string): text is NumericOperator {
  return NUMERIC_OPERATORS.includes(text);
}

function parseCidr(operand: unknown): Network {
  // SNS says "prefix" here too.
  if (typeof operand !== "string") refuse("prefix match pattern must be a string");
  const [address, mask, ...others] = operand.split("/");
  if (mask === undefined || others.length > 0) refuse("Malformed CIDR, one '/' required");
  if (!/^\d+$/.test(mask)) refuse("Malformed CIDR, mask bits must be an integer");
  return parseNetwork(operand) ?? refuse(`Nonstandard IP address: ${address}`);
}
