import type { EndpointRequest } from "@sluice/broker";
import { encodeExtension, PackedIndex, PackedWriter, RECORD_HEADER_BYTES } from "@sluice/protocol";
import { runOfHeaders, runOfRecord, tagOfRun } from "./tasks.ts";

/** A body is its message's tag and some more bytes. */
const TAG_BYTES = 4;
/** Most bytes of a body behind its tag: a few such messages fill a segment. */
export const FILLER_BYTES_MAX = 6_000;

const ID = new Uint8Array(16);
const ID_VIEW = new DataView(ID.buffer);
const BODY = new Uint8Array(TAG_BYTES + FILLER_BYTES_MAX);
const BODY_VIEW = new DataView(BODY.buffer);
const WRITER = new PackedWriter();

export interface TaggedMessage {
  readonly tag: number;
  /** Two messages with one number have the same message id. */
  readonly idNumber: number;
  readonly fillerBytes: number;
  /** The message's own delay in seconds. */
  readonly delaySeconds?: number | undefined;
  /** Group of a message of a FIFO queue. */
  readonly groupId?: string | undefined;
}

/** Packs messages whose bodies begin with their tags. */
export function packTagged(messages: readonly TaggedMessage[]): Uint8Array<ArrayBuffer> {
  WRITER.clear();
  for (const { tag, idNumber, fillerBytes, delaySeconds, groupId } of messages) {
    ID_VIEW.setUint32(12, idNumber);
    BODY_VIEW.setUint32(0, tag);
    WRITER.append({
      id: ID,
      contentType: "bytes",
      body: BODY.subarray(0, TAG_BYTES + fillerBytes),
      delaySeconds,
      ...(groupId === undefined ? {} : { extension: encodeExtension({ groupId }) }),
    });
  }
  return WRITER.slice(0, WRITER.byteLength);
}

/** Copies messages with new tags, as moved messages arrive. */
export function retagged(packed: Uint8Array, tags: readonly number[]): Uint8Array {
  const index = new PackedIndex(packed);
  const copy = packed.slice();
  const view = new DataView(copy.buffer);
  for (const [i, tag] of tags.entries()) view.setUint32(bodyOffset(index, i), tag);
  return copy;
}

function bodyOffset(index: PackedIndex, i: number): number {
  const extensionBytes = index.contentBytes(i) - index.bodyBytes(i);
  return (index.offsets[i] ?? 0) + RECORD_HEADER_BYTES + extensionBytes;
}

/** The tags of packed messages, in order. */
export function tagsOf(packed: Uint8Array): number[] {
  const index = new PackedIndex(packed);
  const { count } = index;
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const tags: number[] = [];
  for (let i = 0; i < count; i++) {
    const run = runOfRecord(index, i);
    if (run !== null) {
      tags.push(tagOfRun(run));
      continue;
    }
    tags.push(view.getUint32(bodyOffset(index, i)));
  }
  return tags;
}

/** The tag of a message by the request that it is posted with. */
export function tagOfRequest({ headers, body }: Pick<EndpointRequest, "headers" | "body">): number {
  const run = runOfHeaders(headers);
  if (run !== null) return tagOfRun(run);
  return new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(0);
}
