/** Letters, digits and punctuation, 1 to 128 of them (spec sqs 4.1). */
const FIFO_ID = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

/** Whether a text can be the id of a message group, or a deduplication id. */
export function isFifoId(text: string): boolean {
  return FIFO_ID.test(text);
}
