/*
 * An epoch of a queue lasts from one start to the next. Each has a range of ids of its own, so that a receipt of an
 * earlier epoch never names a message of this one. A contract: stored ids tell the epoch that gave them.
 *
 * A queue that sleeps between its messages starts anew with each of them. So there have to be many epochs, and only the
 * first ones have wide ranges.
 */

/** Number of the first epoch with a narrow range. */
export const NARROW_EPOCHS_FROM = 2 ** 19;
const WIDE_IDS = 2 ** 32;
/** With a start every ten seconds, the ids last for more than a century. */
export const NARROW_IDS = 2 ** 24;
const NARROW_IDS_FROM = NARROW_EPOCHS_FROM * WIDE_IDS;

/** Largest number that is accepted as an id: those of a range that it begins stay exact integers. */
export const ID_MAX = 2 ** 53 - WIDE_IDS;

/** The first id of an epoch. */
export function firstIdOf(epoch: number): number {
  return epoch < NARROW_EPOCHS_FROM
    ? epoch * WIDE_IDS
    : NARROW_IDS_FROM + (epoch - NARROW_EPOCHS_FROM) * NARROW_IDS;
}

/** The epoch whose range has an id. */
export function epochOf(id: number): number {
  return id < NARROW_IDS_FROM
    ? Math.floor(id / WIDE_IDS)
    : NARROW_EPOCHS_FROM + Math.floor((id - NARROW_IDS_FROM) / NARROW_IDS);
}
