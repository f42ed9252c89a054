import { UTF8_BYTES_PER_UNIT_MAX } from "@sluice/protocol";

/** Characters that XML 1.0 cannot hold, and with it neither a body nor an attribute of SQS (spec sqs 5.6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const INVALID = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

export function isValidText(text: string): boolean {
  return !INVALID.test(text) && text.isWellFormed();
}

const BACKSLASH = "\\";
const [U, B, F] = [0x75, 0x62, 0x66];
const NONCHARACTERS = ["\ufffe", "\uffff"];

/**
 * Whether no text in a JSON text can be invalid, faster than by looking at each. An invalid character can only stand
 * there as an escape (`\u`, `\b` or `\f`), or is one of two characters: a decoder lets no half of a surrogate pair
 * through.
 */
export function holdsValidTexts(json: string): boolean {
  if (NONCHARACTERS.some((found) => json.includes(found))) return false;
  for (let at = json.indexOf(BACKSLASH); at !== -1; at = json.indexOf(BACKSLASH, at + 2)) {
    const letter = json.charCodeAt(at + 1);
    if (letter === U || letter === B || letter === F) return false;
  }
  return true;
}

/** Returns an upper bound of a text's bytes, faster than counting them. */
export function utf8BytesAtMost(text: string): number {
  return UTF8_BYTES_PER_UNIT_MAX * text.length;
}
