import { describe, expect, it } from "vitest";
import { cloudOfFile } from "./cloudflare/cloud-of-file.ts";
import { KINDS, type Repository } from "./cloudflare/repository.ts";

const cloud = await cloudOfFile();
const { account } = cloud;

const shop = () => cloud.shop();

/** Makes a second project, with its own broker and a consumer of a given name. */
function billing(consumer = "mailer", code = ""): Repository {
  const more = '[sluice]\nbroker = "billing-queues"\n';
  const made = cloud.repository("billing");
  made.worker("biller", { sends: "bills", more });
  made.worker(consumer, { consumes: "bills", code, more });
  return made;
}

const state = () => [...account.scripts.keys()].map((name) => `${name} ${account.live(name).id}`).sort();
const COMMANDS = ["deploy", "rollback", "destroy"] as const;

describe.each(KINDS)("a Worker of another project, which has a broker of its own: %s", (kind) => {
  cloud.configuredBy(kind);

  it.each([
    ["with other code", "other"],
    ["with the same code", ""],
  ])("is refused by each command before any change: %s", async (_, code) => {
    await cloud.deployedShop();
    const before = state();
    for (const command of COMMANDS) {
      expect(await billing("mailer", code).fail(command, ["biller", "mailer"], { force: true })).toContain(
        '"mailer" on the account belongs to the project "shop" with the broker "sluice". This is the project "billing" ' +
          'with the broker "billing-queues".',
      );
      expect(state()).toEqual(before);
    }
  });

  it("is refused where it sends, and where its live version was deployed by hand", async () => {
    await cloud.deployedShop();
    for (const name of ["web", "mailer"]) {
      cloud.deployByHand(name);
      const before = state();
      for (const command of COMMANDS) {
        const output = await billing(name).fail(command, [name], { force: true });
        expect(output).toContain(`"${name}" on the account belongs to the project "shop"`);
      }
      expect(state()).toEqual(before);
    }
  });

  it("is refused also where its broker is gone", async () => {
    const project = shop();
    await project.run("deploy", ["mailer"]);
    await project.run("destroy", ["mailer"], { keepWorkers: true, force: true });
    const before = state();
    for (const command of COMMANDS) {
      const { output } = await billing().run(command, ["mailer"], { force: true });
      expect(output).toContain('belongs to the project "shop"');
    }
    expect(state()).toEqual(before);
    const again = await project.run("destroy", ["mailer"], { force: true });
    expect(again.output).toContain("mailer  deleted");
  });

  it("is refused also where it comes while a deployment runs", async () => {
    const [first, second] = [shop(), billing()];
    cloud.beforeFirst("deploy", "billing-queues", async () => {
      expect(await first.run("deploy", ["web", "mailer"])).toMatchObject({ code: 0 });
    });
    const output = await second.fail("deploy", ["biller", "mailer"]);
    expect(output).toContain('"mailer" on the account belongs to the project "shop"');
    expect((await first.run("deploy", ["web", "mailer"])).output).toContain("Nothing to deploy.");
  });

  it("stays that project's where no broker has it any more, until that project destroys it", async () => {
    const [first, second] = [await cloud.deployedShop(), billing("mailer", "other")];
    await first.run("deploy", ["web"], { detach: ["mailer"] });
    for (const command of COMMANDS) {
      const { output } = await second.run(command, ["biller", "mailer"], { force: true });
      expect(output).toContain('"mailer" on the account belongs to the project "shop"');
    }
    await first.run("destroy", ["mailer"], { force: true });
    expect(await second.run("deploy", ["biller", "mailer"])).toMatchObject({ code: 0 });
    expect((await first.run("deploy", ["web", "mailer"])).output).toContain(
      '"mailer" on the account belongs to the project "billing" with the broker "billing-queues"',
    );
    expect((await second.run("destroy", ["biller", "mailer"], { force: true })).code).toBe(0);
    expect([...account.scripts.keys()].sort()).toEqual(["sluice", "web"]);
  });
});

describe.each(KINDS)("a project that moves to another broker: %s", (kind) => {
  cloud.configuredBy(kind);

  it("takes its Workers along, and the old broker goes without them", async () => {
    const project = await cloud.deployedShop();
    const output = await project.succeed("deploy", ["web", "mailer"], { broker: "new" });
    expect(output).toContain("  ~ mailer  again: it is not marked with this project and this broker yet");
    // Messages that wait in the old broker are consumed meanwhile.
    expect({ old: cloud.bound("sluice"), now: cloud.bound("new") }).toEqual({
      old: ["mailer"],
      now: ["mailer"],
    });
    expect(await project.succeed("destroy", ["web", "mailer"], { broker: "sluice", force: true })).toContain(
      '  • mailer  is left alone: what runs there was deployed to the broker "new"',
    );
    expect([...account.scripts.keys()].sort()).toEqual(["mailer", "new", "web"]);
    const again = await project.run("deploy", ["web", "mailer"], { broker: "new" });
    expect(again.output).toContain("Nothing to deploy.");
  });
});

