// @module-tag slow
import { expect, it, onTestFinished } from "vitest";
import { fuzz, fuzzStrangers } from "./fuzz.ts";
import { INPUTS } from "./inputs.ts";
import { localTarget } from "./local-target.ts";

/** A failure prints it; set it to go through the same requests again, or through others. */
const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 1);

async function opened(vars?: Readonly<Record<string, string>>) {
  const target = await localTarget(vars);
  onTestFinished(() => target.close());
  return target;
}

it("every request to SQS is answered in AWS's form, in time, and no message is lost", {
  timeout: 180_000,
}, async () => {
  const report = await fuzz(await opened(), { seed: SEED, requests: 3_000 });
  // A task can be cancelled only while it runs, which here is never long.
  const all = Object.keys(INPUTS).filter((action) => action !== "CancelMessageMoveTask");
  expect(report.succeeded).toEqual(expect.arrayContaining(all));
  expect(report.kept).toBeGreaterThan(300);
});

it("no request gets in without a key, whatever it claims", async () => {
  const target = await opened({ SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" });
  const statuses = await fuzzStrangers(target, { seed: SEED, requests: 500 });
  expect(Object.keys(statuses).sort()).toEqual(["400", "403", "404", "413"]);
});

it("a request that is answered wrong is found", async () => {
  const endpoint = "http://localhost:8787/__sluice/aws";
  const answer = (body: string, init: ResponseInit) => async () => new Response(body, init);
  const headers = { "x-amzn-requestid": "1", "content-type": "text/xml" };
  const broken = [
    answer("", { status: 500, headers }),
    answer("<a", { status: 200, headers }),
    answer("<AResponse>\u0001</AResponse>", { status: 200, headers }),
    answer("<ErrorResponse/>", { status: 400, headers }),
    answer("<AResponse/>", { status: 200, headers: { "content-type": "text/xml" } }),
    answer("{}", { status: 400, headers: { ...headers, "content-type": "application/x-amz-json-1.0" } }),
  ];
  for (const fetch of broken) {
    await expect(fuzzStrangers({ endpoint, fetch }, { seed: SEED, requests: 50 })).rejects.toThrow(
      /seed: \d+/,
    );
  }
});
