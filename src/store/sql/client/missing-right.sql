-- Statements by which the owner of a database grants a missing right to a role. {role} and {database} are quoted names, as is
-- {name}, which comes from PostgreSQL's message; {roletext} and {text} are role and name as strings.

-- name: missing_right.namedSchema
GRANT CREATE, USAGE ON SCHEMA {name} TO {role};

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
SELECT format('GRANT %I TO %I', pg_get_userbyid(relowner), {roletext}) FROM pg_class WHERE relname = {text} \gexec

-- name: missing_right.policy
ALTER ROLE {role} BYPASSRLS;
