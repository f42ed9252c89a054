/** Tags of a queue or a topic, and the lengths of their keys and values (spec sqs 5.6). */
export const TAGS_MAX = 50;
export const TAG_KEY_LENGTH_MAX = 128;
export const TAG_VALUE_LENGTH_MAX = 256;

/** Whether AWS keeps a key for tags of its own making, and refuses it of everybody else, in whatever case. */
export function isReservedTagKey(key: string): boolean {
  return /^aws:/i.test(key);
}
