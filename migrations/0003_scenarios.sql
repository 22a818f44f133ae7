-- Scenarios that somebody saved, as JSON text: what was asked, and in brief what it came to.
CREATE TABLE scenarios (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    scenario TEXT NOT NULL,
    result TEXT NOT NULL
) STRICT;
