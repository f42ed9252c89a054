/** Names of lists' and maps' elements in a form, where they differ from the member's name (spec sqs 1.3). */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  tags: "Tag",
  Tags: "Tag",
  TagKeys: "TagKey",
  Attributes: "Attribute",
  AttributeNames: "AttributeName",
  MessageSystemAttributeNames: "AttributeName",
  MessageAttributeNames: "MessageAttributeName",
  MessageAttributes: "MessageAttribute",
  MessageSystemAttributes: "MessageSystemAttribute",
  AWSAccountIds: "AWSAccountId",
  Actions: "ActionName",
  StringListValues: "StringListValue",
  BinaryListValues: "BinaryListValue",
};
const MAPS = ["tags", "Tags", "Attributes", "MessageAttributes", "MessageSystemAttributes"];

/** Converts an input to the form of the Query protocol. A list or a null in the place of a text becomes JSON. */
export function formPairs(action: string, input: object): [string, string][] {
  const pairs: [string, string][] = [["Action", action]];
  addMembers(pairs, "", input, action);
  return pairs;
}

function addMembers(pairs: [string, string][], prefix: string, input: object, action: string): void {
  for (const [name, value] of Object.entries(input)) {
    const wireName = name === "Entries" ? `${action}RequestEntry` : (WIRE_NAMES[name] ?? name);
    const key = `${prefix}${wireName}`;
    if (Array.isArray(value)) {
      for (const [i, element] of value.entries()) addValue(pairs, `${key}.${i + 1}`, element, action);
    } else if (MAPS.includes(name) && isObject(value)) {
      for (const [i, [each, element]] of Object.entries(value).entries()) {
        pairs.push([`${key}.${i + 1}.${wireName === "Tag" ? "Key" : "Name"}`, each]);
        addValue(pairs, `${key}.${i + 1}.Value`, element, action);
      }
    } else {
      addValue(pairs, key, value, action);
    }
  }
}

function addValue(pairs: [string, string][], key: string, value: unknown, action: string): void {
  if (isObject(value)) addMembers(pairs, `${key}.`, value, action);
  else pairs.push([key, typeof value === "string" ? value : JSON.stringify(value)]);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