describe.each(KINDS)("some Workers of a project: %s", (kind) => {
  cloud.configuredBy(kind);

  /** A project of which only the configuration of `web` names the broker. */
  const shopByWeb = async () => {
    const project = shop();
    project.worker("web", { sends: "mails", more: '[sluice]\nbroker = "team"\n' });
    await project.succeed("deploy", ["web", "mailer"]);
    return project;
  };

  it("are not taken to another broker while others stay, without a word", async () => {
    const project = await shopByWeb();
    const before = state();
    const output = await project.fail("deploy", ["mailer"]);
    expect(output).toContain(
      '"mailer" would be deployed to the broker "sluice", and "web" of this project would stay on the broker "team"',
    );
    expect(await project.fail("deploy", ["web"], { broker: "new" })).toContain("To move: name all of them");
    expect(state()).toEqual(before);
    expect(await project.succeed("deploy", ["mailer"], { broker: "team" })).toContain("Nothing to deploy.");
  });

  it("part from the others where these are deployed without them first", async () => {
    const project = await shopByWeb();
    await project.succeed("deploy", ["web"], { detach: ["mailer"] });
    await project.succeed("deploy", ["mailer"]);
    expect({ team: cloud.bound("team"), sluice: cloud.bound("sluice") }).toEqual({
      team: [],
      sluice: ["mailer"],
    });
  });

  it("move alone where the others are gone, or on the other broker already", async () => {
    const project = await shopByWeb();
    cloud.beforeFirst("deploy", "web", () => {
      throw new Error("killed");
    });
    await expect(project.run("deploy", ["mailer", "web"], { broker: "new" })).rejects.toThrow("killed");
    await project.succeed("deploy", ["web"], { broker: "new" });
    account.remove("mailer", true);
    await project.succeed("deploy", ["web"], { broker: "newest" });
    expect([...account.scripts.keys()].sort()).toEqual(["new", "newest", "team", "web"]);
  });
});

describe.each(KINDS)("a broker of another project: %s", (kind) => {
  cloud.configuredBy(kind);

  it.each(["billing-queues", "sluice"])("is refused as a Worker: %s", async (name) => {
    await billing().run("deploy", ["biller", "mailer"]);
    if (name === "sluice") await cloudWithSluice();
    const before = state();
    const other = cloud.repository("other");
    other.worker(name, { sends: "others", more: '[sluice]\nbroker = "b3"\n' });
    for (const command of COMMANDS) {
      const output = await other.fail(command, [name], { force: true });
      expect(output).toContain(`"${name}" on the account is a broker of the project`);
      expect(output).toContain("give that Worker another one");
    }
    expect(state()).toEqual(before);
  });

  async function cloudWithSluice(): Promise<void> {
    const made = cloud.repository("third");
    made.worker("third", { consumes: "thirds" });
    expect(await made.run("deploy", ["third"])).toMatchObject({ code: 0 });
  }
});

describe.each(KINDS)("a removal leaves alone: %s", (kind) => {
  cloud.configuredBy(kind);

  it("a Worker that Sluice has never deployed", async () => {
    const project = await cloud.deployedShop();
    cloud.deployByHand("legacy");
    project.worker("legacy", { sends: "mails" });
    const output = await project.succeed("destroy", ["web", "mailer", "legacy"], { force: true });
    expect(output).toContain(
      '  • legacy  is left alone: what runs there was not deployed by "sluice deploy" (npx wrangler delete --name legacy deletes it)',
    );
    expect([...account.scripts.keys()]).toEqual(["legacy"]);
    const again = await project.run("destroy", ["legacy"], { force: true });
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining("There is nothing to delete.") });
    expect(account.scripts.has("legacy")).toBe(true);
  });

  it("a Worker that was deployed by hand since, but not one whose secrets alone have changed", async () => {
    const project = await cloud.deployedShop();
    cloud.deployByHand("web");
    cloud.changeSecret("mailer");
    const output = await project.succeed("destroy", ["web", "mailer"], { force: true });
    expect(output).toContain("  • web  is left alone: what runs there was not deployed by");
    expect([...account.scripts.keys()]).toEqual(["web"]);
  });

  it("no Worker whose secrets have changed more often than Cloudflare lists deployments", async () => {
    const project = await cloud.deployedShop();
    for (let i = 0; i < 12; i++) cloud.changeSecret("mailer");
    await project.succeed("destroy", ["web", "mailer"], { force: true });
    expect([...account.scripts.keys()]).toEqual([]);
  });

  it("no Worker whose first version was uploaded and is not deployed", async () => {
    const project = shop();
    await project.run("deploy", ["mailer"]);
    account.find("mailer").deployments.length = 0;
    account.remove("sluice", true);
    expect((await project.run("destroy", ["mailer"], { force: true })).output).toContain("mailer  deleted");
  });

  it("a Worker that is deployed by hand while it runs", async () => {
    const project = await cloud.deployedShop();
    cloud.beforeFirst("deploy", "sluice", () => cloud.deployByHand("mailer"));
    const { output } = await project.run("destroy", ["web", "mailer"], { force: true });
    expect(output).toContain("  • mailer  is left alone");
    expect([...account.scripts.keys()]).toEqual(["mailer"]);
  });

  it("a broker that a remaining Worker sends to", async () => {
    const project = await cloud.deployedShop();
    // An edit in the dashboard keeps the bindings.
    cloud.deployByHand("web", { bindings: account.live("web").bindings });
    const before = state();
    for (const more of [{}, { keepWorkers: true }]) {
      const output = await project.fail("destroy", ["web", "mailer"], { ...more, force: true });
      expect(output).toContain('The broker "sluice" is not deleted: these Workers stay and send to it: web.');
    }
    expect(state()).toEqual(before);
  });
});
