// The identity of a fleet, in its database and as a mark in its Redis. Plain data.

export interface Fleet {
  /** A UUID, created with the tables of the database. */
  readonly id: string;
  /** For people: the name of the database in which the tables were created. Not unique. */
  readonly name: string;
}

/** Databases often have the same name, so the first digits of the id distinguish them. */
export function fleetText({ id, name }: Fleet): string {
  return `"${name}" (${id.slice(0, 8)})`;
}
