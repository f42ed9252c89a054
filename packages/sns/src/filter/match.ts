import type { AttributeValue } from "@sluice/aws";
import type { Condition, FilterPolicy, FilterPolicyScope, FilterProperty, Scalar } from "./policy.ts";
import { valueMatches } from "./value-matches.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** What a filter policy looks at. */
export interface FilteredMessage {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** As the subscription gets it: with `MessageStructure` the text of its protocol. */
  readonly body: string;
}

/** Whether one value of an array without any match is enough for `anything-but`, or none may match. */
type ArrayRule = "some" | "none";

/**
 * Whether a subscription with a filter policy gets a message (spec sns-delivery 9.5).
 *
 * - Attributes: `Number` is a number, `String.Array` an array, `Binary` is not looked at; a message without any other
 *   attribute matches nothing, not even `exists: false`.
 * - Body: a text that is no JSON object matches nothing. Of an array of objects, one element has to have all.
 * - A policy without properties matches everything.
 */
export function matchesFilterPolicy(
  policy: FilterPolicy,
  scope: FilterPolicyScope,
  message: FilteredMessage,
): boolean {
  if (policy.properties.size === 0 && policy.choices.length === 0) return true;
  if (scope === "MessageBody") {
    const body = parseObject(message.body);
    return body !== null && objectMatches(policy, body, "some");
  }
  const attributes = attributesObject(message.attributes);
  return Object.keys(attributes).length > 0 && objectMatches(policy, attributes, "none");
}

function objectMatches(policy: FilterPolicy, object: JsonObject, rule: ArrayRule): boolean {
  for (const [name, property] of policy.properties) {
    if (!propertyMatches(property, object, name, rule)) return false;
  }
  return policy.choices.every((choices) => choices.some((choice) => objectMatches(choice, object, rule)));
}

function propertyMatches(
  { conditionGroups, nested }: FilterProperty,
  object: JsonObject,
  name: string,
  rule: ArrayRule,
): boolean {
  const { scalars, objects } = contentOf(Object.hasOwn(object, name) ? object[name] : []);
  for (const group of conditionGroups) {
    if (!group.some((condition) => conditionMatches(condition, scalars, rule))) return false;
  }
  if (nested === null) return true;
  const candidates = withDottedMembers(objects, object, name);
  return candidates.some((candidate) => objectMatches(nested, candidate, rule));
}

function conditionMatches(condition: Condition, values: readonly Scalar[], rule: ArrayRule): boolean {
  if (condition.kind === "exists") {
    return condition.exists === values.some((value) => value !== null && value !== "");
  }
  if (condition.kind !== "anything-but") return values.some((value) => valueMatches(condition, value));
  const isOther = (value: Scalar) =>
    value !== null && !condition.conditions.some((one) => conditionMatches(one, [value], rule));
  return rule === "some" ? values.some(isOther) : values.length > 0 && values.every(isOther);
}

interface Content {
  readonly scalars: readonly Scalar[];
  readonly objects: readonly JsonObject[];
}

/** What a member has in it, out of arrays of any depth. */
function contentOf(member: unknown): Content {
  const scalars: Scalar[] = [];
  const objects: JsonObject[] = [];
  const rest: unknown[] = [member];
  while (rest.length > 0) {
    const value = rest.pop();
    if (Array.isArray(value)) for (const element of value) rest.push(element);
    else if (typeof value === "object" && value !== null) objects.push(value as JsonObject);
    else scalars.push(value as Scalar); // JSON has nothing else.
  }
  return { scalars, objects };
}

/** Where members `name.x` stand beside a member `name`, they are members x of it. No object is one without members. */
function withDottedMembers(
  objects: readonly JsonObject[],
  parent: JsonObject,
  name: string,
): readonly JsonObject[] {
  const prefix = `${name}.`;
  const dotted = Object.entries(parent).filter(([key]) => key.startsWith(prefix));
  if (dotted.length === 0) return objects.length === 0 ? [{}] : objects;
  const members = dotted.map(([key, value]) => [key.slice(prefix.length), value] as const);
  return (objects.length === 0 ? [{}] : objects).map((object) => {
    const merged = new Map<string, unknown>(Object.entries(object));
    for (const [key, value] of members) {
      merged.set(key, merged.has(key) ? [merged.get(key), value] : value);
    }
    return Object.fromEntries(merged);
  });
}

/** The attributes as the members of a JSON object. */
function attributesObject(attributes: FilteredMessage["attributes"]): JsonObject {
  const members: [string, unknown][] = [];
  for (const [name, { DataType = "", StringValue = "" }] of Object.entries(attributes)) {
    if (DataType === "String.Array") members.push([name, parseArray(StringValue)]);
    else if (isOfType(DataType, "Number")) members.push([name, Number(StringValue)]);
    else if (isOfType(DataType, "String")) members.push([name, StringValue]);
  }
  return Object.fromEntries(members);
}

/** Types can have a label behind a dot. */
function isOfType(dataType: string, type: "Number" | "String"): boolean {
  return dataType === type || dataType.startsWith(`${type}.`);
}

/** The elements of a `String.Array`; none of a text that is no JSON array. */
function parseArray(text: string): readonly unknown[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value : [];
}

function parseObject(text: string): JsonObject | null {
  const value = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** `undefined` for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
