import { inShards, type PlantedBug } from "../world/planted-bug.ts";

/** Mistakes of queues with shards: of their callers, their objects and the directory. */
export const SHARD_BUGS: readonly PlantedBug[] = [
  {
    ...inShards("acknowledged survives in shards", "a shard's answers do not wait for the commit", null),
    gateIsOpen: true,
  },
  inShards("one shard has it", "shard 0 passes a transfer on twice", "passesOnTwice"),
  inShards("one shard has a group", "a former owner of a group is not asked first", "skipsFormerOwner"),
  inShards(
    "group order over shards",
    "a former owner is not asked, and the group overtakes itself",
    "skipsFormerOwner",
  ),
  inShards("deduplication over maps", "a map forgets too early where groups were", "movesTooEarly"),
  inShards("concurrency over shards", "deliveries are lent twice", "lendsTwice"),
  inShards("concurrency over shards", "shard 0 forgets at its restart what it has lent", "forgetsParts"),
  inShards("throttle over shards", "messages per second are lent twice", "lendsTwice"),
  inShards("paused in all shards", "shards other than the first do not hear of a pause", "pausesAllButOne"),
  inShards("purge of all shards", "a purge leaves a shard out", "purgesAllButOne"),
  inShards("stale map", "a shard takes in what is sent by the map of a deleted queue", "storesByOldMaps"),
  inShards("no shard starves", "a shard gets no part of the queue's limits", "lendsToTwo"),
  inShards("counts of all shards", "a shard is not counted", "countsAllButOne"),
  inShards("a shard is away", "what is overloaded does not say so", "neverMovesOn"),
  inShards("old producers", "shard 0 refuses who knows no shards", "refusesWithoutMap"),
  inShards("empty in all shards", "a receive leaves a shard out", "forgetsAShard"),
  inShards("stale map", "shard 0 tells a map that it has not stored", "forgetsTheMap"),
  inShards("drained shards", "a shard goes while it holds messages", "dropsFullShards"),
  inShards(
    "deleted with its queue",
    "a shard goes on in a queue that is created again with what the deleted one has left",
    "keepsDeleted",
  ),
  inShards("due time in shards", "a delay is lost while its shard is drained", "losesDelays"),
  inShards("tokens of shards", "a token goes to another shard", "mistakesTokens"),
  inShards("liveness of shards", "a directory never hears that groups have moved", "neverMoved"),
];
