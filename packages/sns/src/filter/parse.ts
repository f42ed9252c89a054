import { CONDITION_KEYWORDS, parseConditions } from "./conditions.ts";
import {
  type Condition,
  type FilterPolicy,
  type FilterPolicyScope,
  type FilterProperty,
  InvalidFilterPolicy,
} from "./policy.ts";

/** Most properties at the top of a filter policy (spec sns-delivery 9.5). */
export const FILTER_POLICY_KEYS_MAX = 5;
/** Most combinations of values: their numbers multiplied, each also by the depth of its property. */
export const FILTER_POLICY_COMBINATIONS_MAX = 150;
/** Most levels of a property, choices and dots in its name included. A deeper one always has too many combinations. */
export const FILTER_POLICY_LEVELS_MAX = FILTER_POLICY_COMBINATIONS_MAX;
/** Most names in a policy, each level of a name with dots counted: as many as its keys can have. */
export const FILTER_POLICY_NAMES_MAX = FILTER_POLICY_KEYS_MAX * FILTER_POLICY_LEVELS_MAX;
/** Most bytes of a filter policy. */
export const FILTER_POLICY_BYTES_MAX = 262_144;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads the attribute `FilterPolicy` of a subscription. Names with a dot are split: `a.b` is the property b of a.
 *
 * @throws InvalidFilterPolicy in SNS's words, without the place in the text that SNS names behind some of them.
 */
export function parseFilterPolicy(text: string, scope: FilterPolicyScope): FilterPolicy {
  if (new TextEncoder().encode(text).byteLength > FILTER_POLICY_BYTES_MAX) {
    throw new InvalidFilterPolicy(`FilterPolicy: larger than ${FILTER_POLICY_BYTES_MAX} bytes`);
  }
  const document = parseDocument(text);
  if (!isObject(document)) throw new InvalidFilterPolicy("FilterPolicy: Filter is not an object");
  if (Object.keys(document).length > FILTER_POLICY_KEYS_MAX) {
    throw new InvalidFilterPolicy("FilterPolicy: Filter policy can not have more than 5 keys");
  }
  checkShape(document, scope, { depth: 1, levels: 0 }, { names: 0 });
  if (combinationsOf(document, 1, 1) > FILTER_POLICY_COMBINATIONS_MAX) throw tooComplex();
  return readObject(document);
}

/** Returns the fault of a filter policy, in SNS's words; `null` for a policy that is good. */
export function filterPolicyFault(text: string, scope: FilterPolicyScope): string | null {
  try {
    parseFilterPolicy(text, scope);
    return null;
  } catch (error) {
    if (error instanceof InvalidFilterPolicy) return error.message;
    throw error;
  }
}

/** @param limit one that SNS does not name: a policy beyond it has too many combinations. */
function tooComplex(limit: string | null = null): InvalidFilterPolicy {
  const text = "FilterPolicy: Filter policy is too complex";
  return new InvalidFilterPolicy(limit === null ? text : `${text}: ${limit} at most`);
}

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidFilterPolicy(`FilterPolicy: failed to parse JSON. ${(error as Error).message}`);
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the choices of an `$or`: two objects or more, none of which is a condition. `null` for a property. */
function choicesOf(key: string, value: unknown): readonly JsonObject[] | null {
  if (key !== "$or" || !Array.isArray(value) || value.length < 2) return null;
  const isChoice = (choice: unknown) =>
    isObject(choice) && !CONDITION_KEYWORDS.some((keyword) => Object.hasOwn(choice, keyword));
  return value.every(isChoice) ? value : null;
}

/** Place of an object in a policy. The top has a depth of 1, and 0 levels of names and choices above it. */
interface Place {
  readonly depth: number;
  readonly levels: number;
}

