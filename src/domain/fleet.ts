// Which fleet a database holds and a Redis is marked with. Plain data.

export interface Fleet {
  /** A UUID, made with the tables of its database. */
  readonly id: string;
  /** For people: that of the database in which the tables were made. Not unique. */
  readonly name: string;
}

/** Databases are often called the same: the first digits of the id tell them apart. */
export function fleetText({ id, name }: Fleet): string {
  return `"${name}" (${id.slice(0, 8)})`;
}
