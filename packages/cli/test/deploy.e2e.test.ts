import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ACCOUNT_ID, type Cloudflare, startCloudflare } from "./cloudflare/api.ts";
import { CONFIGURATIONS } from "./cloudflare-configs.ts";
import type { Lab } from "./lab.ts";
import { HAS_OTHERS, otherWrangler } from "./others.ts";
import { sluice } from "./running.ts";
import { sampled } from "./thorough.ts";

const WORKERS = ["front", "objects", "mailer"];

// All tests share one account and build on one another: each run of Wrangler takes a second or two.
describe.each(sampled(CONFIGURATIONS))(
  "sluice deploy, rollback and destroy, by the real Wrangler: $kind",
  (configurations) => {
    let lab: Lab;
    let cloudflare: Cloudflare;

    beforeAll(async () => {
      lab = configurations.open("shop");
      cloudflare = await startCloudflare();
    });
    afterAll(async () => {
      await cloudflare[Symbol.asyncDispose]();
      lab.remove();
    });

    const executed = new Set<string>();
    /** Runs a command for all Workers, which has to end with a code. */
    const command = async (code: number, name: string, ...more: string[]) => {
      cloudflare.changes.length = 0;
      const output = await outputOf(code, [name, ...WORKERS, ...more]);
      executed.add([name, ...more].join(" "));
      return { output, changes: [...cloudflare.changes] };
    };
    /** Runs a command that has to end with a code, and returns its output. */
    const outputOf = async (code: number, args: readonly string[], of = lab, env: NodeJS.ProcessEnv = {}) => {
      const running = sluice(args, of.folder, { ...of.env, ...cloudflare.env, ...env });
      expect(await running.ended, running.output).toBe(code);
      return running.output;
    };
    const uploads = (changes: readonly string[]) =>
      changes
        .filter((change) => /^PUT scripts\/[^/]+$|\/versions$/.test(change))
        .map((change) => change.split("/")[1]);
    const accessFile = () => join(lab.folder, ".sluice/deployed/sluice.env");
    const boundServices = () =>
      cloudflare.account.live("sluice").bindings.flatMap(({ service }) => service ?? []);

    it("print the plan with --dry-run, and change nothing", async () => {
      const { output, changes } = await command(0, "deploy", "--dry-run");
      expect(output).toContain(
        [
          "  + front  new",
          "  + objects  new",
          "  + mailer  new",
          "  + sluice  new",
          "",
          "In this order:",
          "  1. the broker sluice, without mailer: deployed after it",
          "  2. objects",
          "  3. mailer",
          "  4. front",
          "  5. the broker sluice",
        ].join("\n"),
      );
      expect(changes).toEqual([]);
      expect(existsSync(accessFile())).toBe(false);
    });

    it("stop at a step that Cloudflare refuses, and name it", async () => {
      cloudflare.refuses = (call) => call === "PUT scripts/mailer";
      const { output } = await command(1, "deploy");
      expect(output).toContain(
        '"mailer" was not deployed, step 3 of 5. What was deployed before it works as it is.',
      );
      expect(output).toContain("[code: 10013]");
      expect([...cloudflare.account.scripts.keys()]).toEqual(["sluice", "objects"]);
      expect(boundServices()).toEqual([]);
    });

    it("continue from there, also while a new Worker is not visible yet", async () => {
      cloudflare.refuses = () => false;
      cloudflare.account.lag = 2;
      const token = readFileSync(accessFile(), "utf8").match(/^SLUICE_API_TOKEN=(.{43})$/m)?.[1];
      const { output, changes } = await command(0, "deploy");
      expect(output).toContain("  • objects  unchanged");
      // Two refusals each, after which both new Workers are visible.
      expect([...cloudflare.account.scripts.values()].map(({ unseen }) => unseen)).toEqual([0, 0, 0, 2]);
      expect(new Set(uploads(changes))).toEqual(new Set(["mailer", "front", "sluice"]));
      expect(boundServices()).toEqual(["mailer"]);
      // The broker has the token of the first attempt.
      expect(cloudflare.account.find("sluice").secrets.get("SLUICE_API_TOKENS")).toBe(token);
      expect(readFileSync(accessFile(), "utf8")).toBe(
        `SLUICE_ACCOUNT=${ACCOUNT_ID}\nSLUICE_API_TOKEN=${token}\nSLUICE_URL=https://sluice.shop.workers.dev\n`,
      );
      expect(statSync(accessFile()).mode & 0o777).toBe(0o600);
      expect(output).not.toContain(token);
      expect(output).toContain("The broker's page: https://sluice.shop.workers.dev/__sluice/");
      cloudflare.account.lag = 0;
    });

    it("do nothing in the next run", async () => {
      const { output, changes } = await command(0, "deploy");
      expect(output).toContain("Nothing to deploy.");
      // A new deployment of unchanged Workers sets the triggers, which a stopped one may not have set.
      expect(changes).toEqual([...WORKERS, "sluice"].map((name) => `POST scripts/${name}/subdomain`));
      expect(output).toContain(
        "Address, routes, domains and schedules are as configured: front, objects, mailer, sluice\n",
      );
    });

    it("recognize a Worker from its own folder", async () => {
      // The project has the name of the folder above.
      writeFileSync(join(lab.folder, "package.json"), '{ "name": "shop" }');
      const running = sluice(["deploy"], join(lab.folder, "mailer"), { ...lab.env, ...cloudflare.env });
      expect(await running.ended, running.output).toBe(0);
      expect(running.output).toContain("Nothing to deploy.");
      rmSync(join(lab.folder, "mailer/.sluice"), { recursive: true });
    });

    it("deploy everything with --force, and nothing with --yes alone", async () => {
      const meant = await command(0, "deploy", "--yes");
      expect(uploads(meant.changes)).toEqual([]);
      const forced = await command(0, "deploy", "--force");
      expect(uploads(forced.changes)).toEqual(["sluice", "objects", "mailer", "front"]);
    });

    it("deploy only what has changed, and roll it back", async () => {
      const before = cloudflare.account.live("mailer").id;
      appendFileSync(join(lab.folder, "mailer/src/index.ts"), "\nconsole.log('changed');\n");
      const changed = await command(0, "deploy");
      expect(uploads(changed.changes)).toEqual(["mailer"]);
      expect(cloudflare.account.live("mailer").id).not.toBe(before);

      const back = await command(0, "rollback");
      expect(back.output).toContain(`mailer  back to ${before}`);
      expect(cloudflare.account.live("mailer").id).toBe(before);
      expect(back.changes).toEqual(["POST scripts/mailer/deployments"]);
    });

    it("refuse to go back beyond the first deployment", async () => {
      const { output, changes } = await command(1, "rollback");
      expect(changes).toEqual([]);
      expect(output).toContain("There is nothing to go back to");
    });

    it("keep a consumer bound that the command does not name, while the broker changes", async () => {
      configurations.addProducer(lab, "objects", "MORE", "more");
      cloudflare.changes.length = 0;
      expect(await outputOf(0, ["deploy", "objects"])).toContain(
        "  • mailer  not named here: it stays bound",
      );
      expect(new Set(uploads(cloudflare.changes))).toEqual(new Set(["sluice", "objects"]));
      expect(boundServices()).toEqual(["mailer"]);
    });

    it("leave the broker of another project alone", async () => {
      const other = configurations.open("staged");
      cloudflare.changes.length = 0;
      expect(await outputOf(1, ["deploy", "sender"], other)).toContain(
        'The broker "sluice" on the account serves the project "shop" (front, mailer, objects). This is the project "staged".',
      );
      expect(cloudflare.changes).toEqual([]);
      other.remove();
    });

    it("name the source, account and needed permissions of a token that Cloudflare refuses", async () => {
      const wrong = { CLOUDFLARE_API_TOKEN: "another-token" };
      const output = await outputOf(1, ["deploy", ...WORKERS], lab, wrong);
      expect(output).toContain(
        "Authentication error [code: 10000]\nThe credentials are those of CLOUDFLARE_API_TOKEN",
      );
      expect(output).toContain("Workers Scripts: Edit");
    });

    it("delete nothing without --force, nor what other Workers are bound to", async () => {
      const unasked = await command(5, "destroy");
      expect(unasked.changes).toEqual([]);
      expect(unasked.output).toContain("What still waits in the queues is not known: ");
      const service = { name: "MAIL", type: "service", service: "mailer" };
      const { id } = cloudflare.account.upload("stranger", { bindings: [service] }, { "index.js": "" });
      cloudflare.account.deploy("stranger", [{ version_id: id, percentage: 100 }], {});
      const bound = await command(5, "destroy");
      expect(bound.changes).toEqual([]);
      expect(bound.output).toContain("  mailer: stranger\n");
      cloudflare.account.remove("stranger", true);
    });

    it("delete everything, and continue after a refused step", async () => {
      cloudflare.refuses = (call) => call === "DELETE services/objects";
      const first = await command(1, "destroy", "--force");
      expect(first.output).toContain('"objects" was not deleted. Run the same command again to go on.');
      cloudflare.refuses = () => false;
      const second = await command(0, "destroy", "--force");
      expect(second.changes).toEqual(["DELETE services/objects", "DELETE services/sluice"]);
      expect(first.changes.filter((change) => change.startsWith("DELETE"))).toEqual([
        "DELETE services/front",
        "DELETE services/mailer",
        "DELETE services/objects",
      ]);
      expect([...cloudflare.account.scripts.keys()]).toEqual([]);
      expect(existsSync(accessFile())).toBe(false);
      expect((await command(0, "destroy", "--force")).changes).toEqual([]);
    });

    it("deploy a Worker that sends and consumes, whose binding to the broker is mutual", {
      tags: "slow",
    }, async () => {
      const project = configurations.open("staged");
      configurations.addConsumer(project, "sender", "jobs");
      expect(await outputOf(0, ["deploy", "sender"], project)).toContain(
        [
          "In this order:",
          "  1. the broker sluice, without sender: deployed after it",
          "  2. sender",
          "  3. the broker sluice",
        ].join("\n"),
      );
      expect(boundServices()).toEqual(["sender"]);
      project.remove();
      for (const name of ["sluice", "sender"]) cloudflare.account.remove(name, true);
    });

    it("deploy an environment with its own broker", { tags: "slow" }, async () => {
      const staged = configurations.open("staged");
      const options = ["--env", "x"];
      await outputOf(0, ["deploy", "sender", "receiver", ...options], staged);
      executed.add(["deploy", ...options].join(" "));
      expect([...cloudflare.account.scripts.keys()]).toEqual(["sluice-x", "sender-x", "receiver-x"]);
      expect(readFileSync(join(staged.folder, ".sluice/deployed/sluice-x.env"), "utf8")).toContain(
        "SLUICE_URL=https://sluice-x.shop.workers.dev\n",
      );
      const byVariable = { CLOUDFLARE_ENV: "x" };
      expect(await outputOf(0, ["deploy", "sender", "receiver"], staged, byVariable)).toContain(
        "Nothing to deploy.",
      );
      await outputOf(0, ["destroy", "sender", "receiver", "--force"], staged, byVariable);
      expect([...cloudflare.account.scripts.keys()]).toEqual([]);
      staged.remove();
    });

    it("run as the guide says: each command in it has been run here", { tags: "slow" }, () => {
      const guide = readFileSync(new URL("../../../docs/deploying.md", import.meta.url), "utf8");
      const commands = [
        ...guide.matchAll(/npx sluice (deploy|rollback|destroy) apps\/web apps\/mailer([^#\n]*)/g),
      ];
      const documented = new Set(
        commands.map(([, name, options = ""]) => `${name} ${options.trim()}`.trim()),
      );
      expect(documented.size).toBe(7);
      expect(
        [...documented].filter((line) => !executed.has(line.replace("--env staging", "--env x"))),
      ).toEqual([]);
    });

    it("call nothing that the stand-in of Cloudflare does not know", () => {
      expect(cloudflare.unknown).toEqual([]);
    });

    it.skipIf(!HAS_OTHERS)("refuse a Wrangler that cannot deploy secrets with the code", async () => {
      const project = configurations.open("staged");
      mkdirSync(join(project.folder, "node_modules"));
      symlinkSync(otherWrangler("4.60.0"), join(project.folder, "node_modules/wrangler"));
      expect(await outputOf(1, ["deploy", "sender"], project)).toMatch(
        /^A deployment by Sluice needs Wrangler 4\.74\.0 or newer, and \S+ is 4\.60\.0\./,
      );
      project.remove();
    });

    it("say what to do where Wrangler is not logged in", { tags: "slow" }, async () => {
      const loggedOut = { CLOUDFLARE_API_TOKEN: "", HOME: lab.folder, XDG_CONFIG_HOME: lab.folder };
      expect(await outputOf(1, ["deploy", ...WORKERS], lab, loggedOut)).toContain(
        'Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN.',
      );
      const dryRun = await outputOf(1, ["deploy", ...WORKERS, "--dry-run"], lab, loggedOut);
      expect(dryRun).toMatch(
        /^queue +producers +consumer .*\n\nWorkers: front, objects, mailer, sluice \(the broker\)$/ms,
      );
      expect(dryRun).toContain("only the account knows, which takes a login.\nWrangler is not logged in");
    });
  },
);
