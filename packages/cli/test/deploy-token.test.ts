import { describe, expect, it } from "vitest";
import { ACCOUNT_ID, SECOND_ACCOUNT_ID } from "./cloudflare/api.ts";
import { cloudOfFile } from "./cloudflare/cloud-of-file.ts";
import { KINDS, type Repository } from "./cloudflare/repository.ts";

const cloud = await cloudOfFile();

function shop(more = "", env: NodeJS.ProcessEnv = {}): Repository {
  const made = cloud.repository("shop", env);
  made.worker("web", { sends: "mails", more });
  return made;
}

function bank(more: string, env: NodeJS.ProcessEnv = {}): Repository {
  const made = cloud.repository("bank", env);
  made.worker("bank", { sends: "bills", more });
  return made;
}

const SHARED = '[sluice]\nbroker = "team"\n';
const URL = "https://sluice.shop.workers.dev";
const tokensOf = (broker = "sluice", account = cloud.account) =>
  account.find(broker).secrets.get("SLUICE_API_TOKENS");

describe.each(KINDS)("the file of a broker's address and token: %s", (kind) => {
  cloud.configuredBy(kind);

  it("has the token that the first deployment made", async () => {
    const project = shop();
    const { output } = await project.run("deploy", ["web"]);
    expect(project.deployed("sluice.env")).toEqual({
      SLUICE_API_TOKEN: tokensOf(),
      SLUICE_ACCOUNT: ACCOUNT_ID,
      SLUICE_URL: URL,
    });
    expect(output).toContain("Its address and its token are in .sluice/deployed/sluice.env,");
    expect(output).not.toContain("has been set since");
  });

  it("has the address also where another deployment came in between, and nothing is left to deploy", async () => {
    const env = { SLUICE_API_TOKENS: "chosen-token" };
    const [first, second] = [shop("", env), shop("", env)];
    await first.run("deploy", ["web"]);
    cloud.beforeFirst("deploy", "sluice", () => first.run("deploy", ["web"]));
    const { output } = await second.run("deploy", ["web"]);
    expect(output).toContain("Nothing to deploy.");
    expect(output).toContain("Deployed. The broker's page");
    expect(second.deployed("sluice.env").SLUICE_URL).toBe(URL);
  });

  it("loses the token that SLUICE_API_TOKENS replaces", async () => {
    const project = shop();
    await project.run("deploy", ["web"]);
    project.set({ SLUICE_API_TOKENS: "new" });
    const { code, output } = await project.run("deploy", ["web"]);
    expect({ code, tokens: tokensOf() }).toEqual({ code: 0, tokens: "new" });
    expect(project.deployed("sluice.env")).toEqual({ SLUICE_ACCOUNT: ACCOUNT_ID, SLUICE_URL: URL });
    expect(output).toContain("Its address is in .sluice/deployed/sluice.env,");
    expect(output).toContain("one of the SLUICE_API_TOKENS that this deployment was given");
  });

  it("loses a token that another repository has replaced", async () => {
    const [first, second] = [shop(SHARED), bank(SHARED, { SLUICE_API_TOKENS: "new" })];
    await first.run("deploy", ["web"]);
    await second.run("deploy", ["bank"]);
    const { code, output } = await first.run("deploy", ["web"]);
    expect({ code, tokens: tokensOf("team") }).toEqual({ code: 0, tokens: "new" });
    expect(first.deployed("team.env").SLUICE_API_TOKEN).toBeUndefined();
    expect(output).toContain("another deployment has set it");
    expect(output).toContain("npx wrangler secret put SLUICE_API_TOKENS --name team");
  });

  it("keeps its token while others deploy without tokens of their own", async () => {
    const [first, second] = [shop(SHARED), bank(SHARED)];
    await first.run("deploy", ["web"]);
    const joined = await second.run("deploy", ["bank"]);
    expect(joined.output).toContain("another deployment has set it");
    expect(second.deployed("team.env").SLUICE_API_TOKEN).toBeUndefined();
    first.worker("web", { sends: "mails", code: "2", more: SHARED });
    const { output } = await first.run("deploy", ["web"]);
    expect(output).toContain(
      "Its address and the token that it was first deployed with are in .sluice/deployed/team.env,",
    );
    expect(output).toContain(
      'That token counts unless another one has been set since, as by "npx wrangler secret put"',
    );
    expect(first.deployed("team.env").SLUICE_API_TOKEN).toBe(tokensOf("team"));
  });
});

