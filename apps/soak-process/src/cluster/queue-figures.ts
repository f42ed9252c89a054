/** Figures of a queue from the admin API; only those that are looked at. */
export interface QueueFigures {
  readonly name: string;
  readonly messages: { readonly ready: number; readonly delayed: number; readonly leased: number };
  readonly damage: readonly DamageEntry[];
}

/** Damage as the admin API lists it. */
export interface DamageEntry {
  readonly kind: string;
  /** Most messages that are lost by it; `null` where that is not known. */
  readonly messagesLost: number | null;
  readonly text: string;
}

/** Every queue of the broker that answers `get`, which takes a path. */
export async function queueFigures(get: (path: string) => Promise<Response>): Promise<QueueFigures[]> {
  const response = await get("/__sluice/api/queues");
  if (!response.ok) throw new Error(`the admin API answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { queues: QueueFigures[] }).queues;
}
