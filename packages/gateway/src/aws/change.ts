import type { AuditDialect, AuditRpc } from "@sluice/protocol";
import { noteChange } from "../account/audit-log.ts";
import type { Need } from "../rights/rights.ts";
import type { Caller } from "./caller.ts";

/** Change that an action makes, for the audit log. */
export class Change {
  /** `undefined` until the action names it, `null` when nothing is changed. */
  #target: string | null | undefined;

  /** Names the target of the change. The first name counts. */
  name(target: string | undefined): void {
    if (this.#target === undefined) this.#target = target;
  }

  /** Notes that the request changes nothing: its target is as it asks for already. */
  markUnchanged(): void {
    this.#target = null;
  }

  /** Notes the change in the audit log, once it is made. */
  async note(
    audit: Pick<AuditRpc, "noteAudit">,
    need: Need,
    dialect: AuditDialect,
    caller: Caller,
  ): Promise<void> {
    if (need.audit === undefined || this.#target === null) return;
    const target = this.#target ?? null;
    await noteChange(audit, { action: need.audit, target, by: caller.rights.by, dialect });
  }
}
