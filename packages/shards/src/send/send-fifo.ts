import { GROUP_MOVED, ownerOf, type RpcFailure } from "@sluice/protocol";
import { checkMap, type Shards } from "../calls/shards.ts";

/** Messages of one group, in their order. */
export interface GroupOfMessages<Messages> {
  readonly group: string;
  readonly messages: Messages;
}

/** Reply of a shard to messages of one or several groups. */
type PartReply = { readonly ok: true } | { readonly ok: "outdated" } | RpcFailure;

/**
 * Sends messages of a FIFO queue, each group to its owner. While groups may still be where the map before put them, a
 * group whose owner has changed goes to its former owner first, which refuses it once it holds none of it
 * (`GROUP_MOVED`).
 *
 * Each shard stores by itself. Where one refuses or does not answer, messages of others may be stored. The answer is a
 * refusal of all messages then, and a client that repeats them by their deduplication ids gets those that are stored as
 * duplicates.
 *
 * @param send sends groups that go to one shard, in one call.
 * @returns the first refusal, or that of the sender's outdated revision; `null` when all is stored.
 */
export async function sendByGroups<Messages>(
  shards: Shards,
  groups: readonly GroupOfMessages<Messages>[],
  send: (shard: number, groups: readonly GroupOfMessages<Messages>[]) => Promise<PartReply>,
): Promise<Exclude<PartReply, { ok: true }> | null> {
  let left = groups;
  const refusals: Exclude<PartReply, { ok: true }>[] = [];
  /** Groups that their former owners hold none of, by the epoch of the map. */
  const moved = new Set<string>();
  await shards.byLaterMaps(async () => {
    while (left.length > 0) {
      const { epoch } = shards.map;
      const parts = partsOf(shards, left, (group) => moved.has(`${epoch} ${group}`));
      const settled = await Promise.allSettled(parts.map((part) => send(part.shard, part.groups)));
      left = parts.flatMap((part, i) => {
        const one = settled[i];
        if (one?.status !== "fulfilled") return part.groups;
        const { value } = one;
        if (value.ok === true) return [];
        if (value.ok === false && value.code === GROUP_MOVED) {
          if (!part.isFormer)
            throw new Error(`shard ${part.shard} of "${shards.queue}" refuses its own group`);
          for (const { group } of part.groups) moved.add(`${epoch} ${group}`);
          return part.groups;
        }
        refusals.push(value);
        return [];
      });
      checkMap(settled);
      for (const one of settled) if (one.status === "rejected") throw one.reason;
    }
  });
  // After `outdated` the sender repeats all messages by the present settings.
  return refusals.find(({ ok }) => ok === "outdated") ?? refusals[0] ?? null;
}

interface Part<Messages> {
  readonly shard: number;
  /** Whether the shard is the former owner. Then the part has one group, since a shard refuses a call as a whole. */
  readonly isFormer: boolean;
  readonly groups: GroupOfMessages<Messages>[];
}

function partsOf<Messages>(
  { map: { open, before } }: Shards,
  groups: readonly GroupOfMessages<Messages>[],
  hasMoved: (group: string) => boolean,
): Part<Messages>[] {
  const parts: Part<Messages>[] = [];
  const byOwner = new Map<number, Part<Messages>>();
  for (const each of groups) {
    const owner = ownerOf(each.group, open);
    const former = before === undefined || hasMoved(each.group) ? owner : ownerOf(each.group, before);
    if (former !== owner) {
      parts.push({ shard: former, isFormer: true, groups: [each] });
      continue;
    }
    let part = byOwner.get(owner);
    if (part === undefined) {
      part = { shard: owner, isFormer: false, groups: [] };
      byOwner.set(owner, part);
      parts.push(part);
    }
    part.groups.push(each);
  }
  return parts;
}