describe.each(KINDS)("secrets of HTTP endpoints: %s", (kind) => {
  cloud.configuredBy(kind);

  it("are taken from the environment for the project whose files name them, and for no other", async () => {
    const push =
      '[sluice.queues.bills.push]\nurl = "https://bank.example/"\nheaders = { authorization = "$API_KEY" }\n';
    const [first, second] = [
      shop(SHARED, { API_KEY: "of-the-shop" }),
      bank(SHARED + push, { API_KEY: "of-the-bank" }),
    ];
    await first.run("deploy", ["web"]);
    await second.succeed("deploy", ["bank"]);
    expect(await first.succeed("deploy", ["web"])).toContain("Nothing to deploy.");
    expect(cloud.account.find("team").secrets.get("API_KEY")).toBe("of-the-bank");
  });
});

describe.each(KINDS)("secrets that the broker could not use: %s", (kind) => {
  cloud.configuredBy(kind);

  it.each([
    [{ SLUICE_API_TOKENS: " , " }, "SLUICE_API_TOKENS is set, and names no token."],
    [{ SLUICE_API_TOKENS: " " }, "SLUICE_API_TOKENS is set, and names no token."],
    [{ SLUICE_API_TOKENS: "a b" }, "SLUICE_API_TOKENS must be tokens without blanks"],
    [{ SLUICE_AWS_ACCESS_KEYS: "garbage" }, "SLUICE_AWS_ACCESS_KEYS must be KEY:SECRET"],
  ])("are refused before the first step: %j", async (env, words) => {
    const project = shop();
    await project.run("deploy", ["web"]);
    const before = { live: cloud.account.live("sluice").id, file: project.deployed("sluice.env") };
    project.set(env);
    project.worker("web", { sends: "mails", code: "2" });
    const { code, output } = await project.run("deploy", ["web"]);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(words) });
    expect({ live: cloud.account.live("sluice").id, file: project.deployed("sluice.env") }).toEqual(before);
    expect(project.deployed("sluice.env").SLUICE_API_TOKEN).toBe(tokensOf());
  });
});

