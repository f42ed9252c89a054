import type { SigningIdentity, TopicsRpc } from "@sluice/protocol";
import { certificateFileName } from "@sluice/sns";
import { expect, it } from "vitest";
import { Signers } from "./signers.ts";

/** A directory that keeps the first identity it is given. */
class Identities {
  kept: SigningIdentity | null = null;
  asked = 0;
  /** Resolves when the directory may answer. */
  answers: Promise<void> = Promise.resolve();

  get rpc(): TopicsRpc {
    const calls: Pick<TopicsRpc, "signingIdentity" | "keepSigningIdentity"> = {
      signingIdentity: async () => {
        this.asked += 1;
        const { answers } = this;
        await answers;
        return this.kept;
      },
      keepSigningIdentity: async (identity) => {
        this.kept ??= identity;
        return this.kept;
      },
    };
    return calls as TopicsRpc;
  }
}

it("all requests sign with one key, also those that need it first at the same time", async () => {
  const directory = new Identities();
  const signers = new Signers();
  const [a, b] = await Promise.all([signers.signer(directory.rpc, 0), signers.signer(directory.rpc, 0)]);
  expect(a.certificateFileName).toBe(b.certificateFileName);
  expect(directory.kept && certificateFileName(directory.kept)).toBe(a.certificateFileName);
  expect(await signers.certificate(directory.rpc, a.certificateFileName)).toBe(
    directory.kept?.certificatePem,
  );
  expect(await signers.certificate(directory.rpc, "another.pem")).toBeNull();
  const { asked } = directory;
  await signers.signer(directory.rpc, 0);
  expect(directory.asked).toBe(asked);
});

it("the certificate is asked for until there is one, and then known to who asks for any", async () => {
  const directory = new Identities();
  const signers = new Signers();
  for (let i = 0; i < 3; i++) expect(await signers.certificate(directory.rpc, "a.pem")).toBeNull();
  expect(directory.asked).toBe(3);
  // Another gateway makes it.
  const { certificateFileName: name } = await new Signers().signer(directory.rpc, 0);
  const { asked } = directory;
  for (let i = 0; i < 3; i++) {
    expect(await signers.certificate(directory.rpc, name)).toBe(directory.kept?.certificatePem);
    expect(await signers.certificate(directory.rpc, "a.pem")).toBeNull();
  }
  expect(directory.asked).toBe(asked + 1);
});

it("a request that is never answered keeps no other one waiting", async () => {
  const directory = new Identities();
  const signers = new Signers();
  directory.answers = new Promise(() => {});
  void signers.signer(directory.rpc, 0);
  directory.answers = Promise.resolve();
  const signer = await signers.signer(directory.rpc, 0);
  expect(signer.certificateFileName).toMatch(/\.pem$/);
});
