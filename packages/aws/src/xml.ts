import XMLBuilder from "fast-xml-builder";
import { toBase64 } from "./base64.ts";
import { wireNameOf } from "./query-protocol.ts";
import type { Shape, StructureShape } from "./shape.ts";

/** A carriage return in a text is normalised away by XML parsers unless it is written as a reference (spec sqs 1.3). */
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
};

/** Characters that no XML 1.0 document can hold, not even as a reference. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** A text as XML can hold it: what it cannot is U+FFFD. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, "\ufffd");
}

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  suppressEmptyNode: true,
  processEntities: false,
  tagValueProcessor: (_name, value) =>
    printable(String(value)).replace(/[&<>"\r]/g, (character) => ESCAPES[character] ?? character),
});

const DECLARATION = { "@version": "1.0" };

/** An answer in the Query protocol. An action without output has no `Result` element: pass `null`. */
export function xmlAnswer(
  action: string,
  namespace: string,
  output: { readonly shape: StructureShape; readonly value: object } | null,
  requestId: string,
): string {
  return builder.build({
    "?xml": DECLARATION,
    [`${action}Response`]: {
      "@xmlns": namespace,
      ...(output === null ? {} : { [`${action}Result`]: structureElement(output.shape, output.value) }),
      ResponseMetadata: { RequestId: requestId },
    },
  });
}

/** An error in the Query protocol. */
export function xmlError(
  namespace: string,
  { type, code, message }: { readonly type: string; readonly code: string; readonly message: string },
  requestId: string,
): string {
  return builder.build({
    "?xml": DECLARATION,
    ErrorResponse: {
      "@xmlns": namespace,
      Error: { Type: type, Code: code, Message: message, Detail: "" },
      RequestId: requestId,
    },
  });
}

/** A document with one empty element. */
export function xmlElement(name: string): string {
  return builder.build({ [name]: "" });
}

function structureElement(shape: StructureShape, value: object): Record<string, unknown> {
  const element: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(shape.members)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined || given === null) continue;
    if ((member.type === "list" || member.type === "map") && isEmpty(given)) {
      // One that is not flattened has an element of its own, which stays.
      if (!member.flattened) element[wireNameOf(name, member)] = "";
      continue;
    }
    element[wireNameOf(name, member)] = elementOf(member, given);
  }
  return element;
}

function elementOf(shape: Shape, value: unknown): unknown {
  switch (shape.type) {
    case "structure":
      return structureElement(shape, value as object);
    case "list": {
      const elements = (value as readonly unknown[]).map((each) => elementOf(shape.member, each));
      return shape.flattened ? elements : { member: elements };
    }
    case "map": {
      const entries = Object.entries(value as object).map(([key, each]) => ({
        [shape.keyName]: key,
        [shape.valueName]: elementOf(shape.value, each),
      }));
      return shape.flattened ? entries : { entry: entries };
    }
    case "blob":
      return toBase64(value as Uint8Array);
    default:
      return String(value);
  }
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value as object).length === 0;
}
