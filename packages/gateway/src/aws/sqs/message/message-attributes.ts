import { type AttributeValue, isNumberText } from "@sluice/aws";
import { isTraceHeader, TRACE_HEADER_LENGTH_MAX } from "../../trace-header.ts";
import { invalidParameter, refuse, SQS_ERRORS } from "../errors.ts";
import { isValidText } from "./text.ts";

/** Attributes of one message, and the lengths of their names and types (spec sqs 5.3). */
export const MESSAGE_ATTRIBUTES_MAX = 10;
export const ATTRIBUTE_NAME_LENGTH_MAX = 256;
export const ATTRIBUTE_TYPE_LENGTH_MAX = 256;

/** Attributes as a request gives them. */
export type MessageAttributes = Readonly<
  Record<
    string,
    AttributeValue & {
      readonly StringListValues?: readonly string[];
      readonly BinaryListValues?: readonly Uint8Array[];
    }
  >
>;

/** The only attribute that AWS's own services add: AWS X-Ray's. */
export const TRACE_HEADER = "AWSTraceHeader";

/** Checks the attributes of a message in AWS's words (spec sqs 5.3). Throws `AwsError`. */
export function checkMessageAttributes(attributes: MessageAttributes): void {
  const names = Object.keys(attributes);
  if (names.length > MESSAGE_ATTRIBUTES_MAX) {
    throw invalidParameter(
      `Number of message attributes [${names.length}] exceeds the allowed maximum [${MESSAGE_ATTRIBUTES_MAX}].`,
    );
  }
  for (const name of names) {
    checkName(name);
    checkValue(name, attributes[name] ?? {});
  }
}

/** Checks the system attributes of a message: `AWSTraceHeader` alone is allowed. */
export function checkSystemAttributes(attributes: MessageAttributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (name !== TRACE_HEADER) throw invalidParameter(`Message system attribute name '${name}' is invalid.`);
    if (value.DataType !== "String" || !value.StringValue) {
      throw invalidParameter(
        `The message system attribute '${name}' must contain a non-empty value of type 'String'.`,
      );
    }
    if (!isTraceHeader(value.StringValue)) {
      throw invalidParameter(
        `The message system attribute '${name}' must have ${TRACE_HEADER_LENGTH_MAX} characters at ` +
          "most, none of which is invalid in a message.",
      );
    }
  }
}

function checkName(name: string): void {
  if (name === "") {
    throw invalidParameter("The request must contain non-empty message (user) attribute names.");
  }
  if (name.length > ATTRIBUTE_NAME_LENGTH_MAX) {
    throw invalidParameter(
      `Message (user) attribute name must be shorter than ${ATTRIBUTE_NAME_LENGTH_MAX} bytes.`,
    );
  }
  if (/^(aws\.|amazon\.)/i.test(name)) {
    throw invalidParameter(
      "You can't use message attribute names beginning with 'AWS.' or 'Amazon'. These strings are " +
        "reserved for internal use.",
    );
  }
  // AWS takes letters of any alphabet.
  if (!/^[\p{L}\p{N}_.-]+$/u.test(name) || /^\.|\.$|\.\./.test(name)) {
    throw invalidParameter(`Message (user) attribute name '${name}' is invalid.`);
  }
}

function checkValue(name: string, value: MessageAttributes[string]): void {
  const { DataType: type = "", StringValue: text, BinaryValue: bytes } = value;
  if (value.StringListValues !== undefined || value.BinaryListValues !== undefined) {
    throw refuse(
      SQS_ERRORS.unsupportedOperation,
      "Message attribute list values in SendMessage operation are not supported.",
    );
  }
  if (type.length > ATTRIBUTE_TYPE_LENGTH_MAX) {
    throw invalidParameter(
      `Message (user) attribute type must be shorter than ${ATTRIBUTE_TYPE_LENGTH_MAX} bytes.`,
    );
  }
  if (!isValidText(type)) {
    throw invalidParameter(`The type of message (user) attribute '${name}' contains invalid characters.`);
  }
  const [base = ""] = type.split(".", 1);
  if (base !== "String" && base !== "Number" && base !== "Binary") {
    throw invalidParameter(
      `The type of message (user) attribute '${name}' is invalid. You must use only the following supported type ` +
        "prefixes: Binary, Number, String.",
    );
  }
  if (text === undefined && bytes === undefined) {
    throw invalidParameter(
      `The message (user) attribute '${name}' must contain a non-empty message attribute value.`,
    );
  }
  const isEmpty = base === "Binary" ? !bytes?.byteLength : !text;
  if (isEmpty) {
    throw invalidParameter(
      `Message (user) attribute '${name}' must contain a non-empty value of type ` +
        `'${base === "Binary" ? "Binary" : "String"}'.`,
    );
  }
  if (base === "Number" && !isNumberText(text ?? "")) {
    throw invalidParameter(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
  if (base !== "Binary" && !isValidText(text ?? "")) {
    throw invalidParameter(`Message (user) attribute '${name}' contains invalid characters.`);
  }
}
