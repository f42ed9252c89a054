export { AwsError, COMMON_ERRORS, type ErrorKind } from "./aws-error.ts";
export { FORM_PARAMETERS_MAX } from "./protocols/form.ts";
export { isObject } from "./protocols/json-protocol.ts";
export {
  type Action,
  answerOf,
  type Call,
  errorAnswerOf,
  type InputOf,
  mediaTypeOf,
  type OutputOf,
  type Protocol,
  protocolOf,
  REQUEST_BYTES_MAX,
  type ResponseParts,
  readCall,
  requestTooLarge,
  type ServiceModel,
  UNSIGNED_BYTES_MAX,
} from "./protocols/service.ts";
export * from "./protocols/shape.ts";
export { printable } from "./protocols/xml.ts";
export { ACCOUNT_DEFAULT, parseAccessKeys, parseAccountId } from "./signature/access-settings.ts";
export {
  type Credential,
  credentialOf,
  isPresigned,
  isSignatureHeader,
  type RequestHead,
  type RequestHeaders,
  type SignedRequest,
} from "./signature/credential.ts";
export {
  isSameText,
  type SignatureCheck,
  signatureClaimOf,
  signatureOf,
  unknownAccessKey,
  verifySignature,
} from "./signature/signature.ts";
export { type Arn, formatArn, parseArn, partitionOf } from "./values/arn.ts";
export { fromBase64, toBase64 } from "./values/base64.ts";
export { md5Hex, sha256Hex } from "./values/digest.ts";
export {
  isFifoId,
  isReservedTagKey,
  LOST_TAG_KEY,
  TAG_KEY_LENGTH_MAX,
  TAG_VALUE_LENGTH_MAX,
  TAGS_MAX,
  uuidOf,
} from "./values/ids-and-tags.ts";
export {
  type AttributeValue,
  attributesBytes,
  attributesMd5,
  isNumberText,
  NUMBER_DIGITS_MAX,
  utf8Bytes,
} from "./values/message-attributes.ts";
export {
  decodeAttributes,
  encodeAttributes,
  type StoredAttributes,
  type StoredNotification,
} from "./values/stored-attributes.ts";
