-- What the owner of a database runs to grant a role a right that it lacks. {role} and {database} are names, quoted where they
-- need to be, {text} is the role as a string, {object} the name that PostgreSQL's message has.

-- name: missing_right.namedSchema
GRANT CREATE, USAGE ON SCHEMA {object} TO {role};

-- name: missing_right.schema
GRANT CREATE, USAGE ON SCHEMA public TO {role};

-- name: missing_right.tables
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};

-- name: missing_right.sequences
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role};

-- name: missing_right.functions
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO {role};

-- name: missing_right.temporary
GRANT TEMPORARY ON DATABASE {database} TO {role};

-- name: missing_right.connect
GRANT CONNECT ON DATABASE {database} TO {role};

-- name: missing_right.ownership
-- For psql: it runs the statement that this one makes.
SELECT format('GRANT %I TO %I', tableowner, {text}) FROM pg_tables WHERE tablename = '{object}' \gexec
