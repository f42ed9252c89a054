export { parseAccessKeys, parseAccountId } from "./access-settings.ts";
export { type Arn, formatArn, parseArn, partitionOf } from "./arn.ts";
export { AwsError, COMMON_ERRORS, type ErrorKind, type Fault } from "./aws-error.ts";
export { fromBase64, toBase64 } from "./base64.ts";
export {
  type Credential,
  credentialOf,
  type RequestHeaders,
  type RequestUrl,
  type SignedRequest,
} from "./credential.ts";
export { md5Hex, sha256Hex } from "./digest.ts";
export { isFifoId } from "./fifo-id.ts";
export { formField, readForm } from "./form.ts";
export type { FormNode } from "./form-tree.ts";
export { type AttributeValue, attributesMd5, isNumberText, NUMBER_DIGITS_MAX } from "./message-attributes.ts";
export {
  type Action,
  type Answer,
  answerOf,
  type Call,
  errorAnswerOf,
  mediaTypeOf,
  type Protocol,
  protocolOf,
  REQUEST_BYTES_MAX,
  readCall,
  type ServiceModel,
} from "./service.ts";
export * from "./shape.ts";
export { CLOCK_SKEW_MS_MAX, signatureOf, verifySignature } from "./signature.ts";
export {
  decodeAttributes,
  encodeAttributes,
  type StoredAttributes,
  type StoredNotification,
} from "./stored-attributes.ts";
export { isReservedTagKey, TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX } from "./tag.ts";
export { uuidOf } from "./uuid.ts";
export { printable } from "./xml.ts";
