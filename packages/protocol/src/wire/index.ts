export { BodyDecodeError, encodeBody, serializeBody } from "./body-codec.ts";
export { decodeBodies } from "./decode-bodies.ts";
export { decodeBody, mayHoldNativeBody, withoutNativeBodies } from "./native-bodies.ts";
export {
  changeRecord,
  joinPacked,
  PackedIndex,
  packMessages,
  type UnpackedMessage,
  unpackMessages,
} from "./packed.ts";
export {
  encodeExtension,
  type MessageExtension,
  uncountedBytes,
} from "./packed-extension.ts";
export { UUID_LENGTH, UUID_PLACES } from "./packed-ids.ts";
export {
  CONTENT_TYPES,
  type ContentType,
  isContentType,
  MESSAGE_ID_BYTES,
  PackedFormatError,
  RECORD_HEADER_BYTES,
  recordEnd,
} from "./packed-layout.ts";
export { PackedWriter, type RecordToWrite, UTF8_BYTES_PER_UNIT_MAX } from "./packed-writer.ts";
export { isReadable, makeUnreadable } from "./unreadable.ts";
