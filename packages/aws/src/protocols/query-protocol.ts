import { AwsError, COMMON_ERRORS } from "../aws-error.ts";
import { fromBase64 } from "../values/base64.ts";
import type { FormNode } from "./form.ts";
import type { MapShape, Shape, StructureShape, ValueOf } from "./shape.ts";

/**
 * Reads the input of an action from the fields of a form or a query string (spec sqs 1.3). Keys that the shape does not
 * know are left alone, as AWS leaves them. Throws `AwsError` (`MalformedInput`) for a number or base64 text that is
 * none.
 */
export function readQueryInput<S extends StructureShape>(shape: S, form: FormNode): ValueOf<S> {
  return (readStructure(shape, form) ?? {}) as ValueOf<S>;
}

function read(shape: Shape, node: FormNode | undefined): unknown {
  switch (shape.type) {
    case "structure":
      return readStructure(shape, node);
    case "list": {
      const elements: unknown[] = [];
      for (const each of shape.flattened ? elementsOf(node, shape.member) : numberedBelow(node, "member")) {
        const element = read(shape.member, each);
        if (element !== undefined) elements.push(element);
      }
      return elements.length === 0 ? undefined : elements;
    }
    case "map":
      return readMap(shape, node);
    default:
      return node?.text === undefined ? undefined : readScalar(shape.type, node.text);
  }
}

function readStructure(shape: StructureShape, node: FormNode | undefined): object | undefined {
  if (node === undefined) return undefined;
  // Its names are those of the shape, so nothing can reach the prototype.
  const result: Record<string, unknown> = {};
  if (!node.hasChildren) return result;
  for (const name in shape.members) {
    const member = shape.members[name] as Shape; // one of its own names
    const child = node.child(wireNameOf(name, member));
    const value = child === undefined ? undefined : read(member, child);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

function readMap(shape: MapShape, node: FormNode | undefined): object | undefined {
  const entries = shape.flattened ? entriesOf(node, shape.keyName) : numberedBelow(node, "entry");
  if (entries.length === 0) return undefined;
  const result: Record<string, unknown> = Object.create(null);
  for (const entry of entries) {
    const key = entry.child(shape.keyName)?.text;
    const value = read(shape.value, entry.child(shape.valueName));
    // A name without a value is an empty one: `Attribute.1.Value=` and no key at all look alike to many clients.
    if (key !== undefined) result[key] = value ?? (shape.value.type === "string" ? "" : {});
  }
  return result;
}

/**
 * Lists the elements of a flattened list. A single text may do without a number: boto 2 asks for a queue's attributes
 * by `AttributeName=All`.
 */
function elementsOf(node: FormNode | undefined, member: Shape): readonly FormNode[] {
  if (node === undefined) return [];
  const elements = node.numbered();
  return elements.length > 0 || member.type !== "string" || node.text === undefined ? elements : [node];
}

/**
 * Lists the entries of a flattened map. A single entry may do without a number, as in
 * `Attribute.Name=DelaySeconds&Attribute.Value=5`.
 */
function entriesOf(node: FormNode | undefined, keyName: string): readonly FormNode[] {
  if (node === undefined) return [];
  const entries = node.numbered();
  return entries.length === 0 && node.child(keyName) !== undefined ? [node] : entries;
}

/**
 * Lists the elements or entries of a list or map that is not flattened: they are numbered below a child called `name`.
 */
function numberedBelow(node: FormNode | undefined, name: string): readonly FormNode[] {
  return node?.child(name)?.numbered() ?? [];
}

function readScalar(type: "string" | "integer" | "boolean" | "blob", text: string): unknown {
  switch (type) {
    case "string":
      return text;
    case "integer":
      if (/^-?[0-9]{1,15}$/.test(text)) return Number(text);
      throw malformed(`${JSON.stringify(text)} can not be converted to an Integer`);
    case "boolean":
      if (/^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
      throw malformed(`${JSON.stringify(text)} can not be converted to a Boolean`);
    case "blob": {
      const bytes = fromBase64(text);
      if (bytes === null) throw malformed("a binary value must be base64");
      return bytes;
    }
  }
}

/** Returns the name of a member in form keys and in XML. */
export function wireNameOf(name: string, shape: Shape): string {
  return ("wireName" in shape ? shape.wireName : undefined) ?? name;
}

function malformed(text: string): AwsError {
  return new AwsError(COMMON_ERRORS.serialization, text);
}
