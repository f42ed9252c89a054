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
  return content === "" ? `<${name}/>` : `<${name}>${content}</${name}>`;
}

function textElement(name: string, text: string): string {
  return element(name, escaped(text));
}

/** All that is written otherwise, for one look at the texts that have none of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const SPECIAL = /[&<>"\u0000-\u0008\u000b-\u001f\ud800-\udfff\ufffe\uffff]/;

function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  let clean = printable(text);
  for (const [character, reference] of ESCAPES) {
    if (clean.includes(character)) clean = clean.replaceAll(character, reference);
  }
  return clean;
}

/** What stands in the element of a structure. */
function contentOf(shape: StructureShape, value: object): string {
  let content = "";
  for (const name in shape.members) {
    const member = shape.members[name] as Shape; // one of its own names
    const given = (value as Record<string, unknown>)[name];
    if (given !== undefined && given !== null) content += elementsOf(wireNameOf(name, member), member, given);
  }
  return content;
}

/** The element of a value; of a flattened list or map, one for each of its members and none for none. */
function elementsOf(name: string, shape: Shape, value: unknown): string {
  switch (shape.type) {
    case "structure":
      return element(name, contentOf(shape, value as object));
    case "list": {
      const each = (own: string) =>
        (value as readonly unknown[]).map((one) => elementsOf(own, shape.member, one)).join("");
      return shape.flattened ? each(name) : element(name, each("member"));
    }
    case "map": {
      const { keyName, valueName } = shape;
      const each = (own: string) =>
        Object.entries(value as object)
          .map(([key, one]) =>
            element(own, textElement(keyName, key) + elementsOf(valueName, shape.value, one)),
          )
          .join("");
      return shape.flattened ? each(name) : element(name, each("entry"));
    }
    case "blob":
      return element(name, toBase64(value as Uint8Array));
    default:
      return textElement(name, String(value));
  }
}