describe.each(KINDS)("two first deployments to one broker at once: %s", (kind) => {
  cloud.configuredBy(kind);

  it.each(["bundle", "deploy"])(
    "leave only the broker's token in a file, where they meet at %s",
    async (comes) => {
      const [first, second] = [shop(SHARED), bank(SHARED)];
      let other: ReturnType<Repository["run"]> | undefined;
      let uploads = 0;
      const { promise: bothUpload, resolve } = Promise.withResolvers<void>();
      cloud.before = async (command, worker) => {
        if (worker !== "team" || command !== comes || uploads >= 2) return;
        uploads += 1;
        other ??= second.run("deploy", ["bank"]);
        // Both deployments find no broker then.
        if (uploads === 2) resolve();
        await bothUpload;
      };
      const outcomes = [await first.run("deploy", ["web"]), await other];
      expect(outcomes.map((outcome) => outcome?.code)).toEqual([0, 0]);
      const kept = [first, second].map((project) => project.deployed("team.env").SLUICE_API_TOKEN);
      for (const [i, token] of kept.entries()) {
        expect([undefined, tokensOf("team")]).toContain(token);
        const words =
          token === undefined ? "another deployment has set it" : /(its token|deployed with) are in/;
        expect(outcomes[i]?.output).toMatch(words);
      }
      // One of the two files has the token.
      expect(kept).toContain(tokensOf("team"));
    },
  );

  it("leave it to the next deployment to set chosen tokens that a generated one replaced", async () => {
    const [first, second] = [shop(SHARED, { SLUICE_API_TOKENS: "chosen-token" }), bank(SHARED)];
    cloud.beforeFirst("deploy", "team", async () => {
      // Its upload comes right before the second one's, and neither deployment sees the other.
      const { code, output } = await first.run("deploy", ["web"]);
      expect({ code, tokens: tokensOf("team") }).toEqual({ code: 0, tokens: "chosen-token" });
      expect(output).toContain("one of the SLUICE_API_TOKENS that this deployment was given");
    });
    await second.run("deploy", ["bank"]);
    expect(second.deployed("team.env").SLUICE_API_TOKEN).toBe(tokensOf("team"));
    const { output } = await first.run("deploy", ["web"]);
    expect(tokensOf("team")).toBe("chosen-token");
    expect(output).toContain("one of the SLUICE_API_TOKENS that this deployment was given");
    await second.run("deploy", ["bank"]);
    expect(second.deployed("team.env").SLUICE_API_TOKEN).toBeUndefined();
  });

  it("are corrected by the next deployment where one had ended already", async () => {
    const [first, second] = [shop(SHARED), bank(SHARED)];
    cloud.beforeFirst("deploy", "team", () => second.run("deploy", ["bank"]));
    await first.run("deploy", ["web"]);
    expect(first.deployed("team.env").SLUICE_API_TOKEN).toBe(tokensOf("team"));
    await second.run("deploy", ["bank"]);
    expect(second.deployed("team.env").SLUICE_API_TOKEN).toBeUndefined();
  });
});

describe.each(KINDS)("a folder that is deployed to two accounts: %s", (kind) => {
  cloud.configuredBy(kind);

  const secondAccount = () => {
    const account = cloud.cloudflare.accounts.get(SECOND_ACCOUNT_ID);
    if (account === undefined) throw new Error("there are two");
    return account;
  };

  it("has a token and a file for each", async () => {
    const project = shop();
    await project.run("deploy", ["web"]);
    project.set({ CLOUDFLARE_ACCOUNT_ID: SECOND_ACCOUNT_ID });
    const { output } = await project.run("deploy", ["web"]);
    const file = `sluice.${SECOND_ACCOUNT_ID}.env`;
    expect(output).toContain(`Its address and its token are in .sluice/deployed/${file},`);
    expect(project.deployed(file).SLUICE_API_TOKEN).toBe(tokensOf("sluice", secondAccount()));
    expect(project.deployed("sluice.env").SLUICE_API_TOKEN).toBe(tokensOf());
    expect(tokensOf()).not.toBe(tokensOf("sluice", secondAccount()));
    project.set({ CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID });
    await project.run("destroy", ["web"], { force: true });
    project.set({ CLOUDFLARE_ACCOUNT_ID: SECOND_ACCOUNT_ID });
    await project.run("deploy", ["web"], { force: true });
    expect(project.deployed(file).SLUICE_API_TOKEN).toBe(tokensOf("sluice", secondAccount()));
  });

  it("uses a file of an earlier release for the account of its address", async () => {
    const project = shop();
    project.write(
      ".sluice/deployed/sluice.env",
      "SLUICE_API_TOKEN=old\nSLUICE_URL=https://sluice.another.workers.dev\n",
    );
    await project.run("deploy", ["web"]);
    expect(project.deployed(`sluice.${ACCOUNT_ID}.env`).SLUICE_API_TOKEN).toBe(tokensOf());
    const earlier = shop();
    earlier.write(".sluice/deployed/sluice.env", `SLUICE_API_TOKEN=old\nSLUICE_URL=${URL}\n`);
    cloud.account.remove("sluice", true);
    await earlier.run("deploy", ["web"]);
    expect({ file: earlier.deployed("sluice.env"), tokens: tokensOf() }).toEqual({
      file: { SLUICE_API_TOKEN: "old", SLUICE_URL: URL, SLUICE_ACCOUNT: ACCOUNT_ID },
      tokens: "old",
    });
  });
});
