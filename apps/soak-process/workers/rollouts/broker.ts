import { DurableObject, env } from "cloudflare:workers";
import * as newBroker from "new-broker";
import * as oldBroker from "old-broker";
import { ROLLOUT_PATH, type Rollout, type VersionName } from "./wire.ts";

interface RolloutEnv {
  /** Rollout at the start of the process. */
  readonly ROLLOUT: Rollout;
  readonly SLUICE_QUEUES: DurableObjectNamespace;
  readonly SLUICE_DIRECTORY: DurableObjectNamespace;
  /** Entrypoints of the consumer's versions. */
  readonly OLD_CONSUMER: Fetcher;
  readonly NEW_CONSUMER: Fetcher;
}

/**
 * Bundles of two deployed versions of the broker. Each object runs one of them, as on Cloudflare while a deployment is
 * rolled out, and is reset when its version changes, as by the platform.
 */
const versions = { old: oldBroker, new: newBroker };
const bindings = env as unknown as RolloutEnv;
let rollout = bindings.ROLLOUT;
/** Objects that this process has started. */
const started = new Map<string, DurableObjectNamespace>();

/**
 * Place of an object among all, from 0 to below 1. It never changes, so in a rollout the object's version changes once.
 *
 * @param digits position of the hexadecimal digits of the id that are used.
 */
function placeOf(id: string, digits: number): number {
  return Number.parseInt(id.slice(digits, digits + 6), 16) / 0x1000000;
}

function pick({ from, to }: Rollout, share: number, place: number): VersionName {
  return place < share ? to : from;
}

const brokerOf = (id: string): VersionName => pick(rollout, rollout.brokerShare, placeOf(id, 0));
const consumerOf = (id: string): VersionName => pick(rollout, rollout.consumerShare, placeOf(id, 6));

/** Makes the environment of an object, with its version as the platform names it and its version of the consumer. */
function envOf(id: string): object {
  const consumer = bindings[consumerOf(id) === "old" ? "OLD_CONSUMER" : "NEW_CONSUMER"];
  return { ...bindings, CONSUMER_CONSUMER: consumer, SLUICE_VERSION: { id: brokerOf(id) } };
}

function objectOf(name: "QueueBroker" | "Directory", namespace: DurableObjectNamespace) {
  const classOf = (version: VersionName) =>
    class extends versions[version][name] {
      rolloutReset(): void {
        this.ctx.abort("Durable Object reset because its code was updated.");
      }
    };
  const classes = { old: classOf("old"), new: classOf("new") };
  return class extends DurableObject {
    constructor(ctx: DurableObjectState, given: RolloutEnv) {
      super(ctx, given);
      const id = ctx.id.toString();
      started.set(id, namespace);
      // biome-ignore lint/correctness/noConstructorReturn: the object is that of its version, bundled as it is.
      return new classes[brokerOf(id)](ctx, envOf(id)) as never;
    }
  };
}

export const QueueBroker = objectOf("QueueBroker", bindings.SLUICE_QUEUES);
export const Directory = objectOf("Directory", bindings.SLUICE_DIRECTORY);

export default {
  async fetch(request, given, ctx) {
    if (new URL(request.url).pathname === ROLLOUT_PATH)
      return Response.json(await roll(await request.json()));
    const version = pick(rollout, rollout.brokerShare, Math.random());
    const handler = versions[version].default;
    return (
      handler.fetch?.(request, { ...given, SLUICE_VERSION: { id: version } }, ctx) ??
      new Response(null, { status: 404 })
    );
  },
} satisfies ExportedHandler<RolloutEnv>;

type Resettable = DurableObjectStub & { rolloutReset(): Promise<void> };

/** Sets other shares, and resets the objects whose version or consumer changes. Resolves to their number. */
async function roll(next: Rollout): Promise<number> {
  const versionsOf = (id: string) => `${brokerOf(id)} ${consumerOf(id)}`;
  const before = new Map([...started.keys()].map((id) => [id, versionsOf(id)]));
  rollout = next;
  const changed = [...before].filter(([id, versions]) => versionsOf(id) !== versions);
  // An object that is reset answers no call: each of these fails.
  await Promise.allSettled(changed.map(([id]) => stubOf(id).rolloutReset()));
  return changed.length;
}

function stubOf(id: string): Resettable {
  const namespace = started.get(id);
  if (namespace === undefined) throw new Error(`nothing is known of the object ${id}`);
  return namespace.get(namespace.idFromString(id)) as unknown as Resettable;
}
