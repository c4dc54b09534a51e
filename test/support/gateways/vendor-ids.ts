// Ids by which a vendor knows its cards, one for each ICCID that is asked for. Used by the gateways of this folder whose calls name
// a card by such an id.
export class VendorIds {
  readonly #iccids = new Map<string, string>();

  /** @param make the id of the nth card, from 1. */
  constructor(private readonly make: (n: number) => string) {}

  of(iccid: string): string {
    const known = [...this.#iccids].find(([, each]) => each === iccid);
    if (known !== undefined) return known[0];
    const id = this.make(this.#iccids.size + 1);
    this.#iccids.set(id, iccid);
    return id;
  }

  /** @returns undefined: there is no card with this id. */
  iccidOf(id: string): string | undefined {
    return this.#iccids.get(id);
  }
}
