import type { SigningIdentity, TopicRecord, TopicsRpc } from "@sluice/protocol";
import {
  certificateFileName,
  createSigningIdentity,
  openSigner,
  type SignatureVersion,
  type Signer,
} from "@sluice/sns";

/** Signer of notifications: made by the first request that needs it, and the same for all from then on. */
export class Signers {
  /** The signer itself, not a promise of it, which would never settle if the client of its request hung up. */
  #signer: Signer | undefined;
  #identity: SigningIdentity | null = null;

  /** Rejects when the directory cannot be reached; the next call tries again. */
  async signer(topics: TopicsRpc, nowMs: number): Promise<Signer> {
    this.#signer ??= await this.#open(topics, nowMs);
    return this.#signer;
  }

  /**
   * Returns the certificate that is served under a name; `null` for any other name. Any client may ask for it. The
   * directory is asked until there is one.
   */
  async certificate(topics: TopicsRpc, fileName: string): Promise<string | null> {
    this.#identity ??= await topics.signingIdentity();
    const identity = this.#identity;
    return identity !== null && certificateFileName(identity) === fileName ? identity.certificatePem : null;
  }

  async #open(topics: TopicsRpc, nowMs: number): Promise<Signer> {
    this.#identity ??=
      (await topics.signingIdentity()) ??
      (await topics.keepSigningIdentity(await createSigningIdentity(nowMs)));
    return openSigner(this.#identity);
  }
}

/** Version of the signatures of a topic's messages: 1 unless the topic says otherwise (spec sns-delivery 8.3). */
export function signatureVersionOf({ attributes }: TopicRecord): SignatureVersion {
  return attributes.SignatureVersion === "2" ? "2" : "1";
}
