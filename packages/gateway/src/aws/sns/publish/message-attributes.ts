import { type AttributeValue, isNumberText } from "@sluice/aws";
import { refuse, SNS_ERRORS } from "../errors.ts";

/** Longest name of a message attribute, in characters. */
export const ATTRIBUTE_NAME_LENGTH_MAX = 256;

const TYPE = /^(String|Number|Binary)(\..+)?$/;
const ALLOWED = /[A-Za-z0-9_.-]/;

export type MessageAttributes = Readonly<Record<string, AttributeValue>>;

/**
 * Checks the attributes of a message in SNS's words (spec sns-delivery 9.4). Throws `AwsError`:
 * `ParameterValueInvalid`, or `ValidationError` for one without a type.
 *
 * @param path path of the attributes in the request, for the text of `ValidationError`.
 */
export function checkMessageAttributes(attributes: MessageAttributes, path: string): void {
  for (const [name, value] of Object.entries(attributes)) {
    checkName(name);
    checkValue(name, value, path);
  }
}

function checkName(name: string): void {
  if (name === "") throw refusal("The message contains an attribute with an empty name.");
  if (name.length > ATTRIBUTE_NAME_LENGTH_MAX) {
    throw refusal("Length of message attribute name must be less than 256 bytes.");
  }
  if (name.startsWith(".")) {
    throw refusal("Invalid message attribute name starting with character '.' was found.");
  }
  if (name.endsWith("."))
    throw refusal("Invalid message attribute name ending with character '.' was found.");
  const foreign = [...name].find((character) => !ALLOWED.test(character));
  if (foreign !== undefined) {
    const code = (foreign.codePointAt(0) ?? 0).toString(16).toUpperCase();
    throw refusal(
      `Invalid non-alphanumeric character '#x${code}' was found in the message attribute name. Can only include ` +
        "alphanumeric characters, hyphens, underscores, or dots.",
    );
  }
  if (name.includes("..")) throw refusal("Message attribute name can not have successive '.' character.");
}

function checkValue(name: string, value: AttributeValue, path: string): void {
  const { DataType: type, StringValue: text, BinaryValue: bytes } = value;
  if (type === undefined) {
    throw refuse(
      SNS_ERRORS.validationError,
      `1 validation error detected: Value null at '${path}.${name}.member.dataType' failed to satisfy constraint: ` +
        "Member must not be null",
    );
  }
  if (!TYPE.test(type)) {
    throw refusal(
      `The message attribute '${name}' has an invalid message attribute type, the set of supported type prefixes is ` +
        "Binary, Number, and String.",
    );
  }
  const isBinary = type.startsWith("Binary");
  const isEmpty = isBinary ? bytes?.byteLength === 0 : text === "";
  const isMissing = isBinary ? bytes === undefined : text === undefined;
  if (isMissing && (text !== undefined || bytes !== undefined)) {
    const field = isBinary ? "Binary" : "String";
    throw refusal(`The message attribute '${name}' with type '${type}' must use field '${field}'.`);
  }
  if (isEmpty || isMissing) {
    throw refusal(
      `The message attribute '${name}' must contain non-empty message attribute value for message ` +
        `attribute type '${type}'.`,
    );
  }
  if (type.startsWith("Number") && !isNumberText(text ?? "")) {
    throw refusal(`Could not cast message attribute '${name}' value to number.`);
  }
}

function refusal(text: string) {
  return refuse(SNS_ERRORS.parameterValueInvalid, text);
}
