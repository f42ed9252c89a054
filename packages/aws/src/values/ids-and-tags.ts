/** Writes an id of 32 hexadecimal digits as AWS does: in groups, as a UUID. */
export function uuidOf(hex: string): string {
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

/** Letters, digits and punctuation, 1 to 128 of them (spec sqs 4.1). */
const FIFO_ID = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

/** Whether a text can be the id of a message group, or a deduplication id. */
export function isFifoId(text: string): boolean {
  return FIFO_ID.test(text);
}

/** Tags of a queue or a topic, and the lengths of their keys and values (spec sqs 5.6). */
export const TAGS_MAX = 50;
export const TAG_KEY_LENGTH_MAX = 128;
export const TAG_VALUE_LENGTH_MAX = 256;

/** Key that no tag has here, since objects of JavaScript lose it on its way. AWS takes it. */
export const LOST_TAG_KEY = "__proto__";

/** Whether AWS keeps a key for its own tags, and refuses it in any case. */
export function isReservedTagKey(key: string): boolean {
  return /^aws:/i.test(key);
}
