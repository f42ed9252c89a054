import type { Checker } from "./checker.ts";

/**
 * From the moment on that a queue has confirmed a record of the directory, it goes by that record or a later one, over
 * restarts and while the directory is away too. A deleted queue stays deleted, and its messages are gone when another
 * queue of its name begins. Nothing else is ever dropped.
 */
export const directory: Checker = {
  property: "directory",

  registered({ durableRevision }, { before, after, wasDeleted }) {
    if (wasDeleted) return "a queue is back that was deleted";
    if (before === null || after === null) return undefined;
    // A queue that has stored nothing has no older copy either.
    const stored = durableRevision ?? Infinity;
    if (after.kind === "queue" && before.kind === "queue" && after.told > before.told && stored < after.told)
      return `it counts as told of revision ${after.told}, and revision ${stored} is stored`;
    const [old, now] = [before, after].map((row) =>
      row.kind === "queue" ? row.record.revision : row.revision,
    );
    return (now ?? 0) < (old ?? 0) ? `its record goes back from revision ${old} to ${now}` : undefined;
  },

  dropped({ world, name }, { revision }) {
    return world.directory?.ledger.wasDeletedAfter(name, revision) === false
      ? `what the queue of revision ${revision} holds is dropped, and it was not deleted`
      : undefined;
  },

  committed({ world, ledger, name }, { accepted, record, revisionBefore }) {
    if (world.directory === null) return undefined;
    const { registered, isThere } = record;
    if (!isThere && accepted.length > 0)
      return `${accepted.length} messages are taken in by a queue that does not exist`;
    if (registered === null) return undefined;
    const { revision, emptyAsOf } = registered;
    if (revision < revisionBefore)
      return `it goes by revision ${revision}, and has gone by ${revisionBefore}`;
    const confirmed = world.directory.ledger.confirmed(name);
    if (revision < confirmed) return `it goes by revision ${revision}, and has confirmed ${confirmed}`;
    for (const { tag, bornUnder } of ledger.present()) {
      if (bornUnder < emptyAsOf) return `message ${tag} is left of a queue that was deleted`;
    }
    return undefined;
  },

  atEnd({ world, registered, name }) {
    const row = world.directory?.ledger.rows.get(name);
    if (registered === null || row === undefined) return undefined;
    const { revision } = row.kind === "queue" ? row.record : row;
    if (row.kind === "queue" && registered.record?.revision === revision) return undefined;
    return `it goes by revision ${registered.record?.revision ?? "none"} in the end, the directory has ${revision}`;
  },
};
