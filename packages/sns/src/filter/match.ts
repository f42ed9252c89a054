import type { AttributeValue } from "@sluice/aws";
import { type JsonObject, MessageObject } from "./message-object.ts";
import type { Condition, FilterPolicy, FilterPolicyScope, FilterProperty } from "./policy.ts";
import type { Value } from "./value.ts";
import { valueMatches } from "./value-matches.ts";

/** Parts of a message that a filter policy is matched with. */
export interface FilteredMessage {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** As the subscription gets it: with `MessageStructure` the text of its protocol. */
  readonly body: string;
}

/** Rule of `anything-but` for an array. `some`: one value that does not match is enough. `none`: no value may match. */
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
    return body !== null && objectMatches(policy, MessageObject.of(body), "some");
  }
  const attributes = attributesObject(message.attributes);
  if (Object.keys(attributes).length === 0) return false;
  return objectMatches(policy, MessageObject.of(attributes), "none");
}

/** The recursion goes as deep as the policy, `FILTER_POLICY_LEVELS_MAX` levels at most, however deep a message is. */
function objectMatches(policy: FilterPolicy, object: MessageObject, rule: ArrayRule): boolean {
  for (const [name, property] of policy.properties) {
    if (!propertyMatches(property, object, name, rule)) return false;
  }
  return policy.choices.every((choices) => choices.some((choice) => objectMatches(choice, object, rule)));
}

function propertyMatches(
  { conditionGroups, nested }: FilterProperty,
  object: MessageObject,
  name: string,
  rule: ArrayRule,
): boolean {
  for (const group of conditionGroups) {
    const { values } = object.content(name);
    if (!group.some((condition) => conditionMatches(condition, values, rule))) return false;
  }
  return nested === null || object.below(name).some((one) => objectMatches(nested, one, rule));
}

function conditionMatches(condition: Condition, values: readonly Value[], rule: ArrayRule): boolean {
  if (condition.kind === "exists") {
    return condition.exists === values.some(({ scalar }) => scalar !== null && scalar !== "");
  }
  if (condition.kind !== "anything-but") return values.some((value) => valueMatches(condition, value));
  const isOther = (value: Value) =>
    value.scalar !== null && !condition.conditions.some((one) => conditionMatches(one, [value], rule));
  return rule === "some" ? values.some(isOther) : values.length > 0 && values.every(isOther);
}

/** Makes a JSON object of the attributes. */
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

/** Reads the elements of a `String.Array`; none of a text that is no JSON array. */
function parseArray(text: string): readonly unknown[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value : [];
}

function parseObject(text: string): JsonObject | null {
  const value = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** Parses JSON; `undefined` for any other text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
