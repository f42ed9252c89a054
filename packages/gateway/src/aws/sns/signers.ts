import type { SigningIdentity, TopicRecord, TopicsRpc } from "@sluice/protocol";
import {
  certificateFileName,
  createSigningIdentity,
  openSigner,
  type SignatureVersion,
  type Signer,
} from "@sluice/sns";

/** What notifications are signed with: made by the first who needs it, and the same for all from then on. */
export class Signers {
  /** Only what is there is shared: what one request waits for never comes when its client hangs up meanwhile. */
  #signer: Signer | undefined;

  /** Rejects when the directory cannot be reached; the next call tries again. */
  async signer(topics: TopicsRpc, nowMs: number): Promise<Signer> {
    this.#signer ??= await open(topics, nowMs);
    return this.#signer;
  }
}

/** The certificate that is served under a name; `null` for another name than that of the one there is. */
export async function certificateOf(topics: TopicsRpc, fileName: string): Promise<string | null> {
  const identity = await topics.signingIdentity();
  return identity !== null && certificateFileName(identity) === fileName ? identity.certificatePem : null;
}

async function open(topics: TopicsRpc, nowMs: number): Promise<Signer> {
  const identity: SigningIdentity =
    (await topics.signingIdentity()) ??
    (await topics.keepSigningIdentity(await createSigningIdentity(nowMs)));
  return openSigner(identity);
}

/** How messages of a topic are signed: version 1 unless the topic says otherwise (spec sns-delivery 8.3). */
export function signatureVersionOf({ attributes }: TopicRecord): SignatureVersion {
  return attributes.SignatureVersion === "2" ? "2" : "1";
}
