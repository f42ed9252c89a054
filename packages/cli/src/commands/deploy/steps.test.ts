import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Account, type Binding } from "../../../test/cloudflare/account.ts";
import type { Part } from "./parts.ts";
import { type Live, type Step, stepsTo, type Wanted } from "./steps.ts";

const BROKER = "sluice";

/** Worker of a test: its state of code, what it is bound to, whether it sends and consumes. */
interface Shape {
  readonly name: string;
  readonly code: number;
  readonly services: readonly string[];
  readonly sends: boolean;
  readonly consumes: boolean;
}

function wantedOf(shapes: readonly Shape[], brokerCode: number): Wanted[] {
  const consumers = shapes.filter(({ consumes }) => consumes).map(({ name }) => name);
  const workers = shapes.map(({ name, services, sends, code }) =>
    wanted(partOf(name, false, [...services, ...(sends ? [BROKER] : [])]), `${code}`),
  );
  return [...workers, wanted(partOf(BROKER, true, consumers), `${brokerCode}`)];
}

function partOf(name: string, isBroker: boolean, needs: readonly string[]): Part {
  return { name, isBroker, needs, directory: "", configFile: `${name}.json`, config: "{}" };
}

function wanted(part: Part, code: string): Wanted {
  const tagWithout = (left: readonly string[]) => {
    const bound = part.needs.filter((need) => !left.includes(need));
    return `${code} ${part.isBroker ? bound.join() : ""}`;
  };
  return { part, tag: tagWithout([]), tagWithout };
}

/** Uploads a step to an account that refuses the same as Cloudflare. */
function upload(account: Account, { part, tag, without }: Step): void {
  const bindings: Binding[] = part.needs
    .filter((need) => !without.includes(need))
    .map((need) =>
      need === BROKER
        ? { name: "QUEUES", type: "durable_object_namespace", class_name: "QueueBroker", script_name: BROKER }
        : { name: need, type: "service", service: need },
    );
  const own = { name: "OWN", type: "durable_object_namespace", class_name: "QueueBroker" };
  const isNew = !account.scripts.has(part.name);
  const version = account.upload(
    part.name,
    {
      bindings: part.isBroker ? [...bindings, own] : bindings,
      annotations: { "workers/tag": tag },
      ...(part.isBroker && isNew
        ? { migrations: { new_tag: "v1", steps: [{ new_sqlite_classes: ["QueueBroker"] }] } }
        : {}),
    },
    { "index.js": part.isBroker ? "export { QueueBroker };" : "export { a as default };" },
  );
  account.deploy(part.name, [{ version_id: version.id, percentage: 100 }], {});
}

function liveOf(account: Account): Map<string, Live> {
  return new Map(
    [...account.scripts.keys()].map((name) => {
      const { annotations, bindings } = account.live(name);
      const services = bindings.flatMap(({ service }) => service ?? []);
      return [name, { tag: annotations["workers/tag"] ?? null, services }];
    }),
  );
}

function run(account: Account, all: readonly Wanted[], most = Number.POSITIVE_INFINITY): string[] {
  const steps = stepsTo(all, liveOf(account)).slice(0, most);
  for (const step of steps) upload(account, step);
  return steps.map(
    ({ part, without }) => `${part.name}${without.length > 0 ? ` without ${without.join()}` : ""}`,
  );
}

const worker = (name: string, more: Partial<Shape> = {}): Shape => ({
  name,
  code: 1,
  services: [],
  sends: false,
  consumes: false,
  ...more,
});

