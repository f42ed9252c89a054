/** Characters that XML 1.0 cannot hold, and with it neither a body nor an attribute of SQS (spec sqs 5.6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const INVALID = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

export function isValidText(text: string): boolean {
  return !INVALID.test(text) && text.isWellFormed();
}

/**
 * Whether no text in a JSON text can be invalid, for less than looking at each: what is invalid can stand there as an escape only, or is
 * one of two characters. Half of a surrogate pair no decoder has let through.
 */
export function holdsValidTexts(json: string): boolean {
  return !["\\u", "\\b", "\\f", "\ufffe", "\uffff"].some((found) => json.includes(found));
}

const encoder = new TextEncoder();
/** UTF-8 needs at most this many bytes for one unit of UTF-16. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

export function utf8Bytes(text: string): number {
  return encoder.encode(text).byteLength;
}

/** What a text has in bytes at most, for less than counting them. */
export function utf8BytesAtMost(text: string): number {
  return UTF8_BYTES_PER_UNIT_MAX * text.length;
}