/** Throws `InvalidFilterPolicy` for a wrong or too complex object. @param counted counts of the policy so far. */
function checkShape(
  object: JsonObject,
  scope: FilterPolicyScope,
  { depth, levels }: Place,
  counted: { names: number },
): void {
  for (const [key, value] of Object.entries(object)) {
    const choices = choicesOf(key, value);
    const below = levels + (choices === null ? levelsOf(key) : 1);
    counted.names += below - levels;
    if (below > FILTER_POLICY_LEVELS_MAX) throw tooComplex(`${FILTER_POLICY_LEVELS_MAX} levels`);
    if (counted.names > FILTER_POLICY_NAMES_MAX) throw tooComplex(`${FILTER_POLICY_NAMES_MAX} names`);
    if (choices !== null) {
      for (const choice of choices) checkShape(choice, scope, { depth, levels: below }, counted);
    } else if (Array.isArray(value)) {
      if (value.length === 0) throw new InvalidFilterPolicy("FilterPolicy: Empty arrays are not allowed");
    } else if (isObject(value)) {
      checkShape(value, scope, { depth: depth + 1, levels: below }, counted);
    } else {
      throw new InvalidFilterPolicy(`FilterPolicy: "${key}" must be an object or an array`);
    }
  }
  if (scope === "MessageAttributes" && depth > 1) {
    throw new InvalidFilterPolicy(
      "Filter policy scope MessageAttributes does not support nested filter policy",
    );
  }
}

/** Counts the levels of a name, two of `a.b`. Stops one above the most that there may be. */
function levelsOf(name: string): number {
  return name.split(".", FILTER_POLICY_LEVELS_MAX + 1).length;
}

/**
 * Counts the combinations of an object: values of a property times its depth, multiplied over properties, and added up
 * over choices.
 *
 * @param before combinations of the properties before it, which are multiplied in.
 */
function combinationsOf(object: JsonObject, depth: number, before: number): number {
  let combinations = before;
  for (const [key, value] of Object.entries(object)) {
    const choices = choicesOf(key, value);
    if (choices !== null) {
      const from = combinations;
      combinations = choices.reduce((sum, choice) => sum + combinationsOf(choice, depth, from), 0);
    } else if (Array.isArray(value)) {
      combinations *= value.length * depth;
    } else if (isObject(value)) {
      combinations = combinationsOf(value, depth + 1, combinations);
    }
  }
  return combinations;
}

interface MutableProperty {
  readonly conditionGroups: (readonly Condition[])[];
  nested: MutablePolicy | null;
}
interface MutablePolicy {
  readonly properties: Map<string, MutableProperty>;
  readonly choices: (readonly FilterPolicy[])[];
}

function readObject(object: JsonObject): FilterPolicy {
  const policy: MutablePolicy = { properties: new Map(), choices: [] };
  readInto(policy, object);
  return policy satisfies { properties: ReadonlyMap<string, FilterProperty> };
}

function readInto(policy: MutablePolicy, object: JsonObject): void {
  for (const [key, value] of Object.entries(object)) {
    const choices = choicesOf(key, value);
    if (choices !== null) {
      policy.choices.push(choices.map(readObject));
      continue;
    }
    const property = propertyAt(policy, key.split("."));
    if (Array.isArray(value)) {
      property.conditionGroups.push(parseConditions(value));
    } else {
      property.nested ??= { properties: new Map(), choices: [] };
      readInto(property.nested, value as JsonObject); // Any other value was refused before.
    }
  }
}

/** Finds the property that a path of names leads to, made where there is none yet. */
function propertyAt(policy: MutablePolicy, path: readonly string[]): MutableProperty {
  let property = propertyNamed(policy, path[0] ?? "");
  for (const name of path.slice(1)) {
    property.nested ??= { properties: new Map(), choices: [] };
    property = propertyNamed(property.nested, name);
  }
  return property;
}

function propertyNamed({ properties }: MutablePolicy, name: string): MutableProperty {
  const property = properties.get(name) ?? { conditionGroups: [], nested: null };
  properties.set(name, property);
  return property;
}
