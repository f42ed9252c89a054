import { toBase64 } from "../values/base64.ts";
import { wireNameOf } from "./query-protocol.ts";
import type { Shape, StructureShape } from "./shape.ts";

/**
 * Reference that replaces each special character. A carriage return in a text is normalised away by XML parsers unless
 * it is written as a reference (spec sqs 1.3).
 */
const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
};

/** Characters that no XML 1.0 document can hold, not even as a reference. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Replaces characters that XML cannot hold by U+FFFD. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, "\ufffd");
}

const DECLARATION = '<?xml version="1.0"?>';

/** Writes an answer in the Query protocol. An action without output has no `Result` element: pass `null`. */
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

/** Writes an error in the Query protocol. */
export function xmlError(
  { namespace, hasErrorDetail }: { readonly namespace: string; readonly hasErrorDetail: boolean },
  { type, code, message }: { readonly type: string; readonly code: string; readonly message: string },
  requestId: string,
): string {
  const error = [textElement("Type", type), textElement("Code", code), textElement("Message", message)];
  if (hasErrorDetail) error.push("<Detail/>");
  const content = `${element("Error", error.join(""))}${textElement("RequestId", requestId)}`;
  return `${DECLARATION}<ErrorResponse xmlns="${escaped(namespace)}">${content}</ErrorResponse>`;
}

/** Writes a document with one empty element. */
export function xmlElement(name: string): string {
  return element(name, "");
}

function element(name: string, content: string): string {
  return content === "" ? `<${name}/>` : `<${name}>${content}</${name}>`;
}

function textElement(name: string, text: string): string {
  return element(name, escaped(text));
}

function escaped(text: string): string {
  return printable(text).replace(/[&<>"\r]/g, (character) => REFERENCES[character] ?? character);
}

/** Writes the content of a structure's element: one element after the other for the members that have a value. */
function contentOf(shape: StructureShape, value: object): string {
  return Object.entries(shape.members)
    .map(([name, member]) => {
      const given = (value as Record<string, unknown>)[name];
      return given === undefined || given === null ? "" : elementsOf(wireNameOf(name, member), member, given);
    })
    .join("");
}

/** Writes the element of a value; of a flattened list or map one for each member. */
function elementsOf(name: string, shape: Shape, value: unknown): string {
  switch (shape.type) {
    case "structure":
      return element(name, contentOf(shape, value as object));
    case "list": {
      const own = shape.flattened ? name : "member";
      const content = (value as readonly unknown[]).map((one) => elementsOf(own, shape.member, one)).join("");
      return shape.flattened ? content : element(name, content);
    }
    case "map": {
      const own = shape.flattened ? name : "entry";
      const content = Object.entries(value as object)
        .map(([key, one]) =>
          element(own, textElement(shape.keyName, key) + elementsOf(shape.valueName, shape.value, one)),
        )
        .join("");
      return shape.flattened ? content : element(name, content);
    }
    case "blob":
      return element(name, toBase64(value as Uint8Array));
    default:
      return textElement(name, String(value));
  }
}