describe("the steps of a deployment", () => {
  const shop = [
    worker("web", { sends: true, services: ["mailer"] }),
    worker("mailer", { sends: true, consumes: true }),
  ];

  it("begin on an empty account with the broker without its consumers, and end with the whole broker", () => {
    const account = new Account();
    expect(run(account, wantedOf(shop, 1))).toEqual(["sluice without mailer", "mailer", "web", "sluice"]);
    expect(run(account, wantedOf(shop, 1))).toEqual([]);
  });

  it("touch what has changed, the broker before those that send to it", () => {
    const account = new Account();
    run(account, wantedOf(shop, 1));
    const [web = worker("web"), mailer = worker("mailer")] = shop;
    expect(run(account, wantedOf([{ ...web, code: 2 }, mailer], 1))).toEqual(["web"]);
    expect(run(account, wantedOf([{ ...web, code: 3 }, mailer], 2))).toEqual(["sluice", "web"]);
  });

  it("keep a consumer bound that is called, while another one is new", () => {
    const account = new Account();
    run(account, wantedOf(shop, 1));
    const more = [...shop, worker("billing", { consumes: true })];
    expect(run(account, wantedOf(more, 2))).toEqual(["sluice without billing", "billing", "sluice"]);
  });

  it("bind a consumer at once whose code is live and which the broker does not call", () => {
    const account = new Account();
    run(account, wantedOf(shop, 1));
    const [web = worker("web"), mailer = worker("mailer")] = shop;
    const detached = { ...mailer, consumes: false };
    expect(run(account, wantedOf([web, detached], 2))).toEqual(["sluice"]);
    expect(run(account, wantedOf([web, mailer], 3))).toEqual(["sluice"]);
  });

  it("are necessary: the account refuses the whole broker first, and a producer before the broker", () => {
    const [web, mailer, broker] = wantedOf(shop, 1).map(
      ({ part }): Step => ({ part, tag: "1", without: [] }),
    );
    for (const step of [web, mailer, broker]) {
      expect(() => step && upload(new Account(), step)).toThrow(/not found|does not exist/);
    }
  });

  it("bind a Worker that begins to consume only when its new code is there", () => {
    const account = new Account();
    run(account, wantedOf([worker("late", { sends: true })], 1));
    const consuming = wantedOf([worker("late", { sends: true, consumes: true, code: 2 })], 1);
    expect(run(account, consuming)).toEqual(["late", "sluice"]);
  });

  it("deploy again a Worker that another tool has deployed in between", () => {
    const account = new Account();
    run(account, wantedOf(shop, 1));
    const other = account.upload("web", {}, { "index.js": "" });
    account.deploy("web", [{ version_id: other.id, percentage: 100 }], {});
    expect(run(account, wantedOf(shop, 1))).toEqual(["web"]);
  });

  it("refuse a circle of Workers of which one is not there, and accept one whose Workers all are", () => {
    const circle = [worker("a", { services: ["b"] }), worker("b", { services: ["a"] })];
    const account = new Account();
    expect(() => run(account, wantedOf(circle, 1))).toThrow(/"a" and "b" are bound to one another, and "a"/);
    for (const name of ["a", "b"]) upload(account, { part: partOf(name, false, []), tag: "0", without: [] });
    expect(run(account, wantedOf(circle, 1))).toEqual(["sluice", "b", "a"]);
  });

  it("are accepted by Cloudflare from any state, and finished by the next run wherever they were cut off", () => {
    const names = ["a", "b", "c", "d"];
    const shapes = fc
      .tuple(
        ...names.map((_, i) =>
          fc.tuple(fc.nat(2), fc.subarray(names.slice(0, i)), fc.boolean(), fc.boolean()),
        ),
      )
      .map((all) =>
        all.map(([code, services, sends, consumes], i) =>
          worker(`${names[i]}`, { code, services, sends, consumes }),
        ),
      );
    const stage = fc.tuple(shapes, fc.nat(2), fc.nat(6), fc.nat(4));
    fc.assert(
      fc.property(fc.array(stage, { minLength: 1, maxLength: 4 }), (stages) => {
        const account = new Account();
        for (const [all, code, most, count] of stages)
          run(account, wantedOf(all.slice(0, count), code), most);
        const [all, code] = stages.at(-1) ?? [[], 0];
        const last = wantedOf(all, code);
        run(account, last);
        expect(stepsTo(last, liveOf(account))).toEqual([]);
        for (const { part, tag } of last) expect(liveOf(account).get(part.name)?.tag).toBe(tag);
      }),
      { numRuns: 500 },
    );
  });
});
