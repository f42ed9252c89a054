import { toBase64 } from "./base64.ts";
import { wireNameOf } from "./query-protocol.ts";
import type { Shape, StructureShape } from "./shape.ts";

/**
 * Characters and what stands for them, in this order. A carriage return in a text is normalised away by XML parsers unless
 * it is written as a reference (spec sqs 1.3).
 */
const ESCAPES: readonly (readonly [character: string, reference: string])[] = [
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["\r", "&#xD;"],
];

/** Characters that no XML 1.0 document can hold, not even as a reference. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** What most texts have none of. Half of a surrogate pair is not told from a whole one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const PERHAPS_UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/;

/** A text as XML can hold it: what it cannot is U+FFFD. */
export function printable(text: string): string {
  return PERHAPS_UNPRINTABLE.test(text) ? text.toWellFormed().replace(UNPRINTABLE, "\ufffd") : text;
}

const DECLARATION = '<?xml version="1.0"?>';

/** An answer in the Query protocol. An action without output has no `Result` element: pass `null`. */
export function xmlAnswer(
  action: string,
  namespace: string,
  output: { readonly shape: StructureShape; readonly value: object } | null,
  requestId: string,
): string {
  const result = output === null ? "" : element(`${action}Result`, contentOf(output.shape, output.value));
  const metadata = element("ResponseMetadata", textElement("RequestId", requestId));
  return `${DECLARATION}<${action}Response xmlns="${escaped(namespace)}">${result}${metadata}</${action}Response>`;
}

/** An error in the Query protocol. */
export function xmlError(
  namespace: string,
  { type, code, message }: { readonly type: string; readonly code: string; readonly message: string },
  requestId: string,
): string {
  const error = [textElement("Type", type), textElement("Code", code), textElement("Message", message)];
  const content = `${element("Error", `${error.join("")}<Detail/>`)}${textElement("RequestId", requestId)}`;
  return `${DECLARATION}<ErrorResponse xmlns="${escaped(namespace)}">${content}</ErrorResponse>`;
}

/** A document with one empty element. */
export function xmlElement(name: string): string {
  return element(name, "");
}

function element(name: string, content: string): string {
  return tagged(tagsOf(name), content);
}

function textElement(name: string, text: string): string {
  return element(name, escaped(text));
}

/** All that is written otherwise, for one look at the texts that have none of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const SPECIAL = /[&<>"\u0000-\u0008\u000b-\u001f\ud800-\udfff\ufffe\uffff]/;

function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  const clean = printable(text);
  let result = clean;
  for (const [character, reference] of ESCAPES) {
    // Looked for where nothing is replaced yet: no reference has any of them but the first.
    if (clean.includes(character)) result = result.replaceAll(character, reference);
  }
  return result;
}

/** A member of a structure, and the tags that stand around it. */
interface XmlMember extends Tags {
  readonly name: string;
  readonly shape: Shape;
}
interface Tags {
  readonly begin: string;
  readonly end: string;
  readonly empty: string;
}

/** Made once for each shape: answers have the same ones again and again. */
const membersOf = new WeakMap<StructureShape, readonly XmlMember[]>();

function xmlMembersOf(shape: StructureShape): readonly XmlMember[] {
  let members = membersOf.get(shape);
  if (members === undefined) {
    members = Object.entries(shape.members).map(([name, member]) => ({
      ...{ name, shape: member },
      ...tagsOf(wireNameOf(name, member)),
    }));
    membersOf.set(shape, members);
  }
  return members;
}

function tagsOf(name: string): Tags {
  return { begin: `<${name}>`, end: `</${name}>`, empty: `<${name}/>` };
}

function tagged({ begin, end, empty }: Tags, content: string): string {
  return content === "" ? empty : begin + content + end;
}

const MEMBER = tagsOf("member");
const ENTRY = tagsOf("entry");

/** What stands in the element of a structure. */
function contentOf(shape: StructureShape, value: object): string {
  let content = "";
  for (const member of xmlMembersOf(shape)) {
    const given = (value as Record<string, unknown>)[member.name];
    if (given !== undefined && given !== null) content += elementsOf(member, member.shape, given);
  }
  return content;
}

/** The element of a value; of a flattened list or map, one for each of its members and none for none. */
function elementsOf(tags: Tags, shape: Shape, value: unknown): string {
  switch (shape.type) {
    case "structure":
      return tagged(tags, contentOf(shape, value as object));
    case "list": {
      const own = shape.flattened ? tags : MEMBER;
      let content = "";
      for (const one of value as readonly unknown[]) content += elementsOf(own, shape.member, one);
      return shape.flattened ? content : tagged(tags, content);
    }
    case "map": {
      const own = shape.flattened ? tags : ENTRY;
      const [keyTags, valueTags] = [tagsOf(shape.keyName), tagsOf(shape.valueName)];
      let content = "";
      for (const [key, one] of Object.entries(value as object)) {
        content += tagged(own, tagged(keyTags, escaped(key)) + elementsOf(valueTags, shape.value, one));
      }
      return shape.flattened ? content : tagged(tags, content);
    }
    case "blob":
      return tagged(tags, toBase64(value as Uint8Array));
    case "string":
      return tagged(tags, shape.isToken ? (value as string) : escaped(value as string));
    default:
      return tagged(tags, String(value));
  }
}
