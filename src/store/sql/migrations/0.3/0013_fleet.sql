-- Which fleet this database is. Its Redis is marked with the id, so that no other fleet works on it. A copy of the database is
-- the same fleet, also under another name.
CREATE TABLE fleet (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fleet_id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL
);
INSERT INTO fleet (name) VALUES (current_database());
