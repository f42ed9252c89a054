import { describe, expect, it } from "vitest";
import { ACCOUNT_ID, ACCOUNT_TOKEN, SECOND_ACCOUNT_ID } from "./cloudflare/api.ts";
import { cloudOfFile } from "./cloudflare/cloud-of-file.ts";
import { KINDS } from "./cloudflare/repository.ts";

const cloud = await cloudOfFile();
const { account } = cloud;

const shop = () => cloud.shop();

describe.each(KINDS)("the account of a deployment: %s", (kind) => {
  cloud.configuredBy(kind);

  it("is the one that any configuration names, for the broker and for every step", async () => {
    const project = cloud.repository("shop", { CLOUDFLARE_ACCOUNT_ID: "" });
    project.worker("web", { sends: "mails" });
    project.worker("mailer", { consumes: "mails", account: SECOND_ACCOUNT_ID });
    await project.succeed("deploy", ["web", "mailer"]);
    expect([...account.scripts.keys()]).toEqual([]);
    const second = cloud.cloudflare.accounts.get(SECOND_ACCOUNT_ID);
    expect([...(second?.scripts.keys() ?? [])].sort()).toEqual(["mailer", "sluice", "web"]);
  });

  it("has to be one: different ids are refused before any call", async () => {
    const project = shop();
    project.worker("web", { account: SECOND_ACCOUNT_ID });
    const output = await project.fail("deploy", ["web", "mailer"]);
    expect(output).toContain(`  ${SECOND_ACCOUNT_ID}  ${project.folder}/web/${kind}`);
    expect(output).toContain(`  ${ACCOUNT_ID}  CLOUDFLARE_ACCOUNT_ID`);
  });

  it("has to be named where the login opens several", async () => {
    const project = cloud.repository("shop", { CLOUDFLARE_ACCOUNT_ID: "" });
    project.worker("web", { sends: "mails" });
    const output = await project.fail("deploy", ["web"]);
    expect(output).toContain(`CLOUDFLARE_ACCOUNT_ID=${SECOND_ACCOUNT_ID}  account 2`);
  });

  it("is CLOUDFLARE_ACCOUNT_ID of a .env file too, as the token is", async () => {
    const project = cloud.repository("shop", { CLOUDFLARE_ACCOUNT_ID: "", CLOUDFLARE_API_TOKEN: "" });
    project.worker("web", { sends: "mails" });
    project.write(".env", `CLOUDFLARE_API_TOKEN=${ACCOUNT_TOKEN}\nCLOUDFLARE_ACCOUNT_ID=${ACCOUNT_ID}\n`);
    project.write(".env.local", `CLOUDFLARE_ACCOUNT_ID=${SECOND_ACCOUNT_ID}\n`);
    await project.succeed("deploy", ["web"]);
    expect([...account.scripts.keys()]).toEqual([]);
    expect(cloud.cloudflare.accounts.get(SECOND_ACCOUNT_ID)?.scripts.has("web")).toBe(true);
    project.set({ CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID });
    expect(await project.run("deploy", ["web"])).toMatchObject({ code: 0 });
    expect(account.scripts.has("web")).toBe(true);
  });

  it("comes for an environment from the .env files of that environment", async () => {
    const project = cloud.repository("shop", { CLOUDFLARE_ACCOUNT_ID: "", CLOUDFLARE_API_TOKEN: "" });
    project.worker("web", { inX: { sends: "mails" } });
    project.write(".env", `CLOUDFLARE_API_TOKEN=wrong\nCLOUDFLARE_ACCOUNT_ID=${ACCOUNT_ID}\n`);
    const own = `CLOUDFLARE_API_TOKEN=${ACCOUNT_TOKEN}\nCLOUDFLARE_ACCOUNT_ID=${SECOND_ACCOUNT_ID}\n`;
    project.write(".env.x", own);
    await project.succeed("deploy", ["web"], { env: "x" });
    expect(cloud.cloudflare.accounts.get(SECOND_ACCOUNT_ID)?.scripts.has("web-x")).toBe(true);
  });

  it.each([
    ["the environment", "", "CLOUDFLARE_ACCOUNT_ID"],
    ["a file of variables", "CLOUDFLARE_ACCOUNT_ID=shop\n", "CLOUDFLARE_ACCOUNT_ID in .env"],
  ])("is refused before any call where it is no id: by %s", async (_, file, place) => {
    const id = file === "" ? "shop" : "";
    const project = cloud.repository("shop", { CLOUDFLARE_ACCOUNT_ID: id, CLOUDFLARE_API_TOKEN: "unasked" });
    project.worker("web", { sends: "mails" });
    project.write(".env", file);
    const { code, output } = await project.run("deploy", ["web"]);
    expect({ code, output }).toEqual({
      code: 1,
      output:
        `${place} names the account "shop", and the id of an account of Cloudflare has 32 hexadecimal digits. ` +
        '"npx wrangler whoami" lists those of the login.',
    });
  });

  it("is named with its source where Cloudflare does not know it", async () => {
    const id = "0".repeat(32);
    const project = cloud.repository("shop", { CLOUDFLARE_ACCOUNT_ID: "" });
    project.worker("web", { sends: "mails", account: id });
    const output = await project.fail("deploy", ["web"]);
    expect(output).toContain("Could not route the request. [code: 7003]");
    expect(output).toContain(`The account is ${id}, which ${project.folder}/web/${kind} names.`);
    expect(output).toContain('"npx wrangler whoami" lists those of the login.');
    cloud.cloudflare.unknown.length = 0;
  });

  it("is named with the source of a wrong token and the permissions that it needs", async () => {
    const project = cloud.repository("shop", { CLOUDFLARE_API_TOKEN: "wrong" });
    project.worker("web", { sends: "mails" });
    const output = await project.fail("deploy", ["web"]);
    expect(output).toContain("Authentication error [code: 10000]");
    expect(output).toContain(
      `The credentials are those of CLOUDFLARE_API_TOKEN. The account is ${ACCOUNT_ID}, which CLOUDFLARE_ACCOUNT_ID names.`,
    );
    expect(output).toContain("Workers Scripts: Edit");
  });
});

describe.each(KINDS)("the address of a broker: %s", (kind) => {
  cloud.configuredBy(kind);

  it("is read from the account by a checkout that has never deployed it", async () => {
    await cloud.deployedShop();
    const clone = shop();
    clone.worker("web", { sends: "mails", code: "2" });
    const { output } = await clone.run("deploy", ["web"]);
    expect(output).not.toContain("no address");
    expect(output).toContain("The broker's page: https://sluice.shop.workers.dev/__sluice/");
    account.find("sluice").subdomain = false;
    const third = shop();
    third.worker("web", { sends: "mails", code: "3" });
    expect((await third.run("deploy", ["web"])).output).toContain(
      '"sluice" answers at no address of workers.dev.',
    );
  });
});
